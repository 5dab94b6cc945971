package infer

import (
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/internal/plan"
)

// The room for the strings that user code puts into tables and cells.
//
// Kernel halves say how long the strings in a table or cell can be: 15 bytes of e.comm, 256 of what is captured. A
// constant says that only where nobody else puts a string there. In
//
//	mode = cell("all")
//	probe("syscall:read", lambda e: print(e.comm), where = lambda e: mode.get() in ("all", e.comm))
//	after("1s", lambda: mode.set("a longer name"))
//
// the timer needs more room than "all" has, so that the cell gets as much as any captured string.

// putting are the methods of tables and cells that put a value there.
var putting = map[string]bool{"set": true, "add": true}

// userStores are what user code puts into tables and cells.
type userStores struct{ *unit }

// of notes the tables and cells into which a user half puts something, beside what the kernel does for it.
func (u userStores) of(fn *plan.Func, moved map[syntax.Node]bool) {
	u.add(newChangers(putting, moved), fn)
}

// add notes the tables and cells that a value of user code may put something into.
func (u userStores) add(by changers, v plan.Value) {
	out := &changes{map[int]bool{}, map[string]bool{}}
	(&changeScan{by, nil, out}).value(v)
	for id := range out.containers {
		u.stored[id] = true
	}
}

// makeRoom gives the tables and cells into which user code puts something room for strings where kernel halves have
// constants. At the prompt that can be any of them, since more code can follow.
func (u userStores) makeRoom() {
	timers := newChangers(putting, nil)
	for _, v := range u.plan.Later {
		u.add(timers, v)
	}
	u.used.All(func(id int, _ bool) {
		t := u.conts.At(id)
		kept := t.c.Kind == plan.Table || t.c.Kind == plan.Cell
		if !kept || t.fixed || !(u.stored[id] || t.c.Filled || u.res.Tree.Several) {
			return
		}
		key, val := roomyConstants(t.key, u.strMax), roomyConstants(t.val, u.strMax)
		if !key.Equal(t.key) || !val.Equal(t.val) {
			again := *t
			again.key, again.val, u.changed = key, val, true
			u.conts.Set(id, &again)
		}
	})
}
