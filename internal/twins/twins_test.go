package twins_test

import (
	"strings"
	"testing"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/twins"
	"github.com/startrace/startrace/starlark/value"
)

func table(t *testing.T, name string, items map[string]int) *value.Table {
	t.Helper()
	made := value.NewTable(&plan.Container{Kind: plan.Table, Name: name})
	set(t, made, items)
	return made
}

func set(t *testing.T, to value.Container, items map[string]int) {
	t.Helper()
	for k, v := range items {
		if err := to.(*value.Table).SetKey(starlark.String(k), starlark.MakeInt(v)); err != nil {
			t.Fatal(err)
		}
	}
}

// A twin begins with what the script has put into its container. What the two hold in the end is compared by entry, and
// containers that one side alone changes are not.
func TestCompare(t *testing.T) {
	var w twins.Twins
	same := table(t, "same", map[string]int{"a": 1})
	set(t, w.Of(same, same.Decl(), false), map[string]int{"b": 2})
	set(t, same, map[string]int{"b": 2})
	differs := table(t, "differs", map[string]int{"a": 1})
	set(t, w.Of(differs, differs.Decl(), false), map[string]int{"a": 7})
	alone := table(t, "alone", nil)
	set(t, w.Of(alone, alone.Decl(), true), map[string]int{"a": 7})
	w.Compare()
	if len(w.Same) != 1 || w.Same[same.Decl().Title()] != 2 {
		t.Errorf("the same are %v, want the table of 2 entries", w.Same)
	}
	if len(w.Differ) != 1 || !strings.Contains(w.Differ[0], "differs") ||
		!strings.Contains(w.Differ[0], `"a": user space has ["1"], the kernel ["7"]`) {
		t.Errorf("what differs: %q", w.Differ)
	}
	if len(w.Alone) != 1 || w.Alone[0] != alone.Decl().Title() {
		t.Errorf("alone are %q", w.Alone)
	}
}
