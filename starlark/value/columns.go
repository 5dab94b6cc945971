package value

import (
	"fmt"
	"strings"

	"go.starlark.net/starlark"
)

// checkColumns compares a key that user code writes with the columns that by= names,
// as bpfgen/infer does with those of kernel halves: output would have columns without
// names, or names without columns. A None counts as the part that it is elsewhere.
func (b *base) checkColumns(key starlark.Value) error {
	by := b.decl.By
	if parts := keyParts(key); len(by) > 0 && parts > 0 && parts != len(by) && parts != len(b.KeyNames()) {
		return fmt.Errorf("the key of %s %s has %s here, and by= names %s: %s",
			b.decl.Kind, b.name(), counted(parts, "part"), counted(len(by), "column"), strings.Join(by, ", "))
	}
	return nil
}

// keyParts is the number of columns that a key has in output, 0 without a key.
func keyParts(key starlark.Value) int {
	switch k := key.(type) {
	case nil:
		return 0
	case starlark.Tuple:
		return len(k)
	case *Record:
		return len(k.names)
	}
	return 1
}

func counted(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}
