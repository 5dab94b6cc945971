package value

import (
	"fmt"
	"testing"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/internal/plan"
)

// contended is a memory that a program works on, too: its step comes before the
// first operation on an entry that follows a reading of it.
type contended struct {
	*memory
	step func(*memory)
}

func (c *contended) program() {
	if c.step != nil {
		c.step(c.memory)
		c.step = nil
	}
}

func (c *contended) Pop(key, val []byte) (bool, error) {
	c.program()
	return c.memory.Pop(key, val)
}

func (c *contended) AddInt(key []byte, off int, delta int64) error {
	c.program()
	return c.memory.AddInt(key, off, delta)
}

func (c *contended) Swap(key []byte, off int, old, next uint64) (bool, error) {
	c.program()
	return c.memory.Swap(key, off, old, next)
}

// newContended makes a table whose entry a program sets (nil: removes) while user
// code works on it.
func newContended(t *testing.T, before, between *uint64) *Table {
	t.Helper()
	tb := NewTable(&plan.Container{Kind: plan.Table, Name: "t"})
	c := &contended{memory: newMemory(commKey, word, 8)}
	if err := tb.Bind(c, &Decoder{}); err != nil {
		t.Fatal(err)
	}
	key := make([]byte, 16)
	key[0] = 'a'
	set := func(m *memory, v *uint64) {
		delete(m.entries, string(key))
		if v != nil {
			m.entries[string(key)] = order.AppendUint64(nil, *v)
		}
	}
	set(c.memory, before)
	c.step = func(m *memory) { set(m, between) }
	return tb
}

// t[k] op= v of user code works on what a program has made of the entry meanwhile,
// whatever the operator, also where there was none when user code looked.
func TestUpdateBesideProgram(t *testing.T) {
	was, six := uint64(32), uint64(6)
	for op, want := range map[string]int{"+": 9, "-": 3, "*": 18, "//": 2, "%": 0, "&": 2, "|": 7, "^": 5, "<<": 48,
		">>": 0} {
		for _, before := range []*uint64{nil, &was} {
			tb := newContended(t, before, &six)
			evals(t, tb, [2]string{fmt.Sprintf("update(x, 'a', %q, 3)", op), "None"})
			if got, _, err := tb.Get(starlark.String("a")); err != nil || got.String() != fmt.Sprint(want) {
				t.Errorf("6 %s= 3 is %v, %v; want %d; there was an entry before: %v", op, got, err, want, before != nil)
			}
		}
	}
}

// Who finds nothing to remove has popped nothing.
func TestPopBesideProgram(t *testing.T) {
	was, six := uint64(32), uint64(6)
	evals(t, newContended(t, &was, nil), [2]string{`x.pop("a")`, "None"}, [2]string{`x.pop("a", 7)`, "7"})
	evals(t, newContended(t, &was, &six), [2]string{`x.pop("a")`, "6"}, [2]string{`x.pop("a")`, "None"})
}
