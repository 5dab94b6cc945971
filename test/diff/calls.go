package diff

import (
	"fmt"
	"runtime"
	"slices"
)

// The system calls that random programs are run at, with their arguments.

// A SystemCall is one that this package makes with values of its choice: its Name in the kernel, and its Args. None
// does anything: its descriptors are none, or its paths begin nowhere.
type SystemCall struct {
	Name string
	Args []CallArg
}

// A CallArg is an argument: its name in the kernel, and its type there.
type CallArg struct {
	// Name is the argument's in the kernel, Type a word for its type there: "int", "path", "umode_t".
	Name, Type string
	// Or and Not are bits that its values have, and have not.
	Or, Not uint64
}

const (
	fdOr, fdNot = 1 << 30, 1 << 7 // no descriptor, and not AT_FDCWD
	family      = 1 << 12
)

func fd(name string) CallArg { return CallArg{name, "int", fdOr, fdNot} }

// Calls are those that this package makes.
var Calls = []SystemCall{
	{Name: "lseek", Args: []CallArg{{"fd", "unsigned", fdOr, 0}, {"offset", "long", 0, 0},
		{"whence", "unsigned", 0, 0}}},
	{Name: "fallocate", Args: []CallArg{fd("fd"), {"mode", "int", 0, 0}, {"offset", "long", 0, 0},
		{"len", "long", 0, 0}}},
	{Name: "fadvise64", Args: []CallArg{fd("fd"), {"offset", "long", 0, 0}, {"len", "ulong", 0, 0},
		{"advice", "int", 0, 0}}},
	{Name: "listen", Args: []CallArg{fd("fd"), {"backlog", "int", 0, 0}}},
	{Name: "socket", Args: []CallArg{{"family", "int", family, 0}, {"type", "int", 0, 0}, {"protocol", "int", 0, 0}}},
	{Name: "fchmodat", Args: []CallArg{fd("dfd"), {"filename", "path", 0, 0}, {"mode", "umode_t", 0, 0}}},
	{Name: "fchownat", Args: []CallArg{fd("dfd"), {"filename", "path", 0, 0}, {"user", "unsigned", 0, 0},
		{"group", "unsigned", 0, 0}, {"flag", "int", 0, 0}}},
	{Name: "mknodat", Args: []CallArg{fd("dfd"), {"filename", "path", 0, 0}, {"mode", "umode_t", 0, 0},
		{"dev", "unsigned", 0, 0}}},
	{Name: "renameat2", Args: []CallArg{fd("olddfd"), {"oldname", "path", 0, 0}, fd("newdfd"),
		{"newname", "path", 0, 0}, {"flags", "unsigned", 0, 0}}},
	{Name: "setpriority", Args: []CallArg{{"which", "int", 1 << 8, 0}, {"who", "int", 0, 0}, {"niceval", "int", 0, 0}}},
	{Name: "sendto", Args: []CallArg{fd("fd"), {"buff", "pointer", 0, 0}, {"len", "ulong", 0, 0},
		{"flags", "unsigned", 0, 0}, {"addr", "pointer", 0, 0}, {"addr_len", "int", 0, 0}}},
}

// field is what programs see of an argument at a path.
func (a CallArg) field(path string) Field {
	f := Field{Name: a.Name, Path: path}
	switch a.Type {
	case "int":
		f.Bits, f.Signed = 32, true
	case "long":
		f.Bits, f.Signed = 64, true
	case "short":
		f.Bits, f.Signed = 16, true
	case "unsigned":
		f.Bits = 32
	case "umode_t":
		f.Bits = 16
	case "ulong":
		f.Bits = 64
	case "pointer":
		f.Bits, f.Address = 64, true
	case "bool":
		f.Bits, f.Bool = 8, true
	}
	return f
}

// fields are the arguments of the call by their names in what prefix says; numbered: they have numbers, too.
func (c *SystemCall) fields(prefix string, numbered bool) (out []Field) {
	for i, a := range c.Args {
		f := a.field(prefix + "." + a.Name)
		if f.From = i; numbered {
			f.Alias = fmt.Sprintf("%s[%d]", prefix, i)
		}
		out = append(out, f)
	}
	return out
}

// The values of an input of a call are its arguments, its result and its number.
func (c *SystemCall) result() int { return len(c.Args) }
func (c *SystemCall) number() int { return len(c.Args) + 1 }

func (c *SystemCall) resultField(path string) Field {
	return Field{Name: "ret", Path: path, Bits: 64, Signed: true, From: c.result(), ABI: "a result"}
}

// registers are those of the arguments of system calls, in struct pt_regs.
var registers = map[string][]string{
	"amd64": {"di", "si", "dx", "r10", "r8", "r9"},
	"arm64": {"regs[0]", "regs[1]", "regs[2]", "regs[3]", "regs[4]", "regs[5]"},
}

// Sites are the points at which the call is seen as such. number is its own.
func (c *SystemCall) Sites(number int) []Site {
	whole := slices.Concat(c.fields("e.args", true), c.fields("e.start.args", true), []Field{c.resultField("e.ret")})
	sites := []Site{
		{Point: "syscall:" + c.Name, Fields: whole, Start: &Site{Fields: c.fields("e.args", true)}},
		{Point: "tracepoint:syscalls:sys_enter_" + c.Name, Fields: c.fields("e.args", false)},
		{Point: "tracepoint:syscalls:sys_exit_" + c.Name, Fields: []Field{c.resultField("e.args.ret")}},
	}
	id := Field{Name: "id", Path: "e.args.id", Bits: 64, Signed: true, From: c.number()}
	raw, regs := []Field{id}, []Field{id}
	for i, name := range registers[runtime.GOARCH][:len(c.Args)] {
		raw = append(raw, Field{Path: fmt.Sprintf("e.args.args[%d]", i), Bits: 64, From: i, ABI: "an array"})
		regs = append(regs, Field{Path: "e.args.regs." + name, Bits: 64, From: i, ABI: "a struct behind a pointer"})
	}
	where := fmt.Sprintf("e.args.id == %d", number)
	return append(sites, Site{Point: "tracepoint:raw_syscalls:sys_enter", Where: where, Fields: raw},
		Site{Point: "rawtracepoint:sys_enter", Where: where, Fields: regs})
}

// Inputs are n inputs of the call: of each argument the whole register, of which a type may mean a part.
func (c *SystemCall) Inputs(seed uint64, n int) []Input {
	fields := make([]Field, len(c.Args))
	for i, a := range c.Args {
		if a.Type != "path" {
			fields[i].Bits = 64
		}
	}
	inputs := InputsOf(fields, seed, n)
	for i := range inputs {
		in := &inputs[i]
		for j, a := range c.Args {
			if a.Type == "path" && !in.Texts[j].Fault {
				in.Texts[j].S = "x" + in.Texts[j].S // no path from the root
			}
			in.Words[j] = in.Words[j]&^a.Not | a.Or
		}
	}
	return inputs
}
