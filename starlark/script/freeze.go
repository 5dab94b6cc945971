package script

import (
	"github.com/startrace/startrace/internal/plan"
)

// Freeze makes the values that a function captured, and those of the
// functions that it calls, immutable. Kernel halves have them folded in as
// constants; a change would not reach the kernel. Containers are not frozen.
//
// Plan does so for the functions that run in the kernel by the script's word.
// The session does it for handlers that the compiler placed there.
func (h *Host) Freeze(f *plan.Func) { h.freeze(f, make(map[*plan.Func]bool)) }

func (h *Host) freeze(f *plan.Func, seen map[*plan.Func]bool) {
	fn := h.captures.origin[f]
	if fn == nil || seen[f] {
		return
	}
	seen[f] = true
	fn.Freeze() // its defaults and captured variables
	for name, v := range f.Names {
		switch v := v.(type) {
		case *plan.Func:
			h.freeze(v, seen)
		case plan.List, plan.Dict, plan.Tuple, plan.Record:
			if g := h.captures.globalsOf(fn)[name]; g != nil {
				g.Freeze()
			}
		}
	}
	for _, v := range f.Free {
		if callee, ok := v.(*plan.Func); ok {
			h.freeze(callee, seen)
		}
	}
}

// freezeKernel freezes for everything that can only run in the kernel.
func (h *Host) freezeKernel(p *plan.Plan) {
	seen := make(map[*plan.Func]bool)
	for _, pr := range p.Probes {
		h.freeze(pr.Where, seen)
		h.freeze(pr.Kernel, seen)
		h.freezePoints(pr.Points, seen)
	}
}

func (h *Host) freezePoints(points []plan.Point, seen map[*plan.Func]bool) {
	for _, pt := range points {
		switch pt := pt.(type) {
		case *plan.Event:
			for _, a := range pt.Arms {
				h.freeze(a.Fn, seen)
				h.freezePoints(a.Points, seen)
			}
		case *plan.Span:
			h.freeze(pt.StartKey, seen)
			h.freeze(pt.EndKey, seen)
			h.freezePoints(pt.Start, seen)
			h.freezePoints(pt.End, seen)
		case *plan.First:
			h.freezePoints(pt.Points, seen)
		}
	}
}
