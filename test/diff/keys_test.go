package diff

import (
	"fmt"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// bareKeys are keys of which the compiler knows all, or of which little or nothing has a value.
var bareKeys = []string{
	"FAULT", "(e.args.u8, FAULT)", "(FAULT, FAULT)", "(FAULT,)", "int32(FAULT)", "path(FAULT)",
	"errno(FAULT)", `getattr(e.args, "missing", FAULT)`, "(FAULT if e.args.flag else None)",
	"(FAULT if e.args.flag else e.args.s8)", "(FAULT if e.args.flag else (1, 2))",
	"record()", "record(x = None)", "record(x = FAULT)", "record(x = FAULT, y = None)", "record(x = ())", "((),)",
	"((), ())", "((), e.args.u8)", "(record(), record())", "record(x = record())", "K", "(K, K)",
	`record(x = e.args.u8 if e.args.flag else None)`,
}

// keyUses is a function that does with the key k all that kernel halves do with keys.
const keyUses = `K = record(x = None, y = FAULT)
F_T, F_U, F_A = table(), table(), table()
F_N, F_S, F_H = count(), total(), hist()
def F(e):
    k = KEY
    was = k in F_T
    F_T[k] = e.args.u16
    F_U.set(k, k)
    F_A.add(k, 3)
    F_N[k].add()
    F_N[k].add(2)
    F_S[k].add(e.args.u8)
    F_H[k].add(e.args.u8)
    got = F_T.get(k)
    F_T[k] = F_T[k] + 1
    if e.args.flag:
        F_U.pop(k)
        F_A.remove(k)
    return record(was = was, got = got, key = k, now = F_T[k], popped = F_T.pop(k), gone = k in F_T)
`

// TestBareKeys compares uses of containers with such keys in both halves: what each use gives, and what is left.
func TestBareKeys(t *testing.T) {
	need.Loading(t)
	c := &checker{facts: facts(t), inputs: Inputs(3, 6)}
	for i, key := range bareKeys {
		name := fmt.Sprintf("f%d", i)
		text := strings.NewReplacer("F_", name+"_", "KEY", key, "def F(", "def "+name+"(").Replace(keyUses)
		c.check([]*Program{{Name: name, Text: text}})
	}
	for _, f := range c.found {
		t.Error(f)
	}
	if want := len(bareKeys); c.programs != want {
		t.Errorf("%d programs ran, want %d", c.programs, want)
	}
}
