package infer

import (
	"strings"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
)

// A finder finds the points of this kernel that patterns mean.
type finder struct{ *unit }

func (u *unit) finder() finder { return finder{u} }

// A kind is what infer knows of a kind of points: how its patterns expand, and for functions the way to attach that
// its name says.
type kind struct {
	expand func(f finder, p *plan.Pattern) []*target
	mech   tree.AttachKind
	// mayWait refuses a pattern that would wait for a module in vain; nil: none is.
	mayWait func(f finder, p *plan.Pattern)
}

// kinds are all that internal/point has, by their names there.
var kinds map[string]kind

func init() { // the functions refer to the table
	kinds = map[string]kind{
		"tracepoint":    {expand: finder.tracepoints},
		"rawtracepoint": {expand: finder.rawTracepoints, mayWait: finder.hasModuleTypes},
		"syscall":       {expand: finder.syscalls},
		"func":          {expand: finder.kernelSpan},
		"kprobe":        {expand: finder.kernelFunctions, mech: tree.AttachKprobe},
		"kretprobe":     {expand: finder.kernelFunctions, mech: tree.AttachKretprobe},
		"fentry":        {expand: finder.kernelFunctions, mech: tree.AttachFentry},
		"fexit":         {expand: finder.kernelFunctions, mech: tree.AttachFexit},
		"ufunc":         {expand: program(inPrograms.userFunctions), mech: tree.AttachUprobe},
		"uprobe":        {expand: program(inPrograms.userFunctions), mech: tree.AttachUprobe},
		"uretprobe":     {expand: program(inPrograms.userFunctions), mech: tree.AttachUretprobe},
		"usdt":          {expand: program(inPrograms.staticProbes)},
		"profile":       {expand: profile},
		"interval":      {expand: interval},
		"software":      {expand: finder.perfEvents},
		"hardware":      {expand: finder.perfEvents},
		"watchpoint":    {expand: program(inPrograms.watchpoint)},
		"iter":          {expand: finder.iterators},
		"lsm":           {expand: finder.hooks},
	}
}

// program is a kind of points in user programs.
func program(find func(inPrograms, *plan.Pattern) []*target) func(finder, *plan.Pattern) []*target {
	return func(f finder, p *plan.Pattern) []*target { return find(f.inPrograms(), p) }
}

// kindOf is the kind of a pattern.
func kindOf(p *plan.Pattern) kind {
	k, known := kinds[p.Provider]
	if !known {
		panic("nothing expands points of the kind " + p.Provider)
	}
	return k
}

func (u finder) expandPattern(p *plan.Pattern) []*target { return kindOf(p).expand(u, p) }

// expand gives the concrete points of a list.
func (u finder) expand(list []plan.Point, pos plan.Pos) []*target {
	var out []*target
	for _, p := range list {
		if len(list) > 1 && u.leftOut(p) {
			continue
		}
		out = append(out, u.expandOne(p)...)
	}
	if len(list) > 1 {
		out = distinct(out)
	}
	if len(out) == 0 && !u.late && !u.waiting() {
		wrong(pos, "this probe has no points")
	}
	return out
}

func (u finder) expandOne(p plan.Point) []*target {
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
					t.arms = append(t.arms, armOf{arm.Fn, p})
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
func (u finder) expandFirst(p *plan.First) []*target {
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
				c.Chosen = append(c.Chosen, t.names(t)...)
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
		n += len(t.names(t))
	}
	return n > 1
}
