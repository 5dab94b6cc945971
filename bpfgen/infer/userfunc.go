package infer

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/binary"
	"github.com/startrace/startrace/internal/format"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/point"
	"github.com/startrace/startrace/internal/signature"
)

// userFunctions gives the target of uprobe:, uretprobe: and ufunc:.
func (u inPrograms) userFunctions(p *plan.Pattern) []*target {
	file, name, offset := u.userPattern(p)
	list, at := u.findFunctions(p, file, name)
	u.finder().mustHave(u.facts.Features().Uprobe, "uprobes", u.facts.Features().Why["uprobe"], p)
	fs := &functions{mech: kindOf(p).mech, binary: at.Path, process: u.onlyProcess(),
		bare: offset == 0 && list[0].Inside == 0}
	t := &target{source: fs, name: name, text: p.Text, pos: p.Pos}
	gives := point.Must(p.Provider)
	calls := gives.Has("duration")
	if calls {
		t.source = &functionCalls{functions: fs}
	}
	if kernel.IsPattern(name) {
		t.name = p.Provider
	}
	tails := 0
	for _, fn := range list {
		f := &funcPoint{name: fn.Name, text: p.Provider + ":" + at.Name + ":" + fn.Name, user: true}
		if offset != 0 {
			f.text += fmt.Sprintf("+%#x", offset)
		}
		f.place = tree.Place{Func: fn.Name, Offset: fn.Entry}
		if inside := fn.Inside + offset; inside != 0 {
			u.inside(p, at, fn, inside)
			f.inside = true
			f.place.Offset = fn.Start + inside
		}
		f.place.Caller = u.callerAt(fn)
		f.abi, f.goroutine = fn.ABI, fn.Goroutine
		if offset == 0 && len(list) <= maxSignatures {
			f.sig = sync.OnceValue(func() *signature.Signature { return u.binaries.Signature(at, fn) })
		}
		if calls {
			f.returns, f.others, tails = fn.Ends.At, len(fn.Ends.Others), tails+fn.Ends.Tails
		} else {
			f.returns, tails = fn.Returns, tails+fn.Tails
		}
		fs.funcs = append(fs.funcs, f)
	}
	endsInOrder(fs.funcs)
	if at.NoReturnProbes != "" && fs.mech == tree.AttachUretprobe {
		fs.mech, fs.returns = tree.AttachUprobe, true
		u.notef(p.Pos, "%s: %s, so returns are probed at the instructions that return", p.Text, at.NoReturnProbes)
	}
	if n := countOthers(list); n > 0 && calls {
		u.notef(p.Pos, "%s: functions leave by jumps to %s more, whose returns are probed, too", p.Text,
			format.Count(n, "function"))
	}
	if tails > 0 && gives.Has("ret") {
		u.notef(p.Pos, "%s: %s a function leaves by a jump to another one: "+
			"its end is seen there, and e.ret is not its result", p.Text, format.Count(tails, "time"))
	}
	if at.Left > 0 {
		u.tellLeft(p, name, at)
	}
	u.tellNames(p, name, list)
	return []*target{t}
}

// onlyProcess is the one process whose user probes are wanted, 0: those of all.
func (u inPrograms) onlyProcess() int {
	if target := u.plan.Target; target.PID > 0 && !target.Follow {
		return target.PID
	}
	return 0
}

// tellLeft tells of functions that match and cannot be probed. Who writes names, as in mem{cpy,set}, means each of
// them.
func (u inPrograms) tellLeft(p *plan.Pattern, name string, at *binary.File) {
	tell := u.notef
	if !strings.ContainsAny(name, "*?[") {
		tell = u.warnf
	}
	tell(p.Pos, "%s: of what matches %s cannot be probed: %s", p.Text, format.Count(at.Left, "function"), at.Why)
}

// tellNames tells that functions have several names that match. Who writes them out, as in {read,__read}, may compare
// e.func with each.
func (u inPrograms) tellNames(p *plan.Pattern, name string, list []binary.Function) {
	n, first := 0, binary.Function{}
	for _, fn := range list {
		if len(fn.Others) > 0 {
			if n++; n == 1 {
				first = fn
			}
		}
	}
	switch others := strings.Join(first.Others, ", "); {
	case n == 0:
	case strings.ContainsAny(name, "*?["):
		u.notef(p.Pos, "%s: %s with several names that match: %s is also %s, and e.func is %s", p.Text,
			format.Count(n, "function"), first.Name, others, first.Name)
	default:
		u.warnf(p.Pos, "%s: %s and %s are one function: e.func is %s", p.Text, first.Name, others, first.Name)
	}
}

// tellReplaced warns of a file that is not the one that the traced process runs, so that nothing of it is seen.
func (u inPrograms) tellReplaced(p *plan.Pattern, at *binary.File) {
	if at == nil || !at.Replaced {
		return
	}
	base := filepath.Base(at.Name)
	u.warnf(p.Pos, "%s: process %d runs another file, which had the name %s before: nothing of it is seen here; "+
		"the name %s without a folder means the one that it runs", p.Text, u.plan.Target.PID, at.Name, base)
}

// callerAt says whether the kernel adds the caller to stacks at the entry of a function.
func (u inPrograms) callerAt(fn binary.Function) tree.Caller {
	switch {
	case !fn.MakesFrame:
		return tree.CallerMissing
	case u.facts.AddsCaller() && !fn.Protected:
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
// end at one instruction the inner must end first, and the kernel runs first
// what was attached last (consumer_add, kernel/events/uprobes.c).
func endsInOrder(funcs []*funcPoint) {
	slices.SortStableFunc(funcs, func(a, b *funcPoint) int { return b.others - a.others })
}

// inside refuses a place in a function at which no instruction begins.
func (u inPrograms) inside(p *plan.Pattern, at *binary.File, fn binary.Function, offset uint64) {
	if u.plan.Unsafe {
		return
	}
	if err := u.binaries.Inside(at, fn, offset); err != nil {
		wrong(p.Pos, "%s: %v: --unsafe probes it all the same, which can end the program", p.Text, err)
	}
}

// userPattern splits BINARY:FUNCTION[+OFFSET], where the binary can be left out,
// and quotes protect colons of C++ and Rust.
func (u inPrograms) userPattern(p *plan.Pattern) (file, name string, offset uint64) {
	if len(p.Args) == 2 {
		file = p.Args[0]
	}
	last := p.Args[len(p.Args)-1]
	if strings.HasPrefix(last, `"`) {
		quoted, rest, closed := strings.Cut(last[1:], `"`)
		if !closed || rest != "" && !strings.HasPrefix(rest, "+") {
			wrong(p.Pos, `%s: want %s:BINARY:"FUNCTION"`, p.Text, p.Provider)
		}
		last = quoted + rest
		if rest == "" {
			return file, last, 0
		}
	}
	if strings.Contains(last, "operator+") {
		return file, last, 0
	}
	split := *p
	split.Args = []string{last}
	name, offset = u.finder().functionOffset(&split)
	return file, name, offset
}

func (u inPrograms) findFunctions(p *plan.Pattern, file, name string) ([]binary.Function, *binary.File) {
	if name == "" {
		wrong(p.Pos, "%s: the function's name is empty; want %s:BINARY:FUNCTION", p.Text, p.Provider)
	}
	if file == "" && (strings.HasPrefix(name, "/") || strings.HasPrefix(name, "./") || strings.HasPrefix(name, "../")) {
		wrong(p.Pos, "%s: which function of it? want %s:BINARY:FUNCTION", p.Text, p.Provider)
	}
	if u.binaries == nil {
		wrong(p.Pos, "%s: programs cannot be looked at here", p.Text)
	}
	list, at, err := u.binaries.Functions(file, name)
	u.tellReplaced(p, at)
	if point.Must(p.Provider).Has("ret") && err == nil {
		list = returning(list, at)
	}
	switch {
	case err != nil:
		wrong(p.Pos, "%s: %v", p.Text, err)
	case len(list) == 0 && at.Left > 0 && !kernel.IsPattern(name):
		wrong(p.Pos, "%s: %s", p.Text, at.Why)
	case len(list) == 0 && at.Left > 0:
		wrong(p.Pos, "%s: of what matches nothing can be probed (%s): %s", p.Text, format.Count(at.Left, "function"),
			at.Why)
	case len(list) == 0 && strings.HasPrefix(name, "cpp:"):
		wrong(p.Pos, "%s: no function of %s matches %s: names of C++ stand as they are, without cpp:", p.Text, at.Name,
			name)
	case len(list) == 0:
		wrong(p.Pos, "%s: no function of %s matches %s; startrace list 'uprobe:%s:*' shows those that it has", p.Text,
			at.Name, name, at.Name)
	case len(list) > maxFunctions:
		wrong(p.Pos, "%s matches %d functions; a probe takes at most %d: narrow the pattern", p.Text, len(list),
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
