package bpfgen

import (
	"errors"
	"strings"
	"testing"

	"go.starlark.net/syntax"

	"github.com/startrace/startrace/bpfgen/tree"
)

// More spans by thread than the program that follows threads has maps for are
// refused at the first one too many, before anything is compiled.
func TestTooManySpans(t *testing.T) {
	file := "t.star"
	unit := func(n int) *tree.Unit {
		u := &tree.Unit{}
		for i := range n {
			u.Spans = append(u.Spans, &tree.Span{Probe: i, Size: 1, Pos: syntax.MakePosition(&file, int32(i+1), 1)})
		}
		return u
	}
	if _, err := Generate(unit(maxMaps-spanMaps), Options{Arch: "amd64"}); err != nil {
		t.Error(err)
	}
	_, err := Generate(unit(2000), Options{Arch: "amd64"})
	var limit *LimitError
	if !errors.As(err, &limit) || !strings.HasPrefix(limit.Error(),
		"t.star:63:1: the script has 2000 probes and spans") ||
		!strings.Contains(limit.Error(), "62 are the most") ||
		!strings.Contains(limit.Error(), "give one probe several points") {
		t.Errorf("got %v", err)
	}
}
