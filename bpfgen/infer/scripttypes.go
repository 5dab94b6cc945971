package infer

import (
	"errors"
	"runtime"
	"strings"

	"github.com/startrace/startrace/internal/ctypes"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
)

// Types that the script declares by types() stand before those of the kernel.

// readTypes are types that were read, or the mistake, at its place in one of the texts.
type readTypes struct {
	types *ctypes.Types
	text  int
	err   error
}

// scriptTypes are those of all texts of the script; none where it has no text.
func scriptTypes(u *unit) *ctypes.Types {
	if len(u.plan.Types) == 0 {
		return &ctypes.Types{}
	}
	texts := make([]string, len(u.plan.Types))
	for i, t := range u.plan.Types {
		texts[i] = t.Text
	}
	btf := u.btf(u.plan.Types[0].Pos)
	// Units of one script have the same types, so that their tables can have the same keys.
	r := kernel.Once(btf, "types of a script:"+strings.Join(texts, "\x00"), func() any {
		types, at, err := ctypes.Read(btf, runtime.GOARCH, texts...)
		return readTypes{types, at, err}
	}).(readTypes)
	r.mustBeGood(u)
	return r.types
}

// mustBeGood ends the walk with the mistake in a text.
func (r readTypes) mustBeGood(u *unit) {
	if r.err == nil {
		return
	}
	at, pos := (*ctypes.Error)(nil), plan.Pos{}
	if pos = u.plan.Types[r.text].Pos; errors.As(r.err, &at) {
		pos = u.plan.Types[r.text].At(at.Line, at.Column)
	}
	wrong(pos, "%v", r.err)
}
