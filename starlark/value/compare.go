package value

import (
	"fmt"

	"go.starlark.net/syntax"
)

// The message that values have no order, of types that only have == and !=.

// equality answers == and != for values that have no order; what can be
// compared of them instead is for who asks for one.
func equality(op syntax.Token, same bool, kind, instead string) (bool, error) {
	switch op {
	case syntax.EQL:
		return same, nil
	case syntax.NEQ:
		return !same, nil
	}
	return false, fmt.Errorf("%ss have no order: compare %s", kind, instead)
}
