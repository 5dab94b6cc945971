package value

import (
	"fmt"
	"hash/maphash"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/internal/escape"
)

// A Frame is one entry of a stack.
type Frame struct {
	Name   string // function; without a symbol file+0xoffset, or the address in hex
	Offset uint64 // into the function
	// Module is a kernel module, or the file of a user frame without its folder.
	Module string
	// Addr is the address as the stack has it.
	Addr uint64
	// User: it is of a program, not of the kernel.
	User bool
}

var (
	_ starlark.HasAttrs   = Frame{}
	_ starlark.Comparable = Frame{}
)

// Label gives `vfs_read+0x1b`, or `vfs_read` at its beginning.
func (f Frame) Label() string {
	if f.Offset == 0 {
		return f.Name
	}
	return fmt.Sprintf("%s+%#x", f.Name, f.Offset)
}

// Text is Label with the module behind it, as people read stacks:
// `nf_hook+0x12 [nf_tables]`, `malloc+0x1b (libc.so.6)`.
func (f Frame) Text() string {
	switch {
	case f.Module == "" || f.unnamed():
		return f.Label()
	case f.User:
		return f.Label() + " (" + f.Module + ")"
	}
	return f.Label() + " [" + f.Module + "]"
}

// unnamed: the name of a user frame without a symbol begins with its file.
func (f Frame) unnamed() bool {
	return f.User && len(f.Name) > len(f.Module) && f.Name[:len(f.Module)+1] == f.Module+"+"
}

func (f Frame) String() string       { return escape.Line(f.Label()) }
func (f Frame) Type() string         { return "frame" }
func (f Frame) Truth() starlark.Bool { return starlark.True }

// Freeze has nothing to do: a frame never changes.
func (f Frame) Freeze() {}

// Hash is the same for equal frames.
func (f Frame) Hash() (uint32, error) {
	return uint32(maphash.Comparable(frameSeed, f)), nil
}

var frameSeed = maphash.MakeSeed()

func (f Frame) AttrNames() []string { return []string{"addr", "module", "name", "offset"} }

// Attr gives name, offset, module (None for the kernel's own functions and for
// memory without a file) and addr.
func (f Frame) Attr(name string) (starlark.Value, error) {
	switch name {
	case "name":
		return starlark.String(f.Name), nil
	case "offset":
		return starlark.MakeUint64(f.Offset), nil
	case "addr":
		return starlark.MakeUint64(f.Addr), nil
	case "module":
		if f.Module == "" {
			return starlark.None, nil
		}
		return starlark.String(f.Module), nil
	}
	return nil, nil
}

// CompareSameType knows == and !=.
func (f Frame) CompareSameType(op syntax.Token, y starlark.Value, _ int) (bool, error) {
	return equality(op, f == y.(Frame), "frame", "their .name or .addr")
}
