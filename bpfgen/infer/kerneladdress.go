package infer

import (
	"strconv"
	"strings"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/plan"
)

// kernelAddress gives the target of kprobe:0xffffffff81234567. A number says
// nothing about what is there, today or after the next boot, so that it is right
// is the user's word.
func (u finder) kernelAddress(p *plan.Pattern, name string) *functions {
	if !strings.HasPrefix(name, "0x") {
		return nil
	}
	addr, err := strconv.ParseUint(name, 0, 64)
	switch {
	case err != nil || addr>>63 == 0:
		wrong(p.Pos, "%s: %s is no address of the kernel, such as 0xffffffff81234560", p.Text, name)
	case !byKprobe(p):
		wrong(p.Pos, "%s: only kprobe and kretprobe take an address; give the name of the function", p.Text)
	case !u.plan.Unsafe:
		wrong(p.Pos, "%s: an address can be another function's at the next boot, or in the middle of one: "+
			"give the name (kprobe:FUNCTION+OFFSET), or --unsafe", p.Text)
	}
	f := &funcPoint{name: name, text: p.Provider + ":" + name, place: tree.Place{Func: name, Address: addr}}
	if symbols, err := u.facts.Symbols(); err == nil {
		sym, offset, found := symbols.Find(addr)
		if found {
			f.name, f.inside = sym.Name, offset != 0
		}
		if found && offset == 0 && sym.Module == "" {
			if fn, err := u.facts.Function(sym.Name); err == nil {
				f.proto = fn
			}
		}
	}
	return &functions{mech: kindOf(p).mech, funcs: []*funcPoint{f}}
}

// within refuses an offset that leads out of its function: what is there is
// another one, which the point does not name.
func (u finder) within(p *plan.Pattern, f *funcPoint) {
	if f.place.Offset == 0 || u.plan.Unsafe {
		return
	}
	symbols, err := u.facts.Symbols()
	if err != nil {
		return // addresses are hidden: the kernel decides
	}
	start := f.place.Address
	if start == 0 {
		start, _ = symbols.Addr(f.place.Func)
	}
	_, offset, found := symbols.Find(start + f.place.Offset)
	if start == 0 || found && start+f.place.Offset-offset == start {
		return
	}
	there := "nothing"
	if found {
		there = symbols.Text(start + f.place.Offset)
	}
	wrong(p.Pos, "%s: %s ends before, and at that offset is %s: --unsafe probes it all the same", p.Text, f.place.Func,
		there)
}
