package points

import (
	"runtime"
	"strconv"
	"strings"

	"github.com/startrace/startrace/bpfgen/refusal"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
)

// The points watchpoint:ADDRESS:LENGTH:ACCESS, of addresses, variables and symbols, and messages about length,
// alignment and access.

const watchForm = "watchpoint:ADDRESS:LENGTH:rw, watchpoint:SYMBOL:LENGTH:rw for a variable of the kernel, " +
	"or watchpoint:BINARY:VARIABLE:LENGTH:rw for one of a program"

// A Watchpoint is an access to memory.
type Watchpoint struct {
	onePoint
	// At is the memory, and which access is meant.
	At tree.Watchpoint
}

func (w *Watchpoint) attach(*Target) tree.Attach { return tree.Attach{Way: w.At} }

// watchpoint gives the target of watchpoint:ADDRESS:LENGTH:ACCESS and its like.
func (s search) watchpoint(p *plan.Pattern) []*Target {
	parts := strings.Split(strings.Join(p.Args, ":"), ":")
	if len(parts) < 3 {
		refusal.Wrong(p.Pos, "%s: want %s", p.Text, watchForm)
	}
	what, tail := strings.Join(parts[:len(parts)-2], ":"), parts[len(parts)-2:]
	at := tree.Watchpoint{Name: what, Access: watchAccess(p, tail[1])}
	at.Length = watchLength(p, tail[0], at.Access)
	if file, variable, ok := strings.Cut(what, ":"); ok { // the colons of C++ are in the variable's name
		at.Address, at.File = s.userVariable(p, file, variable)
	} else {
		at.Address = s.watched(p, what)
	}
	if at.Access != "x" && at.Address%uint64(at.Length) != 0 {
		refusal.Wrong(p.Pos, "%s: the CPU watches %d bytes only at a multiple of %d, and the address is %#x: "+
			"watch fewer bytes, or from %#x on",
			p.Text, at.Length, at.Length, at.Address, at.Address&^uint64(at.Length-1))
	}
	return []*Target{{Source: &Watchpoint{At: at}, Text: p.Long(), Name: "watch", Pos: p.Pos}}
}

// watchAccess is a set of r, w and x as the CPU can watch it: x86 has no
// watchpoints for reads alone (arch_build_bp_info, arch/x86/kernel/hw_breakpoint.c).
func watchAccess(p *plan.Pattern, access string) string {
	switch {
	case access == "" || strings.Trim(access, "rwx") != "":
		refusal.Wrong(p.Pos, "%s: the access is r, w, rw or x (read, write, execute), got %q", p.Text, access)
	case strings.Contains(access, "x") && access != "x":
		refusal.Wrong(p.Pos, "%s: x stands alone: what is executed cannot be watched for reads and writes, too", p.Text)
	case access == "r" && runtime.GOARCH == "amd64":
		refusal.Wrong(p.Pos, "%s: x86 cannot watch reads alone: use rw", p.Text)
	case access == "wr":
		return "rw"
	case len(access) > 2 || access == "rr" || access == "ww":
		refusal.Wrong(p.Pos, "%s: the access is r, w, rw or x (read, write, execute), got %q", p.Text, access)
	}
	return access
}

// watchLength is 1, 2, 4 or 8. What is executed has the length that the kernel
// wants to be told: a long on x86, an Instruction on arm64.
func watchLength(p *plan.Pattern, text, access string) int {
	n, err := strconv.ParseUint(text, 0, 8)
	if err != nil || n != 1 && n != 2 && n != 4 && n != 8 {
		refusal.Wrong(p.Pos, "%s: the CPU watches 1, 2, 4 or 8 bytes, got %q; want %s", p.Text, text, watchForm)
	}
	if access == "x" {
		return map[string]int{"amd64": 8, "arm64": 4}[runtime.GOARCH]
	}
	return int(n)
}

// watched is the address: a number, or that of a variable or function of the
// kernel.
func (s search) watched(p *plan.Pattern, name string) uint64 {
	if addr, err := strconv.ParseUint(name, 0, 64); err == nil {
		if addr < kernel.PtrSpaceLimit("") && s.Target.PID == 0 {
			refusal.Wrong(p.Pos, "%s: %#x is an address of a process: say of which with -p or -c", p.Text, addr)
		}
		return addr
	}
	symbols, err := s.Facts.Symbols()
	if err != nil {
		refusal.Wrong(p.Pos, "%s: %v", p.Text, err)
	}
	switch list := symbols.Addrs(name); len(list) {
	case 0:
		refusal.Wrong(p.Pos, "%s: the kernel has no symbol %s (see /proc/kallsyms); "+
			"a variable of a program is watchpoint:BINARY:VARIABLE:LENGTH:rw", p.Text, name)
	case 1:
		return list[0]
	default:
		refusal.Wrong(p.Pos, "%s: the kernel has %d symbols %s (see /proc/kallsyms): give the address", p.Text,
			len(list), name)
	}
	return 0
}

// userVariable finds a variable in the memory of the traced process, or in the
// file where that does not run yet.
func (s search) userVariable(p *plan.Pattern, file, name string) (addr uint64, in string) {
	if s.Target.PID == 0 {
		refusal.Wrong(p.Pos, "%s: each process has its own %s: say whose with -p or -c", p.Text, name)
	}
	if s.Programs == nil {
		refusal.Wrong(p.Pos, "%s: programs cannot be looked at here", p.Text)
	}
	at, err := s.Programs.Variable(file, name)
	if err != nil {
		refusal.Wrong(p.Pos, "%s: %v", p.Text, err)
	}
	return at.Addr, at.File
}
