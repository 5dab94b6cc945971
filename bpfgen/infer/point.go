package infer

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
)

// targetKind is the kind of a concrete point.
type targetKind uint8

const (
	targetTracepoint targetKind = iota
	targetRaw
	targetProfile
	targetInterval
	targetSyscall
	targetSpan
	targetFunc     // functions, or places in them
	targetFuncSpan // calls of functions
	targetPerf
	targetWatch
	targetIter
)

// A target is a concrete point of this kernel, or the system calls that one
// pattern matched.
type target struct {
	kind  targetKind
	text  string // the point's name: e.probe
	group string
	name  string
	// at is how targetPerf, targetWatch and targetIter are attached.
	at       tree.Attach
	iter     kernel.Iterator
	period   uint64 // ns
	freq     uint64
	syscalls []kernel.Syscall
	all      bool // syscall:*
	// span, starts and ends are of targetSpan.
	span         *plan.Span
	starts, ends []*target
	// funcs are of targetFunc and targetFuncSpan, mech how their programs are
	// attached; binary and process of user functions.
	funcs   []*funcPoint
	mech    tree.AttachKind
	binary  string
	process int
	// returns: the places are those where the functions return.
	returns bool
	// bare: see tree.Attach.
	bare bool
	// arms are the functions of the events on the way, the innermost first.
	arms []*plan.Func
	pos  plan.Pos
}

// points is how many points the target is, for "Attached N probes".
func (t *target) points() int {
	if t.kind == targetSyscall {
		return len(t.names())
	}
	if t.kind == targetSpan {
		return len(t.starts) + len(t.ends)
	}
	return max(1, len(t.funcs))
}

// names gives the names of the points that the target is.
func (t *target) names() []string {
	var out []string
	switch t.kind {
	case targetSyscall:
		for _, sc := range t.syscalls {
			if name := "syscall:" + sc.Name; sc.Entry == kernel.EntryNative || !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	case targetSpan:
		for _, one := range slices.Concat(t.starts, t.ends) {
			out = append(out, one.names()...)
		}
	default:
		for _, f := range t.funcs {
			out = append(out, f.text)
		}
		if len(t.funcs) == 0 {
			out = append(out, t.text)
		}
	}
	return out
}

// short is the part of the name that goes into a program's name.
func (t *target) short() string {
	switch t.kind {
	case targetProfile:
		return "profile"
	case targetInterval:
		return "interval"
	}
	return t.name
}

func (t *target) attach() tree.Attach {
	switch t.kind {
	case targetRaw:
		return tree.Attach{Kind: tree.AttachRawTracepoint, Name: t.name}
	case targetProfile:
		return tree.Attach{Kind: tree.AttachProfile, Freq: t.freq, Period: t.period}
	case targetInterval:
		return tree.Attach{Kind: tree.AttachInterval, Freq: t.freq, Period: t.period}
	case targetPerf, targetWatch, targetIter:
		return t.at
	case targetFunc:
		return t.attachTo(t.funcs[0].placesOf(t)...)
	}
	return tree.Attach{Kind: tree.AttachTracepoint, Group: t.group, Name: t.name}
}

// event gives e at the target, for one program.
func (t *target) event(b *body) *event {
	ev := &event{b: b, point: t.text}
	switch t.kind {
	case targetTracepoint:
		tp, err := b.u.facts.Tracepoint(t.group, t.name)
		if err != nil {
			wrong(t.pos, "%v", err)
		}
		ev.args = &tracepointArgs{tp}
	case targetRaw:
		rt, err := b.u.facts.RawTracepoint(t.name)
		if err != nil {
			wrong(t.pos, "%v", err)
		}
		ev.args = &rawArgs{rt}
	case targetProfile, targetInterval:
		ev.profile, ev.regs, ev.clock = true, true, t.kind == targetInterval
	case targetPerf, targetWatch:
		ev.profile, ev.regs, ev.addr = true, true, perfAddress(b)
	case targetIter:
		return t.iterEvent(b)
	case targetFunc:
		f := t.view(t.funcs[0], new([]access))
		f.shared = false
		return t.funcEvent(b, f)
	}
	return ev
}

// expand gives the concrete points of a list.
func (u *unit) expand(list []plan.Point, pos plan.Pos) []*target {
	var out []*target
	for _, p := range list {
		if len(list) > 1 && u.leftOut(p) {
			continue
		}
		out = append(out, u.expandOne(p)...)
	}
	if len(out) == 0 && !u.late && !u.waiting() {
		wrong(pos, "this probe has no points")
	}
	return out
}

func (u *unit) expandOne(p plan.Point) []*target {
	switch p := p.(type) {
	case *plan.Pattern:
		if u.late {
			return u.lateTargets(p)
		}
		var out []*target
		r := attempt(func() { out = u.expandPattern(p) })
		if r != nil && !u.waits(p) {
			panic(r)
		}
		return out
	case *plan.Event:
		var out []*target
		for _, arm := range p.Arms {
			for _, t := range u.expand(arm.Points, p.Pos) {
				if arm.Fn != nil {
					t.arms = append(t.arms, arm.Fn)
				}
				out = append(out, t)
			}
		}
		return out
	case *plan.First:
		if u.late {
			return nil
		}
		return u.bounded(func() []*target { return u.expandFirst(p) })
	case *plan.Span:
		if u.late {
			return nil
		}
		return u.bounded(func() []*target { return u.expandSpan(p) })
	}
	return nil
}

// expandFirst gives the first point that this kernel has.
func (u *unit) expandFirst(p *plan.First) []*target {
	var tried []string
	for i, one := range p.Points {
		var out []*target
		r := attempt(func() {
			if out = u.expandOne(one); i < len(p.Points)-1 {
				u.mustBeProbed(one, out)
			}
		})
		if r == nil && len(out) > 0 {
			c := Choice{Pos: p.Pos, Refused: tried, Rest: len(p.Points) - i - 1}
			for _, t := range out {
				c.Chosen = append(c.Chosen, t.names()...)
			}
			u.res.Choices = append(u.res.Choices, c)
			return out
		}
		if r != nil {
			tried = append(tried, r.Msg)
		}
	}
	wrong(p.Pos, "this kernel has none of these points: %s", strings.Join(tried, "; "))
	return nil
}

func (u *unit) expandPattern(p *plan.Pattern) []*target {
	switch p.Provider {
	case "tracepoint":
		return u.tracepoints(p)
	case "rawtracepoint":
		return u.rawTracepoints(p)
	case "syscall":
		return u.syscalls(p)
	case "profile", "interval":
		return timer(p)
	case "software", "hardware":
		return u.perfEvents(p)
	case "watchpoint":
		return u.watchpoint(p)
	case "iter":
		return u.iterators(p)
	case "kprobe", "kretprobe", "fentry", "fexit":
		return u.kernelFunctions(p)
	case "func":
		return u.kernelSpan(p)
	case "uprobe", "uretprobe", "ufunc":
		return u.userFunctions(p)
	case "usdt":
		return u.staticProbes(p)
	}
	wrong(p.Pos, "%s: there are no points of the kind %s", p.Text, p.Provider)
	return nil
}

func fields(p *plan.Pattern, n int, form string) {
	if len(p.Args) != n {
		wrong(p.Pos, "%s: the form is %s", p.Text, form)
	}
	for _, a := range p.Args {
		if _, err := kernel.CompileGlob(a); err != nil {
			wrong(p.Pos, "%s: %v", p.Text, err)
		}
	}
}

func (u *unit) tracepoints(p *plan.Pattern) []*target {
	fields(p, 2, "tracepoint:CATEGORY:NAME")
	names, err := u.facts.MatchTracepoints(p.Args[0], p.Args[1])
	if err != nil {
		wrong(p.Pos, "%v", err)
	}
	var out []*target
	for _, n := range names {
		out = append(out, &target{kind: targetTracepoint, text: "tracepoint:" + n.String(), group: n.Group,
			name: n.Name, pos: p.Pos})
	}
	if len(out) == 0 {
		if _, err := u.facts.Tracepoint(p.Args[0], p.Args[1]); err != nil && !kernel.IsPattern(p.Args[0]+p.Args[1]) {
			wrong(p.Pos, "%v", err)
		}
		wrong(p.Pos, "no tracepoint matches %s", p.Text)
	}
	return out
}

func (u *unit) rawTracepoints(p *plan.Pattern) []*target {
	fields(p, 1, "rawtracepoint:NAME")
	module, name := moduleOf(p)
	names, err := u.facts.MatchRawTracepoints(name)
	if len(names) == 0 {
		u.mustBeModule(p, module)
	}
	if err != nil {
		wrong(p.Pos, "%v", err)
	}
	var out []*target
	for _, n := range names {
		out = append(out, &target{kind: targetRaw, text: "rawtracepoint:" + n, name: n, pos: p.Pos})
	}
	if len(out) == 0 {
		if _, err := u.facts.RawTracepoint(name); err != nil && !kernel.IsPattern(name) {
			wrong(p.Pos, "%v", err)
		}
		wrong(p.Pos, "no raw tracepoint matches %s", p.Text)
	}
	return out
}

func (u *unit) syscalls(p *plan.Pattern) []*target {
	fields(p, 1, "syscall:NAME")
	list := u.knownCalls(kernel.MatchSyscalls(p.Args[0]))
	if len(list) == 0 {
		wrong(p.Pos, "no system call matches %s%s", p.Text, hint(p.Args[0], kernel.SyscallNames()))
	}
	name := p.Args[0]
	if kernel.IsPattern(name) {
		name = "syscalls"
	}
	return []*target{{kind: targetSyscall, text: "syscall:" + p.Args[0], name: name, syscalls: list,
		all: p.Args[0] == "*", pos: p.Pos}}
}

// timer is profile:99hz, profile:hz:99, interval:1s, interval:ms:100.
func timer(p *plan.Pattern) []*target {
	t := &target{kind: targetProfile, text: p.Text, pos: p.Pos}
	if p.Provider == "interval" {
		t.kind = targetInterval
	}
	form := strings.Join(p.Args, ":")
	if len(p.Args) == 2 {
		form = p.Args[1] + p.Args[0]
	}
	if n, ok := strings.CutSuffix(form, "hz"); ok {
		hz, err := strconv.ParseUint(n, 10, 32)
		if err != nil || hz == 0 || hz > 1_000_000 {
			wrong(p.Pos, "%s: the rate is a whole number of hz from 1 to 1000000, such as profile:99hz", p.Text)
		}
		t.freq = hz
		return []*target{t}
	}
	d, err := time.ParseDuration(form)
	if err != nil || d <= 0 {
		wrong(p.Pos, "%s: want a rate or a duration: profile:99hz, interval:1s, interval:100ms", p.Text)
	}
	t.period = uint64(d)
	return []*target{t}
}

// someArgs reports whether another point of the probe has an argument of
// that name: then it is None where it is missing.
func (pr *probe) someArgs(name string) bool {
	if pr.argNames == nil {
		pr.argNames = map[string]bool{}
		for _, t := range pr.targets {
			for _, n := range t.argNames(pr.u) {
				pr.argNames[n] = true
			}
		}
	}
	return pr.argNames[name] || pr.argNames[strings.TrimSuffix(name, "_")]
}

// several reports whether the arguments of the probe are those of more than one
// point.
func (pr *probe) several() bool {
	n := 0
	for _, t := range pr.targets {
		n += t.points()
	}
	return n > 1
}

func (t *target) argNames(u *unit) []string {
	switch t.kind {
	case targetTracepoint:
		if tp, err := u.facts.Tracepoint(t.group, t.name); err == nil {
			return (&tracepointArgs{tp}).names()
		}
	case targetRaw:
		if rt, err := u.facts.RawTracepoint(t.name); err == nil {
			return (&rawArgs{rt}).names()
		}
	case targetIter:
		return (&iterArgs{params: t.iter.Params}).names()
	case targetSpan:
		var out []string
		for _, one := range append(append([]*target{}, t.starts...), t.ends...) {
			out = append(out, one.argNames(u)...)
		}
		return out
	case targetFunc, targetFuncSpan:
		var out []string
		for _, f := range t.funcs {
			for _, p := range f.params() {
				out = append(out, p.Name)
			}
		}
		return out
	case targetSyscall:
		var out []string
		for _, sc := range t.syscalls {
			for _, a := range sc.Args {
				out = append(out, a.Name)
			}
		}
		return out
	}
	return nil
}
