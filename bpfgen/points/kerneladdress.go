package points

import (
	"strconv"
	"strings"

	"github.com/startrace/startrace/bpfgen/refusal"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/plan"
)

// The point kprobe:0xffffffff81234567, and offsets that lead out of their function.

// kernelAddress gives the target of kprobe:0xffffffff81234567. A number says
// nothing about what is there, today or after the next boot, so that it is right
// is the user's word.
func (s search) kernelAddress(p *plan.Pattern, name string) *Functions {
	if !strings.HasPrefix(name, "0x") {
		return nil
	}
	addr, err := strconv.ParseUint(name, 0, 64)
	switch {
	case err != nil || addr>>63 == 0:
		refusal.Wrong(p.Pos, "%s: %s is no address of the kernel, such as 0xffffffff81234560", p.Text, name)
	case !byKprobe(p):
		refusal.Wrong(p.Pos, "%s: only kprobe and kretprobe take an address; give the name of the function", p.Text)
	case !s.Unsafe:
		refusal.Wrong(p.Pos, "%s: an address can be another function's at the next boot, or in the middle of one: "+
			"give the name (kprobe:FUNCTION+OFFSET), or --unsafe", p.Text)
	}
	f := &Function{Name: name, Text: p.Provider + ":" + name, Place: tree.Place{Func: name, Address: addr}}
	if symbols, err := s.Facts.Symbols(); err == nil {
		sym, offset, found := symbols.Find(addr)
		if found {
			f.Name, f.Inside = sym.Name, offset != 0
		}
		if found && offset == 0 && sym.Module == "" {
			if fn, err := s.Facts.Function(sym.Name); err == nil {
				f.Proto = fn
			}
		}
	}
	return &Functions{Mech: mechanism(p), Funcs: []*Function{f}}
}

// within refuses an offset that leads out of its function: what is there is
// another one, which the point does not name.
func (s search) within(p *plan.Pattern, f *Function) {
	if f.Place.Offset == 0 || s.Unsafe {
		return
	}
	symbols, err := s.Facts.Symbols()
	if err != nil {
		return // addresses are hidden: the kernel decides
	}
	start := f.Place.Address
	if start == 0 {
		start, _ = symbols.Addr(f.Place.Func)
	}
	_, offset, found := symbols.Find(start + f.Place.Offset)
	if start == 0 || found && start+f.Place.Offset-offset == start {
		return
	}
	there := "nothing"
	if found {
		there = symbols.Text(start + f.Place.Offset)
	}
	refusal.Wrong(p.Pos, "%s: %s ends before, and at that offset is %s: --unsafe probes it all the same", p.Text,
		f.Place.Func, there)
}
