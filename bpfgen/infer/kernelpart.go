package infer

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.starlark.net/resolve"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/bpfgen/scope"
	"github.com/startrace/startrace/internal/plan"
)

// Which changes of tables and cells the kernel makes for a user half, before it sends the event.
//
// The kernel's part of a handler in user space are its changes of what kernel halves read, with the conditions and
// loops around them. Of
//
//	def wakes(e):
//	    print(e.comm)
//	    if e.pid > 4:
//	        print("large")
//	        targets[e.pid] = 1
//
// the kernel runs
//
//	    if e.pid > 4:
//	        targets[e.pid] = 1
//
// before it sends the event, and user space runs the rest. The part is walked as any function of a kernel half. Where
// that refuses it, as only user space knows the condition, the parts of single containers are tried. All changes of a
// container are made on one side, for their order is part of what they mean.

// parts are the parts of the handler that the kernel can run, which are emitted.
func (l *laterPart) parts(b *body, ev *event) (out []*kernelPart) {
	all := sitesIn(resolved(l.fn).Body, func(n syntax.Node) bool { return len(l.changed(n)) > 0 })
	if len(all) == 0 || len(all) > maxParts {
		return nil
	}
	take := func(sites []syntax.Node) bool {
		k := &kernelPart{laterPart: l, sites: sites}
		if !k.emit(b, ev) {
			return false
		}
		out = append(out, k)
		return true
	}
	if take(all) {
		return out
	}
	if groups := l.byContainer(all); len(groups) > 1 {
		for _, group := range groups {
			take(group)
		}
	}
	return out
}

// maxParts bounds the changes of a handler.
const maxParts = 64

// byContainer puts the changes of one container together. What changes several stands for itself.
func (l *laterPart) byContainer(sites []syntax.Node) (out [][]syntax.Node) {
	at := map[int]int{}
	for _, s := range sites {
		changed := slices.Sorted(maps.Keys(l.changed(s)))
		if i, ok := at[changed[0]]; ok && len(changed) == 1 {
			out[i] = append(out[i], s)
			continue
		}
		if len(changed) == 1 {
			at[changed[0]] = len(out)
		}
		out = append(out, []syntax.Node{s})
	}
	return out
}

// emit has the kernel run the part, if it can.
func (k *kernelPart) emit(b *body, ev *event) bool {
	var body []syntax.Stmt
	body, k.gone = cut(resolved(k.fn).Body, k.sites)
	if !k.apart() || !k.readable(body) || k.mayEndBefore() {
		return false
	}
	u, m := b.u, b.mark()
	before := len(u.diags)
	block, r := b.tries(func() { b.given(ev, k.function(body)) })
	if r != nil || len(u.diags) > before {
		b.back(m)
		return false
	}
	b.block.Stmts = append(b.block.Stmts, block.Stmts...)
	// Such a change is no reason to refuse that others in user space change the container, too, except where this
	// probe's own filter reads it. It is one to warn of where they read it.
	written := u.written
	u.written, u.askers = m.learnt.written, m.learnt.askers
	for id := range k.all() {
		at, ok := written.Get(id)
		if ok && k.pr.asked(id) {
			u.written.Set(id, at)
		}
		u.made.Set(id, append(slices.Clip(u.made.At(id)), maker{k.pr.p.ID, at, k.pr.p.Pos}))
	}
	return true
}

// function is the part as a function of the script.
func (k *kernelPart) function(body []syntax.Stmt) *plan.Func {
	def, fn := *resolved(k.fn), *k.fn
	def.Body = body
	fn.Lambda, fn.Def = nil, &syntax.DefStmt{Def: k.fn.Pos, Body: body, Function: &def}
	if fn.Def.Params = def.Params; k.fn.Def != nil {
		fn.Def.Name = k.fn.Def.Name
	}
	return &fn
}

// all are the containers that the part changes.
func (k *kernelPart) all() map[int]bool {
	out := map[int]bool{}
	for _, s := range k.sites {
		maps.Copy(out, k.changed(s))
	}
	return out
}

// apart reports whether the rest of the handler does not have what the part changes. What it reads there is to be what
// was there before the change, and what else it changes is to be changed in the order of the handler.
func (k *kernelPart) apart() bool {
	changed := k.all()
	for _, s := range resolved(k.fn).Body {
		for id := range k.left(s) {
			if changed[id] {
				return false
			}
		}
	}
	return true
}

// left are the containers that user space has to do with in a statement, timers aside: they run at a time of their own.
func (k *kernelPart) left(s syntax.Node) map[int]bool {
	out := map[int]bool{}
	timed := map[syntax.Node]bool{}
	syntax.Walk(s, func(n syntax.Node) bool {
		if n == nil || k.gone[n] || timed[n] || k.isTimed(n) {
			return false
		}
		switch n := n.(type) {
		case *syntax.CallExpr:
			for _, a := range k.givenToTimer(n) {
				timed[a] = true
			}
		case *syntax.AssignStmt:
			return !k.renames(n)
		case *syntax.Ident:
			maps.Copy(out, reachedFrom(k.value(n), map[*plan.Func]bool{}))
		}
		return true
	})
	return out
}

// readable reports whether the kernel may read all that the part has: the containers that it changes, and those that
// kernel halves read anyhow and the handler does not change, and no list or dict, which user code may change.
func (k *kernelPart) readable(body []syntax.Stmt) bool {
	changed, does := k.all(), k.pr.u.changers.of(k.fn)
	ok := true
	may := func(id int) bool { return changed[id] || k.asked(id) && !does.containers[id] }
	for _, s := range body {
		syntax.Walk(s, func(n syntax.Node) bool {
			x, is := n.(syntax.Expr)
			if !is || !ok {
				return ok
			}
			v, named := k.named(x)
			if !named {
				return true
			}
			ok = !mayChange(v)
			for reached := range reachedFrom(v, map[*plan.Func]bool{}) {
				ok = ok && may(reached)
			}
			return false
		})
	}
	return ok
}

// named is the value of a name, or of a field of a record of the script by its name.
func (l *laterPart) named(x syntax.Expr) (plan.Value, bool) {
	switch x := x.(type) {
	case *syntax.Ident:
		return l.value(x), true
	case *syntax.DotExpr:
		of, _ := l.named(x.X)
		if r, ok := of.(plan.Record); ok {
			if i := slices.IndexFunc(r, func(f plan.RecordField) bool { return f.Name == x.Name.Name }); i >= 0 {
				return r[i].Value, true
			}
		}
	}
	return nil, false
}

// reachedFrom are the containers that a value is, that are in it, or that a function has.
func reachedFrom(v plan.Value, seen map[*plan.Func]bool) map[int]bool {
	out := map[int]bool{}
	reach := func(v plan.Value) { maps.Copy(out, reachedFrom(v, seen)) }
	switch v := v.(type) {
	case plan.Ref:
		out[v.ID] = true
	case plan.Opaque:
		reach(v.Of)
	case *plan.Func:
		if seen[v] {
			return out
		}
		seen[v] = true
		for _, x := range v.Names {
			reach(x)
		}
		for _, x := range slices.Concat(v.Free, v.Defaults) {
			reach(x)
		}
	default:
		for _, x := range plan.Inside(v) {
			reach(x)
		}
	}
	return out
}

// asked reports whether a kernel half reads a container such that a change in user space is late.
func (l *laterPart) asked(id int) bool {
	return l.pr.asked(id) || l.pr.p.Kernel == nil && l.pr.p.Keep == 0 && l.pr.u.askedBy(id, l.pr.p.ID) != nil
}

// value is the container or the function of the script that a name stands for, nil of others.
func (l *laterPart) value(id *syntax.Ident) plan.Value {
	bind, ok := id.Binding.(*resolve.Binding)
	if !ok {
		return nil
	}
	if c := l.names[bind.First]; c != nil {
		return plan.Ref{Container: c}
	}
	frame := scope.Frame[uval]{Fn: l.fn, Def: resolved(l.fn)}
	v, _ := frame.Lookup(id, captured)
	return v.v.c
}

// otherNames finds the variables and parameters of the handler that are another name of a container.
func (l *laterPart) otherNames() {
	l.names = map[*syntax.Ident]*plan.Container{}
	def := resolved(l.fn)
	sets := map[*resolve.Binding]int{}
	syntax.Walk(&syntax.ForStmt{Vars: noName, X: noName, Body: def.Body}, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.AssignStmt:
			count(sets, n.LHS)
		case *syntax.ForStmt:
			count(sets, n.Vars)
		}
		return true
	})
	for i, v := range l.fn.Defaults {
		if ref, ok := v.(plan.Ref); ok && i > 0 && sets[def.Locals[i]] == 0 {
			l.names[def.Locals[i].First] = ref.Container
		}
	}
	for _, s := range def.Body {
		as, ok := s.(*syntax.AssignStmt)
		if !ok || as.Op != syntax.EQ {
			continue
		}
		to, from := nameIn(as.LHS), nameIn(as.RHS)
		if ref, ok := l.value(from).(plan.Ref); ok && to != noName && sets[to.Binding.(*resolve.Binding)] == 1 {
			l.names[to.Binding.(*resolve.Binding).First] = ref.Container
		}
	}
}

// count counts how often variables are assigned.
func count(sets map[*resolve.Binding]int, to syntax.Expr) {
	for _, b := range bound(to, nil) {
		sets[b]++
	}
}

// renames reports whether a statement gives a container another name.
func (l *laterPart) renames(s *syntax.AssignStmt) bool {
	bind, ok := nameIn(s.LHS).Binding.(*resolve.Binding)
	return ok && l.names[bind.First] != nil
}

// changed are the containers that a statement or a call changes which the kernel could run. It is empty where it
// changes one that no kernel half reads, too, or in a way of which only user space knows.
func (l *laterPart) changed(n syntax.Node) map[int]bool {
	out := map[int]bool{}
	if x, ok := n.(*syntax.CallExpr); ok {
		if fn, ok := l.value(nameIn(x.Fn)).(*plan.Func); ok {
			maps.Copy(out, l.pr.u.changers.of(fn).containers)
			for i, a := range x.Args {
				ref, ok := l.value(nameIn(argValue(a))).(plan.Ref)
				if ok && starOf(a) == 0 && !l.pr.u.changers.readsArgument(knownVal(constant(fn)), x, i) {
					out[ref.ID] = true
				}
			}
		}
		n = &syntax.ExprStmt{X: x}
	}
	if id := changedBy(n); id != nil {
		if ref, ok := l.value(id).(plan.Ref); ok {
			out[ref.ID] = true
		}
	}
	for id := range out {
		if kind := l.pr.u.plan.Containers[id].Kind; kind != plan.Table && kind != plan.Cell || !l.asked(id) ||
			l.late(id) {
			return nil
		}
	}
	return out
}

// noName is a name that stands for nothing.
var noName = &syntax.Ident{}

// nameIn is x as a name; noName: it is none.
func nameIn(x syntax.Expr) *syntax.Ident {
	if id, ok := unparen(x).(*syntax.Ident); ok {
		return id
	}
	return noName
}

// madeByKernel are the changes that the kernel makes for the handler, in words: "table t at a.star:4:5".
func (p *projection) madeByKernel() (out []string) {
	for _, part := range p.parts {
		if p.placed.pr.u.stays[p.placed.key()] {
			return nil
		}
		for _, s := range part.sites {
			var names []string
			for _, id := range slices.Sorted(maps.Keys(part.changed(s))) {
				c := part.pr.u.plan.Containers[id]
				names = append(names, fmt.Sprintf("%s %s", c.Kind, name(c)))
			}
			text := fmt.Sprintf("%s at %s", strings.Join(names, " and "), start(s))
			if !slices.Contains(out, text) { // a call is a statement, too
				out = append(out, text)
			}
		}
	}
	return out
}
