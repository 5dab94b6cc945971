package diff

import (
	"fmt"
	"slices"
)

// The functions of the kernel that random programs are run at.

// A KernelFunction is one of the kernel that a system call hands its arguments on to.
type KernelFunction struct {
	// Name is the function's, and Call the system call's.
	Name, Call string
	// Params are those whose values are known, At their places among all.
	Params []Handed
	Result string // its type
	// Where tells these calls from others by arguments, WhereBack by the result, "" where nobody else makes them.
	Where, WhereBack string
}

// A Handed is a parameter that gets an argument of the call: its Name and its Type, At which place among the parameters
// it is, and From which place among the call's arguments it comes. ABI says what it is an example of, where its type
// does not.
type Handed struct {
	Name, Type string
	At, From   int
	ABI        string
}

func handed(name, typ string, at int) Handed { return Handed{name, typ, at, at, ""} }

// KernelFunctions are those that this package knows. No kernel has all.
var KernelFunctions = []KernelFunction{
	{Name: "ksys_fallocate", Call: "fallocate", Result: "int", Params: []Handed{handed("fd", "int", 0),
		handed("mode", "int", 1), handed("offset", "long", 2), handed("len", "long", 3)}},
	{Name: "ksys_fadvise64_64", Call: "fadvise64", Result: "int", Params: []Handed{handed("fd", "int", 0),
		handed("offset", "long", 1), handed("len", "long", 2), handed("advice", "int", 3)}},
	{Name: "__sys_listen", Call: "listen", Result: "int", Params: []Handed{handed("fd", "int", 0),
		handed("backlog", "int", 1)}},
	{Name: "__sys_socket", Call: "socket", Result: "int", Params: []Handed{handed("family", "int", 0),
		handed("type", "int", 1), handed("protocol", "int", 2)}},
	{Name: "do_fchownat", Call: "fchownat", Result: "int", Params: []Handed{handed("dfd", "int", 0),
		handed("filename", "path", 1), handed("user", "unsigned", 2), handed("group", "unsigned", 3),
		handed("flag", "int", 4)}},
	{Name: "__sys_sendto", Call: "sendto", Result: "int", Params: []Handed{handed("fd", "int", 0),
		handed("buff", "pointer", 1), handed("len", "ulong", 2), handed("flags", "unsigned", 3),
		handed("addr", "pointer", 4), handed("addr_len", "int", 5)}},
	{Name: "__sys_bpf", Call: "bpf", Result: "int", Where: "e.args.size >= 1 << 20", WhereBack: "e.ret == -E2BIG",
		Params: []Handed{{"cmd", "int", 0, 0, ""}, {"uattr.user", "pointer", -1, 1, "a struct by value"},
			{"size", "unsigned", 2, 2, "behind a struct by value"}}},
	{Name: "do_mmap", Call: "mmap", Result: "ulong", Where: "e.args.len == 0", Params: []Handed{
		handed("addr", "ulong", 0).at(1), handed("len", "ulong", 1).at(2), handed("prot", "ulong", 2).at(3),
		handed("flags", "ulong", 3).at(4), {"pgoff", "ulong", -1, 6, "an int of eight"}}},
}

func (h Handed) at(place int) Handed {
	h.At = place
	return h
}

// HelpingCalls are made for the sake of functions.
var HelpingCalls = []SystemCall{
	{Name: "bpf", Args: []CallArg{{"cmd", "int", 1 << 12, 1 << 31}, {"uattr", "pointer", 0, 0},
		{"size", "unsigned", 1 << 20, 0}}},
	// Nothing is mapped where the length is 0. The flags are without those that older kernels take away.
	{Name: "mmap", Args: []CallArg{{"addr", "ulong", 0, 0}, {"len", "ulong", 0, 1<<64 - 1}, {"prot", "ulong", 0, 0},
		{"flags", "ulong", 0x22, 0x41801}, {"fd", "ulong", 0, 0}, {"off", "ulong", 0, 0xfff}}},
}

// call is what reaches the function.
func (f *KernelFunction) call() *SystemCall {
	for _, list := range [][]SystemCall{Calls, HelpingCalls} {
		if i := slices.IndexFunc(list, func(c SystemCall) bool { return c.Name == f.Call }); i >= 0 {
			return &list[i]
		}
	}
	panic("diff: no call " + f.Call)
}

// derived is what some functions get instead of an argument: the number of a page.
func (f *KernelFunction) derived(c *SystemCall, in *Input) {
	in.Words[c.number()+1] = in.Words[len(c.Args)-1] >> 12
}

func (f *KernelFunction) fields(prefixes ...string) (out []Field) {
	c := f.call()
	for i, p := range f.Params {
		prefix := prefixes[i%len(prefixes)]
		field := CallArg{Name: p.Name, Type: p.Type}.field(prefix + "." + p.Name)
		field.From, field.ABI = p.From, p.ABI
		if p.From == len(c.Args) {
			field.From = c.number() + 1
		}
		if p.At >= 0 {
			field.Alias = fmt.Sprintf("%s[%d]", prefix, p.At)
		}
		out = append(out, field)
	}
	return out
}

// Sites are the points at which calls of the function are seen.
func (f *KernelFunction) Sites() []Site {
	back := CallArg{Type: f.Result}.field("e.ret")
	back.From, back.ABI = f.call().result(), "a result"
	sites := []Site{
		{Point: "kprobe:" + f.Name, Where: f.Where, Fields: f.fields("e.args")},
		{Point: "fentry:" + f.Name, Where: f.Where, Fields: f.fields("e.args")},
		{Point: "fexit:" + f.Name, Where: f.Where, Fields: append(f.fields("e.args"), back)},
		{Point: "func:" + f.Name, Where: f.Where, Fields: append(f.fields("e.args", "e.start.args"), back),
			Start: &Site{Fields: f.fields("e.args")}},
	}
	if f.Where == "" || f.WhereBack != "" {
		sites = append(sites, Site{Point: "kretprobe:" + f.Name, Where: f.WhereBack, Fields: []Field{back}})
	}
	return sites
}
