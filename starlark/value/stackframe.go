package value

import (
	"fmt"
	"hash/maphash"
	"path"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/internal/escape"
)

// One frame of a stack as a value: its name, offset, module, file and line as text, and its attributes.

// A Frame is one entry of a stack.
type Frame struct {
	Name   string // function; without a symbol file+0xoffset, or the address in hex
	Offset uint64 // into the function
	// Module is a kernel module, or the file of a user frame without its folder.
	Module string
	// Path is that file with its folder, as the process sees it: files of one name in two folders have each their own
	// functions.
	Path string
	// Addr is the address as the stack has it.
	Addr uint64
	// User: it is of a program, not of the kernel.
	User bool
	// File and Line are where it is in the source, by the whole name of the file; "" where that is not known, or nobody
	// asked for it before: then Source finds it.
	File string
	Line int
	// Inlined: the compiler has put the code of the function into that of the next frame.
	Inlined bool
	// Source finds File and Line of the function when a script asks; nil where there is none.
	Source FrameSource
}

// A FrameSource finds where a frame is in the source.
type FrameSource interface {
	// Place gives the file by its whole name, "" where that is not known.
	Place() (file string, line int)
}

var (
	_ starlark.HasAttrs   = Frame{}
	_ starlark.Comparable = Frame{}
)

// Label gives `vfs_read+0x1b`, or `vfs_read` at its beginning; with the line of the source where that was asked for,
// `main prog.c:12`.
func (f Frame) Label() string { return f.function() + f.place() }

func (f Frame) function() string {
	if f.Offset == 0 {
		return f.Name
	}
	return fmt.Sprintf("%s+%#x", f.Name, f.Offset)
}

// place is the line of the source behind a name.
func (f Frame) place() string {
	if f.File == "" {
		return ""
	}
	return fmt.Sprintf(" %s:%d", path.Base(f.File), f.Line)
}

// Text is Label with the module between, as people read stacks: `nf_hook+0x12 [nf_tables]`, `malloc+0x1b (libc.so.6)`,
// `main (prog) prog.c:12`.
func (f Frame) Text() string { return f.text(f.Module) }

// Whole is Text with the folder of the file: `malloc+0x1b (/usr/lib/libc.so.6)`, `/usr/lib/libc.so.6+0x2000`.
func (f Frame) Whole() string {
	if f.Path == "" {
		return f.Text()
	}
	return f.text(f.Path)
}

// text names the file of a program as file says.
func (f Frame) text(file string) string {
	text := f.function()
	switch {
	case f.Module == "":
	case f.unnamed():
		text = file + text[len(f.Module):]
	case f.User:
		text += " (" + file + ")"
	default:
		text += " [" + f.Module + "]"
	}
	if text += f.place(); f.Inlined {
		text += " (inlined)"
	}
	return text
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
	return uint32(maphash.Comparable(frameSeed, f.plain())), nil
}

var frameSeed = maphash.MakeSeed()

// plain is the frame by what tells it from others.
func (f Frame) plain() Frame {
	f.Source = nil
	return f
}

func (f Frame) AttrNames() []string {
	return []string{"addr", "file", "inlined", "line", "module", "name", "offset"}
}

// Attr gives name, offset, module (None for the kernel's own functions and for
// memory without a file), addr, and where it is in the source (None where that is not known).
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
	case "inlined":
		return starlark.Bool(f.Inlined), nil
	case "file", "line":
		return f.source(name), nil
	}
	return nil, nil
}

func (f Frame) source(name string) starlark.Value {
	file, line := f.File, f.Line
	if file == "" && f.Source != nil {
		file, line = f.Source.Place()
	}
	switch {
	case file == "":
		return starlark.None
	case name == "file":
		return starlark.String(file)
	}
	return starlark.MakeInt(line)
}

// CompareSameType knows == and !=.
func (f Frame) CompareSameType(op syntax.Token, y starlark.Value, _ int) (bool, error) {
	return equality(op, f.plain() == y.(Frame).plain(), "frame", "their .name or .addr")
}
