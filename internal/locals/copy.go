package locals

import (
	"debug/dwarf"
	"fmt"
	"strings"

	"github.com/startrace/startrace/internal/dwarfinfo"
	"github.com/startrace/startrace/internal/location"
)

// Parameters of a copy that was inlined, where it begins (`AtStart`). There is no call, and no convention of calls: a
// parameter is where the optimizer has the value, if it has it at all. A function can change a parameter, and of a
// change that comes down to nothing the list of places may have only what comes after it:
//
//	static inline int doubled(int n) { n = n * 2; … }     doubled(5) has n = 10 at its first instruction
//
// So a place counts if it is certain to be that of the beginning; else the parameter is nowhere.

// Parameters gives the parameters of a copy, by where debug information speaks of it and of the function that has its
// code, and by the address and the moment (dwarfinfo.EntryView) of its entry.
func (f *Finder) Parameters(copy, around dwarf.Offset, pc, view uint64) ([]Variable, error) {
	e, err := f.Data.Entry(copy)
	if err != nil || e == nil {
		return nil, err
	}
	function, err := f.Data.Entry(around)
	if err != nil || function == nil {
		return nil, err
	}
	p := &parameters{walk: walk{Finder: f, pc: pc, function: function}, copy: e, view: view}
	p.compiler()
	if err := p.own(); err != nil {
		return nil, err
	}
	return p.list()
}

// parameters finds those of one copy.
type parameters struct {
	walk
	copy *dwarfinfo.Entry
	// view is the moment at the address pc at which the copy begins.
	view uint64
	// has are the parameters that the copy speaks of, by where the function itself has them.
	has map[dwarf.Offset]*dwarfinfo.Entry
	// gcc: it was compiled by gcc; golang: by Go. plain: without optimization.
	gcc, golang, plain bool
}

// compiler finds out by what the copy was compiled.
func (p *parameters) compiler() {
	p.gcc = byGCC(p.copy.Unit())
	p.golang = ofGo(p.copy.Unit())
	p.plain = !p.golang && p.unoptimizedOf().Is(p.function)
}

// byGCC reports whether gcc has compiled a unit.
func byGCC(u *dwarfinfo.Unit) bool {
	root, err := u.Root()
	if err != nil || root == nil {
		return false
	}
	producer, _ := root.Val(dwarf.AttrProducer).(string)
	return strings.HasPrefix(producer, "GNU ")
}

// unmoving reports whether nothing of a function has a list of places, nor a value instead of one. So it is without
// optimization, and in a small function that LLVM has optimized: what it says of a parameter there can be what comes
// after an assignment.
//
//	int swapped(int a, int b) { int t = a; a = b; b = t; …     a is in the register of b
//
// Package unoptimized asks another question: a register, as here, is no place of a function without optimization, and a
// list of places can be one.
func (p *parameters) unmoving(e *dwarfinfo.Entry, depth int) bool {
	plain := depth < maxDepth
	// What is damaged is not plain.
	err := p.Data.EachChild(e, func(kid *dwarfinfo.Entry) (bool, error) {
		switch {
		case kid.Tag == dwarf.TagVariable || kid.Tag == dwarf.TagFormalParameter:
			_, block := kid.Val(dwarf.AttrLocation).([]byte)
			plain = plain && block
		case blocks[kid.Tag]:
			plain = plain && p.unmoving(kid, depth+1)
		}
		return plain, nil
	})
	return plain && err == nil
}

// own notes the parameters that the copy speaks of.
func (p *parameters) own() error {
	p.has = map[dwarf.Offset]*dwarfinfo.Entry{}
	return p.Data.EachChild(p.copy, func(kid *dwarfinfo.Entry) (bool, error) {
		if kid.Tag == dwarf.TagFormalParameter {
			chain := p.Data.Origins(kid)
			p.has[origin(chain)] = kid
		}
		return true, nil
	})
}

// list is all parameters in the order of the source. The function itself has those that the copy has nothing of.
func (p *parameters) list() (out []Variable, err error) {
	if p.numbered, err = packNames(p.Data, p.copy); err != nil {
		return nil, err
	}
	source := p.copy // of a method the declaration in its type does not name the parameters
	if chain := p.Data.Origins(p.copy); p.copy.Has(dwarf.AttrAbstractOrigin) && len(chain) > 1 {
		source = chain[1]
	}
	err = p.Data.EachChild(source, func(kid *dwarfinfo.Entry) (bool, error) {
		if kid.Tag != dwarf.TagFormalParameter {
			return true, nil
		}
		of := p.Data.Origins(kid)
		v := p.named(kid, of)
		if result, _ := kid.Val(dwarf.AttrVarParam).(bool); result && p.golang || v.Name == "" {
			return true, nil
		}
		if own := p.has[origin(of)]; own != nil {
			if v.Place, err = p.atEntry(own); err != nil {
				return false, err
			}
		}
		out = append(out, v)
		return true, nil
	})
	return out, err
}

// atEntry is where a parameter is where the copy begins.
func (p *parameters) atEntry(e *dwarfinfo.Entry) (location.Place, error) {
	chain := p.Data.Origins(e)
	for _, x := range chain {
		if place, ok := location.OfConstant(x.Val(dwarf.AttrConstValue)); ok {
			return place, nil
		}
	}
	spans, listed, err := e.Spans()
	if err != nil {
		return location.Place{}, err
	}
	if !listed {
		expr, _, err := e.Expression(dwarf.AttrLocation, p.pc)
		place := location.Of(expr, p.frame(e)).Framed(p.frameRegisters()...)
		if err != nil || expr == nil || onStack(place) && !p.plain || p.gcc && !p.plain {
			return location.Place{}, err // it may be put there later
		}
		return place, nil
	}
	expr, ok := p.first(spans, e.HasViews())
	if !ok {
		return location.Place{}, nil
	}
	place := location.Of(expr, p.frame(e)).Framed(p.frameRegisters()...)
	if !p.gcc && !p.golang && computed(place) {
		return location.Place{}, nil
	}
	return place, nil
}

// first is the expression of the moment at which the copy begins. Other compilers than gcc do not tell moments at one
// address apart: there the variable must begin with the copy.
func (p *parameters) first(spans []dwarfinfo.Span, views bool) ([]byte, bool) {
	for _, s := range spans {
		switch {
		case p.gcc && !views:
		case p.gcc && s.Low == p.pc && s.LowView <= p.view && (s.High > p.pc || s.HighView > p.view):
			return s.Expr, true
		case p.gcc && s.Low < p.pc && p.pc-s.Low >= mostPadding && s.High > p.pc:
			return s.Expr, true
		case p.golang && s.Low <= p.pc && s.High > p.pc, !p.gcc && s.Low == p.pc && s.High > p.pc:
			return s.Expr, true
		}
	}
	return nil, false
}

// mostPadding is how many bytes an assembler puts in front of a loop at most, so that addresses that are further apart
// are different moments. Those of gcc's labels may be on either side of these bytes.
const mostPadding = 64

// computed reports whether a value is computed, as LLVM does of one that it has left out: it can be that of a change of
// the variable.
func computed(p location.Place) bool {
	return p.Kind == location.Held && p.Value.Op != location.Register && p.Value.Op != location.Const
}

// A parameter pack of C++ is several parameters, and clang gives all of them its name:
//
//	template<class... A> int sum(A... a)    sum(1, 2.0, 'c') has a, a and a: here a, a_2 and a_3

// cpp are the languages (DW_LANG_…) that are C++.
var cpp = map[any]bool{int64(0x04): true, int64(0x1a): true, int64(0x21): true, int64(0x2b): true}

// packNames are names for the parameters of a function of C++, or of a copy of one, that have that of another one, by
// where the function has them as the source does: a copy need not have all.
func packNames(d *dwarfinfo.Data, e *dwarfinfo.Entry) (map[dwarf.Offset]string, error) {
	root, err := e.Unit().Root()
	if err != nil || root == nil || !cpp[root.Val(dwarf.AttrLanguage)] {
		return nil, err
	}
	chain := d.Origins(e)
	out, seen := map[dwarf.Offset]string{}, map[string]bool{}
	return out, d.EachChild(chain[len(chain)-1], func(kid *dwarfinfo.Entry) (bool, error) {
		if kid.Tag != dwarf.TagFormalParameter {
			return true, nil
		}
		of := d.Origins(kid.Keep())
		name, _ := dwarfinfo.Attribute(of, dwarf.AttrName).(string)
		for n := 2; seen[name] && name != ""; n++ {
			if next := fmt.Sprintf("%s_%d", name, n); !seen[next] {
				name, out[of[len(of)-1].Offset] = next, next
			}
		}
		seen[name] = true
		return true, nil
	})
}

// AtStart gives the parameters of the function that begins at an address, where they are when it is called: of one
// whose calls an optimizer has changed, of which no convention tells that. Those that debug information does not
// certainly have there are nowhere. There are none of a function that was compiled without optimization, nor of Go.
func (f *Finder) AtStart(addr uint64) ([]Variable, error) {
	within, err := f.path(addr)
	if err != nil || len(within) == 0 || within[0].Tag != dwarf.TagSubprogram {
		return nil, err
	}
	ranges, err := within[0].Ranges()
	if err != nil || len(ranges) == 0 || ranges[0][0] != addr {
		return nil, err
	}
	p := &parameters{walk: walk{Finder: f, pc: addr, function: within[0]}, copy: within[0]}
	if p.compiler(); p.plain || p.golang || p.unmoving(p.function, 0) {
		return nil, nil
	}
	if err := p.own(); err != nil {
		return nil, err
	}
	list, err := p.list()
	if err != nil {
		return nil, err
	}
	if !p.gcc {
		onlyOwnRegisters(list)
	}
	return list, nil
}

// onlyOwnRegisters leaves what LLVM says of parameters as far as it holds for their calls. It says of one that is
// changed at once only what comes after that:
//
//	static int f(int mode, long a) { mode = 5; …     the constant 5
//	static int f(int mode, long a) { mode = a; …     the register that a is in
func onlyOwnRegisters(list []Variable) {
	users := map[string]int{}
	for _, v := range list {
		for _, name := range registersOf(v.Place) {
			users[name]++
		}
	}
	for i := range list {
		names := registersOf(list[i].Place)
		own := len(names) > 0
		for _, name := range names {
			own = own && users[name] == 1
		}
		if !own {
			list[i].Place = location.Place{}
		}
	}
}

// registersOf are the registers that a value is in; none where it is in anything else.
func registersOf(p location.Place) (out []string) {
	switch {
	case p.Kind == location.Held && p.Value.Op == location.Register:
		return []string{p.Value.Name}
	case p.Kind == location.Split:
		for _, part := range p.Fragments {
			if part.Kind != location.Held || part.Value.Op != location.Register {
				return nil
			}
			out = append(out, part.Value.Name)
		}
	}
	return out
}

// atMoment is the expression of the place of a variable at the line, of which the one at the instruction is given:
// where several lines have one address, gcc tells the moments of it apart.
func (w *walk) atMoment(e *dwarfinfo.Entry, here []byte) ([]byte, error) {
	if w.moment == nil && w.source.Number > 0 {
		view, ok := w.tablesOf().Moment(w.function.Unit(), w.pc, w.source.File, w.source.Number)
		w.moment = &moment{view, ok}
	}
	if w.moment == nil || !w.moment.known {
		return here, nil
	}
	spans, _, err := e.Spans()
	for _, s := range spans {
		begun := s.Low < w.pc || s.Low == w.pc && s.LowView <= w.moment.view
		if begun && (s.High > w.pc || s.High == w.pc && s.HighView > w.moment.view) {
			return s.Expr, err
		}
	}
	return nil, err
}

// A moment is which one at the address of an instruction a line is at.
type moment struct {
	view  uint64
	known bool
}
