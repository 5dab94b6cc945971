package attach

import (
	"reflect"
	"testing"

	"github.com/startrace/startrace/bpfgen/tree"
)

// Each kind of attaching gives all answers.
func TestWays(t *testing.T) {
	names := map[string]tree.AttachKind{}
	for _, kind := range tree.AttachKinds() {
		w := reflect.ValueOf(wayOf(kind))
		for i := range w.NumField() {
			switch name := w.Type().Field(i).Name; {
			case name == "probes" || name == "returns": // some stand at no place
			case w.Field(i).IsZero():
				t.Errorf("%s gives no %s", tree.Attach{Kind: kind}, name)
			}
		}
		name := pointName(&tree.Attach{Kind: kind, Group: "g", Name: "n", Places: []tree.Place{{Func: "f"}}})
		if other, taken := names[name]; taken || name == "" {
			t.Errorf("%s and %s have one name, %q", tree.Attach{Kind: kind}, tree.Attach{Kind: other}, name)
		}
		names[name] = kind
	}
}

// A kind that is forgotten here is not taken for another one.
func TestUnknownWay(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a kind that nobody knows has a way")
		}
	}()
	wayOf(255)
}
