package eventline

import (
	"encoding/binary"
	"strings"

	"github.com/startrace/startrace/internal/escape"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/printfmt"
	"github.com/startrace/startrace/internal/render"
)

// Arguments in that line as the kernel's own format of a tracepoint prints them.

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

// text is what the kernel prints of the arguments; "" where one of them is not there as the format wants it. A tab of
// the format stays one, and all else that would not be a line is escaped. Some formats end with a newline of their own.
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
	columns := strings.Split(strings.TrimRight(string(line), "\n"), "\t")
	for i, c := range columns {
		columns[i] = string(escape.Append(nil, c, escape.OneLine))
	}
	return strings.Join(columns, "\t")
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
	case render.Fault:
		return printfmt.Missing(v.Text), true
	}
	return printfmt.Value{}, false
}

// array is one of numbers, as it lies in the kernel's memory; an element that is not there makes all of it not there.
// The mark that stands where one was cut is such an element.
func array(elements render.Tuple, field *kernel.TracepointField) (printfmt.Value, bool) {
	size := elementSize(elements, field)
	if size == 0 {
		return printfmt.Value{}, false
	}
	var bytes []byte
	for _, e := range elements {
		var n uint64
		switch e := e.(type) {
		case int64:
			n = uint64(e)
		case uint64:
			n = e
		case render.Fault:
			return printfmt.Missing(e.Text), true
		default:
			return printfmt.Missing("<not shown>"), true
		}
		bytes = append(bytes, binary.LittleEndian.AppendUint64(nil, n)[:size]...)
	}
	return printfmt.Array(bytes, size, field.Signed), true
}

// elementSize is how many bytes an element has; 0 where the format of the tracepoint does not tell.
func elementSize(elements render.Tuple, field *kernel.TracepointField) int {
	if !field.DataLoc && !field.RelLoc {
		if len(elements) == 0 || field.Size%len(elements) != 0 || field.Size/len(elements) > 8 {
			return 0
		}
		return field.Size / len(elements)
	}
	_, size := field.ElementType()
	return size
}
