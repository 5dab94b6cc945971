package eventline

import (
	"strings"

	"github.com/startrace/startrace/internal/escape"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/printfmt"
	"github.com/startrace/startrace/internal/render"
)

// Kernel is what the lines of tracepoints need of the kernel.
type Kernel struct {
	// Tracepoint gives what tracefs says of a tracepoint.
	Tracepoint func(group, name string) (*kernel.Tracepoint, error)
	Constant   func(name string) (int64, bool) // of one of the enums
	Symbol     printfmt.Symbol                 // the name of an address
}

// An ownFormat prints the arguments of a tracepoint as the kernel itself does.
type ownFormat struct {
	printed *printfmt.Format
	of      *kernel.Tracepoint
}

// ownFormat is that of a tracepoint; nil where it has none that can be followed here. Those of system calls show
// addresses where the event has the text.
func (k *Kernel) ownFormat(probe string) *ownFormat {
	names, ok := strings.CutPrefix(probe, "tracepoint:")
	group, name, found := strings.Cut(names, ":")
	if !ok || !found || group == "syscalls" {
		return nil
	}
	t, err := k.Tracepoint(group, name)
	if err != nil {
		return nil
	}
	f, err := printfmt.Parse(t.PrintFmt, k.Constant)
	if err != nil {
		return nil
	}
	return &ownFormat{f, t}
}

// text is what the kernel prints of the arguments; "" where one of them is not there as the format wants it.
func (o *ownFormat) text(args render.Object, symbol printfmt.Symbol) string {
	line, err := o.printed.Append(nil, func(name string) (printfmt.Value, bool) {
		field, err := o.of.Field(name)
		for _, a := range args {
			if err == nil && a.Name == name {
				return plainArgument(a.Value, field)
			}
		}
		return printfmt.Value{}, false
	}, symbol)
	if err != nil {
		return ""
	}
	return string(line)
}

func plainArgument(v render.Value, field *kernel.TracepointField) (printfmt.Value, bool) {
	number := func(n int64) (printfmt.Value, bool) {
		if field.Size > 8 || field.Size&(field.Size-1) != 0 || field.Size == 0 {
			return printfmt.Value{}, false
		}
		return printfmt.Int(n, field.Size, field.Signed), true
	}
	switch v := v.(type) {
	case nil: // a null pointer, which the kernel prints as 0
		return number(0)
	case bool:
		if v {
			return number(1)
		}
		return number(0)
	case int64:
		return number(v)
	case uint64:
		return number(int64(v))
	case render.Tuple:
		return array(v, field)
	case string:
		return printfmt.String(string(escape.Append(nil, v, escape.OneLine))), true
	}
	return printfmt.Value{}, false
}

// array is one of bytes; elements that are not there, or wider, make it none.
func array(elements render.Tuple, field *kernel.TracepointField) (printfmt.Value, bool) {
	if len(elements) != field.Size {
		return printfmt.Value{}, false
	}
	bytes := make([]byte, len(elements))
	for i, e := range elements {
		switch n := e.(type) {
		case int64:
			bytes[i] = byte(n)
		case uint64:
			bytes[i] = byte(n)
		default:
			return printfmt.Value{}, false
		}
	}
	return printfmt.Bytes(bytes), true
}
