package prompt

import (
	"fmt"
	"strings"

	"go.starlark.net/starlark"
)

// How the parameters of a function are shown by help.

func signature(fn *starlark.Function) string {
	params := parameters(fn)
	for i := range params {
		if d := fn.ParamDefault(i); d != nil {
			params[i] += " = " + d.String()
		}
	}
	return fmt.Sprintf("%s(%s), defined at %s", fn.Name(), strings.Join(params, ", "), fn.Position())
}

func parameters(fn *starlark.Function) (names []string) {
	for i := range fn.NumParams() {
		name, _ := fn.Param(i)
		names = append(names, name)
	}
	return names
}
