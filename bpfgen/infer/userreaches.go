package infer

import "github.com/startrace/startrace/internal/plan"

// Which tables and cells the values of a user half lead to.

// noteContainers notes the tables and cells that a value of user code leads to. reads says that this place only asks
// them.
func (pr *probe) noteContainers(c plan.Value, pos plan.Pos, reads bool, seen map[*plan.Func]bool) {
	switch c := c.(type) {
	case plan.Ref:
		if pr.handler.inUser || pr.starter.inUser {
			pr.u.noteUse(c.ID, true)
		}
		if pr.u.plan.Placement != plan.InBoth && (c.Kind == plan.Table || c.Kind == plan.Cell) {
			why := pr.handler.why + pr.starter.why
			use := userUse{c: c.Container, pos: pos, why: why, probe: pr.p.ID, at: pr.p.Pos,
				reads: reads, own: pr.p.Kernel != nil || pr.p.Keep > 0}
			pr.u.userUses = append(pr.u.userUses, use)
		}
	case plan.List:
		pr.noteAll(c, pos, seen)
	case plan.Tuple:
		pr.noteAll(c, pos, seen)
	case plan.Dict:
		for _, entry := range c {
			pr.noteContainers(entry.Value, pos, false, seen)
		}
	case plan.Record:
		before := len(pr.u.userUses)
		for _, f := range c {
			pr.noteContainers(f.Value, pos, false, seen)
		}
		for i := range pr.u.userUses[before:] {
			pr.u.userUses[before+i].among = true
		}
	case plan.Opaque:
		if c.Of != nil {
			pr.noteContainers(c.Of, pos, !changing[c.Method], seen)
		}
	case *plan.Func:
		if seen[c] {
			return
		}
		seen[c] = true
		pr.noteCaptured(c, pos, seen)
	}
}

// noteCaptured is noteContainers of what a function has.
func (pr *probe) noteCaptured(fn *plan.Func, pos plan.Pos, seen map[*plan.Func]bool) {
	does := pr.u.changers.of(fn)
	note := func(v plan.Value) {
		ref, is := v.(plan.Ref)
		pr.noteContainers(v, pos, is && !does.containers[ref.ID], seen)
	}
	for _, name := range sortedKeys(fn.Names) {
		note(fn.Names[name])
	}
	for _, v := range fn.Free {
		if v != nil {
			note(v)
		}
	}
}

// noteAll is noteContainers of elements.
func (pr *probe) noteAll(list []plan.Value, pos plan.Pos, seen map[*plan.Func]bool) {
	for _, v := range list {
		pr.noteContainers(v, pos, false, seen)
	}
}
