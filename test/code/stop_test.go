package code

import (
	"errors"
	"testing"

	"github.com/startrace/startrace/bpfgen"
	"github.com/startrace/startrace/bpfgen/infer"
	"github.com/startrace/startrace/builtins"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/starlark/script"
)

// Compiling asks again and again whether it is wanted still, in both halves and in
// all passes, and gives up where it is not.
func TestStop(t *testing.T) {
	facts := smallKernel(t)
	gone := errors.New("gone")
	for _, g := range growths {
		if g.name != "ifs" && g.name != "userbody" && g.name != "probes" {
			continue
		}
		h := script.New(script.Options{Constant: kernel.Constant, Runtime: builtins.Idle{}})
		if err := h.ParseText("t.star", []byte(g.script(50))); err != nil {
			t.Fatal(err)
		}
		if err := h.Run(nil); err != nil {
			t.Fatal(err)
		}
		asked := 0
		until := func(n int) func() error {
			asked = 0
			return func() error {
				if asked++; asked == n {
					return gone
				}
				return nil
			}
		}
		for _, n := range []int{1, 40} {
			if _, err := infer.Plan(h.Plan(), facts, infer.Options{Stop: until(n)}); err != gone || asked != n {
				t.Errorf("%s: %v, asked %d times, want %d", g.name, err, asked, n)
			}
		}
		res, err := infer.Plan(h.Plan(), facts, infer.Options{Stop: until(0)})
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{1, 20} {
			if _, err := bpfgen.Generate(res.Tree, bpfgen.Options{Arch: "amd64", Stop: until(n)}); err != gone ||
				asked != n {
				t.Errorf("%s: %v, asked %d times, want %d", g.name, err, asked, n)
			}
		}
		if _, err := bpfgen.Generate(res.Tree, bpfgen.Options{Arch: "amd64", Stop: until(0)}); err != nil {
			t.Error(err)
		}
	}
}
