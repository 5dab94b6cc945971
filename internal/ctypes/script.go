package ctypes

import (
	"errors"
	"runtime"
	"strings"

	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
)

// All texts of types() of a script, read once.

// readTypes are types that were read, or the mistake, at its place in one of the texts.
type readTypes struct {
	types *Types
	text  int
	err   error
}

// OfScript are the types of all texts of a script, read once; none where it has no text. Where a text has a mistake,
// the place is that of the mistake in the script.
func OfScript(btf *kernel.BTF, texts []plan.TypesText) (*Types, plan.Pos, error) {
	if len(texts) == 0 {
		return &Types{}, plan.Pos{}, nil
	}
	list := make([]string, len(texts))
	for i, t := range texts {
		list[i] = t.Text
	}
	r := kernel.Once(btf, "types of a script:"+strings.Join(list, "\x00"), func() any {
		types, at, err := Read(btf, runtime.GOARCH, list...)
		return readTypes{types, at, err}
	}).(readTypes)
	if r.err == nil {
		return r.types, plan.Pos{}, nil
	}
	pos := texts[r.text].Pos
	if at := (*Error)(nil); errors.As(r.err, &at) {
		pos = texts[r.text].At(at.Line, at.Column)
	}
	return nil, pos, r.err
}
