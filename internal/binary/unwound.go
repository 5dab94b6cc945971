package binary

import (
	"fmt"
	"runtime"

	"github.com/startrace/startrace/internal/elffile"
	"github.com/startrace/startrace/internal/gofunc"
)

// Functions through which exceptions pass are probed where they return, as
// those of Go: an exception finds its way by return addresses, and a return
// probe replaces them (the program ends by std::terminate). A call that an
// exception ends has no return.

// unwound adds the returns of a function of C++ or Rust, or says why not.
func unwound(e *elffile.File, fn elffile.Function, out Function) Function {
	found, err := addReturns(e, fn, out)
	if err != nil && out.NoReturn == "" {
		out.NoReturn = err.Error()
	}
	if err != nil {
		return out
	}
	return found
}

func addReturns(e *elffile.File, fn elffile.Function, out Function) (Function, error) {
	if fn.Size == 0 {
		return out, fmt.Errorf("the length of %s of %s is not known, so its returns cannot be found, and exceptions pass through it", fn.Name, e.Path)
	}
	parts := append([]elffile.Function{fn}, e.Parts(fn)...)
	within := func(addr uint64) bool {
		for _, p := range parts {
			if addr >= p.Addr && addr < p.Addr+p.Size {
				return true
			}
		}
		return false
	}
	for _, p := range parts {
		code, err := e.Code(p.Addr, p.Size)
		if err != nil {
			return out, err
		}
		returns, err := gofunc.FindReturns(runtime.GOARCH, code)
		if err != nil {
			return out, fmt.Errorf("%s of %s: %w", p.Name, e.Path, err)
		}
		for _, at := range returns.At {
			out.Returns = append(out.Returns, p.Offset+uint64(at))
		}
		for i, at := range returns.Tail {
			if target := returns.Targets[i]; target == gofunc.Elsewhere || !within(p.Addr+uint64(target)) {
				out.Returns = append(out.Returns, p.Offset+uint64(at))
				out.Tails++
			}
		}
	}
	if len(out.Returns) == 0 {
		return out, fmt.Errorf("%s of %s never returns", fn.Name, e.Path)
	}
	return out, nil
}
