package infer

import (
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/syntax"

	"github.com/startrace/startrace/bpfgen/layout"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
)

// Which values of the event a user half needs: they become the fields of its record.
//
// Sending an event is decided in two steps, because which fields a record has is known only when the function was
// walked for all points of the probe.
//
// While the points are walked, each walk leaves a send: an SSend without a number and without values, at the end of
// the point's program. Each capture gets a slot by its place in the script, and each send notes what its own program
// has for the slot.
//
// When all points are walked (finish), captures that are the same value in all sends that have both become one field,
// fields that nothing needs after all are left out, and each send gets a record of its own. A field that a point does
// not have is None there. The names of the fields and their order are the same in all records of the probe, but not
// their types:
//
//	def handle(e):
//	    print(e.args.ret)
//	    if e.args.ret > 3:
//	        print(e.comm)
//
//	probe(["tracepoint:syscalls:sys_exit_read", "tracepoint:syscalls:sys_exit_write"], handle)
//
// has two captures of e.args.ret, which are one field, and one of e.comm. It has two programs, each with its record,
// as the two points need not have their fields at the same place or in the same width:
//
//	record r0 probe 0 fixed 32 max 48
//	  args.ret sint@16+8
//	  comm str@24+4
//	record r1 probe 0 fixed 32 max 48
//	  args.ret sint@16+8
//	  comm str@24+4
//
// All fields are sent at each event, also those that only one way through the function needs.

func newProjection(r *placedFunc) *projection {
	return &projection{placed: r, half: plan.NewUserHalf(r.fn), sites: map[copySite]int{}, shown: map[copySite]bool{},
		each: map[syntax.Expr]syntax.Expr{}, plainly: map[copySite]bool{}, valued: map[copySite]bool{},
		ways: map[place][]way{}, madeIn: map[*plan.UserHalf]int{}, full: map[place]bool{}}
}

// capture makes the value at a site a field of the record.
func (p *projection) capture(u *userWalk, c capture) {
	at := copySite{c.half, c.site}
	slot, ok := p.sites[at]
	if !ok {
		slot = p.slots
		p.slots++
		p.sites[at] = slot
		p.siteName = append(p.siteName, siteName(c.site))
	}
	c.half.Slots[c.site] = slot
	if c.in != nil {
		c.half.Nested[c.in] = true
	}
	p.comesTo(place{c.half, c.site, aValue}, sent)
	s := p.sends[len(p.sends)-1]
	if _, done := s.values[slot]; !done {
		s.values[slot] = u.b.settled(c.v, start(c.site))
	}
}

// siteName is the expression as the field's name: "pid" for e.pid.
func siteName(x syntax.Expr) string {
	var parts []string
	for {
		d, ok := x.(*syntax.DotExpr)
		if !ok {
			break
		}
		parts = append([]string{d.Name.Name}, parts...)
		x = d.X
	}
	switch x := x.(type) {
	case *syntax.Ident:
		if len(parts) == 0 {
			return x.Name
		}
	case *syntax.CallExpr:
		if name, ok := gotten(x); ok {
			return name
		}
		parts = append([]string{siteName(x.Fn)}, parts...)
	case *syntax.IndexExpr:
		name := siteName(x.X)
		if lit, ok := x.Y.(*syntax.Literal); ok {
			name += "[" + lit.Raw + "]"
		}
		parts = append([]string{name}, parts...)
	}
	return strings.Join(parts, ".")
}

// gotten is the field that getattr(e.args, "name", …) asks for.
func gotten(x *syntax.CallExpr) (string, bool) {
	id, ok := x.Fn.(*syntax.Ident)
	if !ok || id.Name != "getattr" || len(x.Args) < 2 {
		return "", false
	}
	lit, ok := x.Args[1].(*syntax.Literal)
	if !ok {
		return "", false
	}
	name, ok := lit.Value.(string)
	if of := siteName(x.Args[0]); of != "" && of != "e" {
		name = of + "." + name
	}
	return name, ok
}

// finish completes what is known only when all points have been walked.
func (p *projection) finish() {
	p.finishWidths()
	p.finishDrops()
	names := p.mergeSlots()
	for _, s := range p.sends {
		p.finishSend(s, names)
	}
	res, id := p.placed.pr.u.res, p.placed.pr.p.ID
	halves := res.Halves
	if p.placed.start {
		halves = res.StartHalves
	}
	if p == p.placed.halves[0] {
		halves[id] = p.half
	}
	for i := range res.Placed {
		if at := &res.Placed[i]; at.Probe == id && at.Role == p.placed.name {
			for _, name := range names {
				if !slices.Contains(at.Sends, name) || p == p.placed.halves[0] {
					at.Sends = append(at.Sends, name)
				}
			}
			at.Makes = p.madeByKernel()
		}
	}
}

// finishDrops decides which expressions have no value in user space. Of
//
//	x = e.args.p if hasattr(e.args, "p") else 5
//	print(x.a if hasattr(e.args, "p") else x)
//
// that is e.args.p alone, not the right side: at points without p it is 5.
func (p *projection) finishDrops() {
	seen, unsent := map[*captures]bool{}, map[*captures]bool{}
	for _, d := range p.drops {
		// All that it is made of: one of them may be sent for another use.
		_, ok := d.half.Slots[d.x]
		switch {
		case d.v.caps.sent(seen, unsent) || ok:
		case p.valued[copySite{d.half, unparen(d.x)}]:
			d.v.caps.each(map[*captures]bool{}, dropUnsent)
		default:
			d.half.Drop[unparen(d.x)] = true
		}
	}
}

// dropUnsent drops what a capture stands for, where the record does not have it.
func dropUnsent(c capture) {
	if _, sent := c.half.Slots[c.site]; !sent {
		c.half.Drop[unparen(c.site)] = true
	}
}

// mergeSlots gives one field to captures that are the same at every point where both are captured, and gives the
// fields' names. A point whose walk has not come to a place does not read the field there, so what others have there
// may be anything to it. Of
//
//	def handle(e):
//	    print(e.path if e.path != None else "no path")
//
// a point without a path has only the second e.path, and points with one have both: they are one field.
func (p *projection) mergeSlots() []string {
	into := make([]int, p.slots)
	var names []string
	var fields []sentField
	for i := range into {
		n := slices.IndexFunc(fields, func(f sentField) bool { return p.isField(i, f) })
		if n < 0 {
			n = len(fields)
			fields = append(fields, sentField{p.siteName[i], map[*send]val{}})
			names = append(names, p.siteName[i])
		}
		into[i] = n
		p.joinField(i, fields[n])
	}
	for _, s := range p.sends {
		s.values = map[int]val{}
		for n, f := range fields {
			if v, has := f.values[s]; has {
				s.values[n] = v
			}
		}
	}
	renumber(p.half, into)
	return names
}

// A sentField is what each send has for a field. Of the captures that are one field it is the first, whose name and
// place the text shows.
type sentField struct {
	name   string
	values map[*send]val
}

// isField reports whether capture i is the same as a field in all sends that have both. Where none has both, they have
// the same name.
func (p *projection) isField(i int, f sentField) bool {
	meets := false
	for _, s := range p.sends {
		x, captured := s.values[i]
		y, has := f.values[s]
		if captured && has && !same(x, y) {
			return false
		}
		meets = meets || captured && has
	}
	return meets || f.name == p.siteName[i]
}

// joinField adds capture i to a field.
func (p *projection) joinField(i int, f sentField) {
	for _, s := range p.sends {
		if v, captured := s.values[i]; captured {
			if _, has := f.values[s]; !has {
				f.values[s] = v
			}
		}
	}
}

func renumber(h *plan.UserHalf, into []int) {
	for site, slot := range h.Slots {
		h.Slots[site] = into[slot]
	}
	for _, c := range h.Parts() {
		renumber(c, into)
	}
}

// finishSend makes the record of one program. A field that this point does
// not have is None.
func (p *projection) finishSend(s *send, names []string) {
	if s.stmt == nil {
		return
	}
	s.b.span = s.span
	pr := p.placed.pr
	number := len(pr.u.res.Tree.Records)
	s.stmt.Int = int64(number)
	ts := make([]types.Type, len(names))
	fill := s.b.inBlock(func() {
		for i := range names {
			v, ok := s.values[i]
			if !ok {
				v = noneVal()
			}
			e := s.b.rv(v, s.stmt.Pos)
			s.stmt.Exprs = append(s.stmt.Exprs, e)
			ts[i] = e.Type
		}
	})
	if len(fill.Stmts) > 0 {
		panic(fmt.Sprintf("infer: a captured value of probe %d needs statements", p.placed.pr.p.ID))
	}
	rec := layout.Record(number, pr.p.ID, names, ts)
	rec.Start, rec.NoCPU, rec.Widths = p.placed.start, true, s.shown
	pr.u.res.Tree.Records = append(pr.u.res.Tree.Records, rec)
	pr.u.res.HalfOf[number] = p.half
}
