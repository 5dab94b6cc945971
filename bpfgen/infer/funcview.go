package infer

import (
	"fmt"
	"strings"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
)

// A function as the walk of a program sees it. Each question is noted: functions with the same answers share a program.

// answer gives what a program depends on: see access.
func (p *funcPoint) answer(question string) string {
	switch question {
	case "func":
		return p.text
	case "caller":
		return fmt.Sprint(p.place.Caller)
	case "operands":
		return p.site.Text
	case "ret":
		if p.typed() {
			return fmt.Sprint(p.proto.Ret, p.resultPlace())
		}
		if p.user {
			return p.userAnswer(question)
		}
		return "untyped"
	case "":
		return p.signature()
	}
	if p.user {
		return p.userAnswer(question)
	}
	for i, arg := range p.params() {
		if arg.Name == question || fmt.Sprint(i) == question {
			return fmt.Sprint(i, arg.Type, p.argPlace(i))
		}
	}
	return ""
}

// ends are the places of probes of the function's return: all its returns at once, or the
// instructions that return.
func (p *funcPoint) ends() []tree.Place {
	if len(p.returns) == 0 {
		return []tree.Place{p.place}
	}
	var out []tree.Place
	for _, off := range p.returns {
		at := p.place
		at.Offset, at.Caller = off, tree.CallerMissing
		out = append(out, at)
	}
	return out
}

func (p *funcPoint) params() []kernel.Param {
	if !p.typed() {
		return nil
	}
	return p.proto.Params
}

func (p *funcPoint) signature() string {
	var b strings.Builder
	for _, arg := range p.params() {
		fmt.Fprintf(&b, "%s %d,", arg.Name, arg.Type)
	}
	return b.String()
}

// typed reports whether the arguments have names and types.
func (p *funcPoint) typed() bool { return p.proto != nil && p.proto.ID != 0 }

func (v *funcView) ask(question string) string {
	a := v.answer(question)
	*v.log = append(*v.log, access{question, a})
	return a
}

// at are places of the functions for one program.
func (fs *functions) at(places []tree.Place) *tree.Functions {
	return &tree.Functions{Mech: fs.mech, Binary: fs.binary, Process: fs.process, Places: places, Bare: fs.bare}
}

// funcEvent is e at a function's entry or return.
func (fs *functions) funcEvent(b *body, f *funcView) *event {
	ev := &event{b: b, point: f.text, regs: fs.shares(), inside: f.inside}
	ev.profile = ev.regs // the registers tell ip and the mode
	ev.unwound = func() { f.ask("caller") }
	result := func(pos plan.Pos) val { return b.words().funcResult(f, fs.mech, pos) }
	switch {
	case f.site != nil:
		ev.args = &operandArgs{f}
	case fs.returns, fs.mech == tree.AttachKretprobe, fs.mech == tree.AttachUretprobe:
		ev.ret = result
	case fs.mech == tree.AttachFexit:
		ev.ret = result
		fallthrough
	case !f.inside:
		ev.args = &funcArgs{f: f, mech: fs.mech}
	}
	ev.fn = func(pos plan.Pos) val { return b.pr.pointLabel(f, "func", f.name, pos) }
	ev.name = func(pos plan.Pos) val { return b.pr.pointLabel(f, "point", f.text, pos) }
	return ev
}

// placesOf are where programs stand at the function. Whatever attaches to functions asks here: place alone is where
// the function begins.
func (fs *functions) placesOf(f *funcPoint) []tree.Place {
	if fs.returns {
		return f.ends()
	}
	return []tree.Place{f.place}
}

// shares: a program can stand at several functions. A trampoline serves one.
func (fs *functions) shares() bool { return !fs.mech.Trampoline() }

func (fs *functions) view(f *funcPoint, log *[]access) *funcView {
	return &funcView{f, log, fs.shares()}
}

// serves reports whether a program whose walk asked this does for p, too.
func serves(log []access, p *funcPoint) bool {
	for _, a := range log {
		if p.answer(a.question) != a.answer {
			return false
		}
	}
	return true
}
