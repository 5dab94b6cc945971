package results

import (
	"testing"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/internal/render"
	"github.com/startrace/startrace/starlark/value"
)

// The names of a frame are made once in a table, and those of frames with other names are their own.
func TestFramesAreNamedOnce(t *testing.T) {
	f := value.Frame{Name: "read", Offset: 3, Module: "libc.so.6", Path: "/lib/libc.so.6", Addr: 0x103, User: true}
	same, other := f, f
	same.Addr = 0x903
	other.Path = "/opt/libc.so.6"
	var p plainer
	first := p.frame(f, false)
	if p.frame(same, false) != first || *first != p.value(starlark.Value(f), 0).(render.Frame) {
		t.Errorf("%+v is named again as %+v", first, p.frame(same, false))
	}
	if p.frame(other, false).Whole == first.Whole || p.frame(f, true).Function != "read+0x3" ||
		first.Function != "read" {
		t.Errorf("%+v has the names of another frame: %+v, %+v", first, p.frame(other, false), p.frame(f, true))
	}
}
