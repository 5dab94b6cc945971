package points

import (
	"debug/dwarf"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/startrace/startrace/bpfgen/refusal"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/binary"
	"github.com/startrace/startrace/internal/format"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/locals"
	"github.com/startrace/startrace/internal/naming"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/point"
	"github.com/startrace/startrace/internal/signature"
)

// The points uprobe:, uretprobe: and ufunc:, which functions a pattern means, and notes about functions that cannot be
// probed, have several names or leave by jumps.

// maxSignatures is up to how many functions of a pattern are looked up in debug
// information: each takes a while.
const maxSignatures = 256

// userFunctions gives the target of uprobe:, uretprobe: and ufunc:.
func (s search) userFunctions(p *plan.Pattern) []*Target {
	if l, ok := sourceLineOf(p); ok {
		return s.lines(p, l)
	}
	u := s.userPattern(p)
	list, at := s.findFunctions(p, u)
	name, offset := u.function, u.offset
	s.mustHave(s.Facts.Features().Uprobe, "uprobes", s.Facts.Features().Why["uprobe"], p)
	fs := &Functions{Mech: mechanism(p), Binary: at.Path, Same: at.Same, Process: s.onlyProcess(),
		Bare: offset == 0 && list[0].Inside == 0}
	t := &Target{Source: fs, Name: name, Text: p.Text, Pos: p.Pos}
	gives := kindOf(p)
	calls := gives.Has("duration")
	if calls {
		t.Source = &FunctionCalls{Functions: fs}
	}
	if naming.IsPattern(name) {
		t.Name = p.Provider
	}
	tails := 0
	for _, fn := range list {
		f := s.userPlace(p, at, fn, offset)
		f.Text = p.Provider + ":" + at.Name + ":" + u.named(fn) + u.behind()
		if fn.Copy == nil && offset == 0 && len(list) <= maxSignatures {
			f.sig = sync.OnceValue(func() *signature.Signature { return s.Programs.Signature(at, fn) })
		}
		if calls {
			f.Returns, f.Others, tails = fn.Ends.At, len(fn.Ends.Others), tails+fn.Ends.Tails
		} else {
			f.Returns, tails = fn.Returns, tails+fn.Tails
		}
		fs.Funcs = append(fs.Funcs, f)
	}
	endsInOrder(fs.Funcs)
	if at.NoReturnProbes != "" && fs.Mech == tree.AttachUretprobe {
		fs.Mech, fs.Returns = tree.AttachUprobe, true
		s.notef(p.Pos, "%s: %s, so returns are probed at the instructions that return", p.Text, at.NoReturnProbes)
	}
	if n := countOthers(list); n > 0 && calls {
		s.notef(p.Pos, "%s: functions leave by jumps to %s more, whose returns are probed, too", p.Text,
			format.Count(n, "function"))
	}
	if tails > 0 && gives.Has("ret") {
		s.notef(p.Pos, "%s: %s a function leaves by a jump to another one: "+
			"its end is seen there, and e.ret is not its result", p.Text, format.Count(tails, "time"))
	}
	if at.Left > 0 {
		s.tellLeft(p, name, at)
	}
	tellCopies(s, p, list, at)
	tellLost(s, p, u, at)
	tellTurns(s, p, list, at)
	s.tellNames(p, name, list)
	return []*Target{t}
}

// userPlace is a function, or the place in it that lies so many bytes behind.
func (s search) userPlace(p *plan.Pattern, at *binary.File, fn binary.Function, offset uint64) *Function {
	f := &Function{Name: fn.Name, User: true}
	f.Place = tree.Place{Func: fn.Name, Offset: fn.Entry}
	if inside := fn.Inside + offset; inside != 0 {
		s.inside(p, at, fn, inside)
		f.Inside = true
		f.Place.Offset = fn.Start + inside
	}
	f.Place.Caller, f.Place.Turns = s.callerAt(fn), fn.Turns
	f.ABI, f.Goroutine = fn.ABI, fn.Goroutine
	if f.Goroutine {
		f.goid = func() (int, error) { return goidIn(s, at) }
	}
	f.typ = func(off dwarf.Offset) (kernel.TypeID, error) { return s.typeOf(at, off) }
	f.static = fn.Addr + f.Place.Offset - fn.Start
	f.global = func(name string) (*locals.Variable, error) { return s.Programs.Global(at, fn, name) }
	f.split = sync.OnceValues(func() (name, why string) { return s.Programs.Split(at, fn) })
	switch {
	case fn.Copy != nil:
		f.Source, f.copied = fn.Source, fn.Copy.Place
		f.params = sync.OnceValues(func() ([]locals.Variable, error) { return s.Programs.Parameters(at, fn) })
	case f.Inside || fn.Source != "":
		s.atPlace(f, at, fn)
		if fn.Source == "" {
			f.definition = sync.OnceValue(func() string { return s.Programs.SourceAt(at, fn, f.Place.Offset-fn.Start) })
		}
	default:
		f.definition = sync.OnceValue(func() string { return s.Programs.Definition(at, fn) })
	}
	return f
}

// typeOf gives the type at a place in the debug information of a file.
func (s search) typeOf(at *binary.File, off dwarf.Offset) (kernel.TypeID, error) {
	btf, err := s.Facts.BTF()
	if err != nil {
		return 0, err
	}
	return s.Programs.Type(at, off, btf)
}

// goidIn is how far behind the start of a runtime.g of a program the number of the goroutine lies. It has moved between
// versions of Go, so that only debug information tells.
func goidIn(s search, at *binary.File) (int, error) {
	btf, err := s.Facts.BTF()
	if err != nil {
		return 0, err
	}
	id, err := s.Programs.TypeNamed(at.Path, "runtime.g", btf)
	if err != nil {
		return 0, err
	}
	f, err := btf.Field(id, "goid")
	return f.Off, err
}

// onlyProcess is the one process whose user probes are wanted, 0: those of all.
func (s search) onlyProcess() int {
	if target := s.Target; target.PID > 0 && !target.Several() {
		return target.PID
	}
	return 0
}

// tellLeft tells of functions that match and cannot be probed. Who writes names, as in mem{cpy,set}, means each of
// them.
func (s search) tellLeft(p *plan.Pattern, name string, at *binary.File) {
	tell := s.notef
	if !strings.ContainsAny(name, "*?[") {
		tell = s.warnf
	}
	tell(p.Pos, "%s: of what matches %s cannot be probed: %s", p.Text, format.Count(at.Left, "function"), at.Why)
}

// tellNames tells that functions have several names that match. Who writes them out, as in {read,__read}, may compare
// e.func with each.
func (s search) tellNames(p *plan.Pattern, name string, list []binary.Function) {
	n, first := 0, binary.Function{}
	var same []string
	for _, fn := range list {
		if len(fn.Others) == 0 {
			continue
		}
		if n++; n == 1 {
			first = fn
		}
		same = append(same, oneFunction(fn.Name, strings.Join(fn.Others, ", ")))
	}
	switch {
	case n == 0:
	case strings.ContainsAny(name, "*?["):
		s.notef(p.Pos, "%s: %s with several names that match: %s is also %s, and e.func is %s", p.Text,
			format.Count(n, "function"), first.Name, strings.Join(first.Others, ", "), first.Name)
	default:
		s.warnf(p.Pos, "%s: %s", p.Text, strings.Join(same, "; "))
	}
}

// tellReplaced tells of a file that has another content now than the traced process runs: what it runs is probed, and
// what starts from now on runs the other one.
func (s search) tellReplaced(p *plan.Pattern, at *binary.File) {
	if at == nil || !at.Replaced {
		return
	}
	s.warnf(p.Pos, "%s: process %d runs a file that had the name %s before and has been replaced: "+
		"that is probed, and not the one that has the name now", p.Text, s.Target.PID, at.Name)
}

// callerAt says whether the kernel adds the caller to stacks at the entry of a function.
func (s search) callerAt(fn binary.Function) tree.Caller {
	switch {
	case !fn.MakesFrame:
		return tree.CallerMissing
	case s.Facts.AddsCaller() && !fn.Protected:
		return tree.CallerThere
	}
	return tree.CallerUnknown
}

// countOthers counts the functions that return for some of the list.
func countOthers(list []binary.Function) int {
	others := map[uint64]bool{}
	for _, fn := range list {
		for _, other := range fn.Ends.Others {
			others[other] = true
		}
	}
	return len(others)
}

// endsInOrder puts functions before those that return for them. Where two calls
// end at one Instruction the inner must end first, and the kernel runs first
// what was attached last (consumer_add, kernel/events/uprobes.c).
func endsInOrder(funcs []*Function) {
	slices.SortStableFunc(funcs, func(a, b *Function) int { return b.Others - a.Others })
}

// inside refuses a place in a function at which no Instruction begins, or one that the kernel does not run.
func (s search) inside(p *plan.Pattern, at *binary.File, fn binary.Function, offset uint64) {
	switch err := s.Programs.Steps(at, fn, offset); {
	case errors.Is(err, binary.ErrNotCode):
		refusal.Wrong(p.Pos, "%s: %s+%#x is behind the code of %s: the number is in bytes from where the function "+
			"begins", p.Text, fn.Name, offset, at.Name)
	case err != nil:
		refusal.Wrong(p.Pos, "%s: %s+%#x cannot be probed: it is %v", p.Text, fn.Name, offset, err)
	}
	if s.Unsafe {
		return
	}
	if err := s.Programs.Inside(at, fn, offset); err != nil {
		refusal.Wrong(p.Pos, "%s: %v: --unsafe probes it all the same, which can end the program", p.Text, err)
	}
}

// A userPattern is BINARY:[@FILE:]FUNCTION[+OFFSET].
type userPattern struct {
	file, source, function string
	offset                 uint64
}

// named is a function as a point that names it alone has it.
func (u userPattern) named(fn binary.Function) string {
	switch {
	case u.source == "":
		return fn.Name
	case naming.IsPattern(u.source):
		return "@" + fn.File + ":" + fn.Name
	}
	return "@" + u.source + ":" + fn.Name
}

// behind is the offset as points have it.
func (u userPattern) behind() string {
	if u.offset == 0 {
		return ""
	}
	return fmt.Sprintf("+%#x", u.offset)
}

// userPattern splits a pattern, where the binary can be left out, and quotes protect colons of C++ and Rust.
func (s search) userPattern(p *plan.Pattern) (u userPattern) {
	if len(p.Args) == 2 {
		u.file = p.Args[0]
	}
	last := p.Args[len(p.Args)-1]
	if in, ok := point.SourceOf(strings.Join(p.Args, ":")); ok {
		u.file, u.source, last = in.Binary, in.File, in.Function
		if u.source == "" || last == "" {
			refusal.Wrong(p.Pos, "%s: want %s:BINARY:@FILE:FUNCTION; @FILE:* are all functions of the file", p.Text,
				p.Provider)
		}
	}
	if strings.HasPrefix(last, `"`) {
		quoted, rest, closed := strings.Cut(last[1:], `"`)
		if !closed || rest != "" && !strings.HasPrefix(rest, "+") {
			refusal.Wrong(p.Pos, `%s: want %s:BINARY:"FUNCTION"`, p.Text, p.Provider)
		}
		last = quoted + rest
		if rest == "" {
			u.function = last
			return u
		}
	}
	if strings.Contains(last, "operator+") {
		u.function = last
		return u
	}
	split := *p
	split.Args = []string{last}
	u.function, u.offset = s.functionOffset(&split)
	return u
}

func (s search) findFunctions(p *plan.Pattern, u userPattern) ([]binary.Function, *binary.File) {
	file, name := u.file, u.function
	if name == "" {
		refusal.Wrong(p.Pos, "%s: the function's name is empty; want %s:BINARY:FUNCTION", p.Text, p.Provider)
	}
	if file == "" && (strings.HasPrefix(name, "/") || strings.HasPrefix(name, "./") || strings.HasPrefix(name, "../")) {
		refusal.Wrong(p.Pos, "%s: which function of it? want %s:BINARY:FUNCTION", p.Text, p.Provider)
	}
	if s.Programs == nil {
		refusal.Wrong(p.Pos, "%s: programs cannot be looked at here", p.Text)
	}
	ends := kindOf(p).Has("ret")
	list, at, err := s.Programs.Functions(binary.Query{File: file, Source: u.source, Pattern: name,
		Behind: u.offset != 0, Copies: !ends && u.offset == 0, Most: maxFunctions})
	s.tellReplaced(p, at)
	if ends && err == nil {
		list = returning(list, at)
	}
	if err == nil && len(list) == 0 && at.Copies > 0 {
		onlyInlined(p, at)
	}
	switch {
	case err != nil:
		unread(p, file, err)
	case len(list) == 0 && at.Left > 0 && !naming.IsPattern(name):
		refusal.Wrong(p.Pos, "%s: %s", p.Text, at.Why)
	case len(list) == 0 && at.Left > 0:
		refusal.Wrong(p.Pos, "%s: of what matches nothing can be probed (%s): %s", p.Text,
			format.Count(at.Left, "function"), at.Why)
	case len(list) == 0 && strings.HasPrefix(name, "cpp:"):
		refusal.Wrong(p.Pos, "%s: no function of %s matches %s: names of C++ stand as they are, without cpp:", p.Text,
			at.Name, name)
	case len(list) == 0:
		refusal.Wrong(p.Pos, "%s: no function of %s matches %s; startrace list 'uprobe:%s:*' shows those that it has",
			p.Text, at.Name, name, at.Name)
	case len(list) > maxFunctions:
		refusal.Wrong(p.Pos, "%s matches %d functions; a probe takes at most %d: narrow the pattern", p.Text, len(list),
			maxFunctions)
	}
	return list, at
}

// returning leaves out functions whose returns cannot be probed.
func returning(list []binary.Function, at *binary.File) (out []binary.Function) {
	for _, fn := range list {
		if fn.NoReturn == "" {
			out = append(out, fn)
		} else if at.Left++; at.Left == 1 {
			at.Why = fmt.Sprintf("the return of %s cannot be probed: %s", fn.Name, fn.NoReturn)
		}
	}
	return out
}
