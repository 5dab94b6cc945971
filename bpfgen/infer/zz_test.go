package infer_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/startrace/startrace/bpfgen/infer"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/starlark/script"
)

func TestZZ(t *testing.T) {
	facts := kernel.Open(kernel.Options{})
	for _, f := range os.Args[len(os.Args)-1:] {
		h := script.New(script.Options{Constant: kernel.Constant, Std: os.DirFS("/work/shared/scripts/std")})
		if err := h.RunFile(f, nil); err != nil {
			fmt.Println(f, "RUN", err)
			continue
		}
		res, err := infer.Unit(h.Plan(), facts)
		if err != nil {
			fmt.Println(f, "INFER", err)
			continue
		}
		s := res.Tree.String()
		for _, p := range res.Placed {
			fmt.Println(p.Role, p.Side, p.Why, p.Sends)
		}
		fmt.Println(s)
	}
}
