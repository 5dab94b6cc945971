package builtins

import (
	"errors"
	"fmt"
	"strings"
	"unsafe"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/internal/format"
	"github.com/startrace/startrace/starlark/value"
)

// print(), printf(), sprintf(), announce(), show(sort=, top=, percent=), columns(): their arguments, and `Tracing …;
// press ^C to finish`.

var outputFamily = []Entry{
	{
		Name: "print", Family: "output",
		Signature: `print(*values, sep=" ")`,
		Doc: `Prints values and a line feed. Control characters are escaped. Line feeds and tabs are, too, but
for those that the script wrote itself, so the name of a file forges no line.`,
		call: printCall,
	},
	{
		Name: "announce", Family: "output",
		Signature: "announce(text)",
		Doc: `Tells on standard error what is being done, and what will end it: announce("Tracing writes") writes
"Tracing writes; press ^C to finish", and with -c "Tracing writes until the command ends". It is a message and no
result, so -q leaves it out. What is announced while the script runs is printed when its probes are attached.`,
		call: announceCall,
	},
	{
		Name: "printf", Family: "output",
		Signature: "printf(format, *values)",
		Doc: `Prints by a format with the verbs of C and Go, widths and precisions: printf("%-16s %6d %#o
%5.2f\n", …). The precision of a text, "%.3s", is a number of characters. As in C %hx and %hhx show the low 16 and 8
bits of an int. l, ll, z and j change nothing, for ints have all their bits. An escape sequence that is printed, "\x01",
is one character.`,
		call: printfCall,
	},
	{
		Name: "sprintf", Family: "output",
		Signature: "sprintf(format, *values)",
		Doc: `Gives the text that printf prints. Special characters in it are escaped when it is printed, so widths do
not count the escapes. They count the mark of a string that was cut.`,
		call: sprintfCall,
	},
	{
		Name: "show", Family: "output",
		Signature: "show(value, top=0, sort=None, percent=False, screen=False)",
		Doc: `Prints an aggregation, a table, or what take() gave as a report. sort names the column to sort by, as its
heading does. Values are sorted greatest first, and parts of the key ascending; a - before the name turns that
around. Without sort the greatest value comes last, as lines are read from the bottom, but first where rows have stacks.
Rows that are equal there are in the order of their keys. top limits the rows to those with the greatest values, or with
sort to the first ones by that; of equal rows it keeps the first. percent adds the share of each row in the sum of what
the rows are sorted by. Of hist, lhist, stats and quantiles without sort it is the share of the number of values;
histograms have it in their headings. It is a - where values of both signs are added. screen clears the terminal before.
What was shown is not printed again at exit.`,
		call: showCall,
	},
	{
		Name: "columns", Family: "output",
		Signature: `columns(name="%-7d", …)`,
		Doc: `Gives a function that prints its arguments as a row, and before the first row a header: out =
columns(pid = "%-7d", comm = "%s").`,
		call: columnsCall,
	},
}

// printCall prints its arguments on a line. How long the line can become is checked before it is made.
func printCall(e *Env, c *call) (starlark.Value, error) {
	sep := " "
	rest := call{name: c.name, kwargs: c.kwargs}
	if err := rest.unpack("sep?", &sep); err != nil {
		return nil, err
	}
	seps := uint64(len(sep)) * uint64(len(c.args))
	if err := errors.Join(value.TextRoom(c.thread, seps), value.CheckTextOf(c.thread, c.args...)); err != nil {
		return nil, err
	}
	e.out = e.out[:0]
	for i, v := range c.args {
		if i > 0 {
			e.out = e.appendText(e.out, starlark.String(sep))
		}
		e.out = e.appendText(e.out, v)
	}
	return e.write(append(e.out, '\n'))
}

// announceCall tells who looks on something that is no result, once the probes are attached.
func announceCall(e *Env, c *call) (starlark.Value, error) {
	var text string
	if err := c.unpack("text", &text); err != nil {
		return nil, err
	}
	if err := value.CheckTextOf(c.thread, starlark.String(text)); err != nil {
		return nil, err
	}
	if !e.Muted {
		e.Runtime.Announce(value.Screen(starlark.String(text)))
	}
	return starlark.None, nil
}

// appendText appends str(v), escaped.
func (e *Env) appendText(dst []byte, v starlark.Value) []byte { return append(dst, value.Screen(v)...) }

// write gives a line to the output. Its memory is used again by the next one.
func (e *Env) write(line []byte) (starlark.Value, error) {
	e.keep(line)
	if e.Muted {
		return starlark.None, nil
	}
	if _, err := e.Runtime.Out().Write(line); err != nil {
		return nil, fmt.Errorf("output: %w", err)
	}
	return starlark.None, nil
}

// keep keeps the room of a line, and of its arguments, for the next one, but for one that is long.
func (e *Env) keep(line []byte) {
	const most = 1 << 16
	if e.out = line; cap(line) > most {
		e.out = nil
	}
	if cap(e.fmtArgs) > most/int(unsafe.Sizeof(format.Arg{})) {
		e.fmtArgs = nil
	}
	for i := range e.fmtArgs {
		switch a := &e.fmtArgs[i]; a.Kind {
		case format.Int, format.Uint, format.Float, format.Bool, format.None: // which hold no memory
		default:
			*a = format.Arg{}
		}
	}
}

// printfCall prints by a format, without a line feed of its own.
func printfCall(e *Env, c *call) (starlark.Value, error) {
	line, err := e.sprintf(e.out[:0], c)
	if err != nil {
		e.keep(line)
		return nil, err
	}
	return e.write(line)
}

// sprintfCall gives what printf would print. The text remembers which stretches of it come from a traced program.
func sprintfCall(e *Env, c *call) (starlark.Value, error) {
	line, err := e.sprintf(e.out[:0], c)
	defer e.keep(line)
	if err != nil {
		return nil, err
	}
	parts := make([]value.Part, 0, len(e.fmtArgs))
	for i, a := range e.fmtArgs {
		parts = append(parts, value.Part{Stretch: a.Went, Of: c.args[1+i]})
	}
	return value.Placed(string(line), string(c.args[0].(starlark.String)), parts), nil
}

// maxFormats bounds the cache: a script that makes formats at run time must
// not fill memory.
const maxFormats = 256

// longestFormat is how long a format in the cache may be.
const longestFormat = 4 << 10

// sprintf appends the text of printf or sprintf to dst.
func (e *Env) sprintf(dst []byte, c *call) ([]byte, error) {
	if len(c.kwargs) > 0 {
		return dst, fmt.Errorf("%s: unexpected keyword argument %s", c.name, c.kwargs[0][0])
	}
	if len(c.args) == 0 {
		return dst, fmt.Errorf("%s: got no format", c.name)
	}
	if err := checkFormatted(c); err != nil {
		return dst, err
	}
	text, ok := c.args[0].(starlark.String)
	if !ok {
		return dst, fmt.Errorf("%s: got %s, want a format string first", c.name, c.args[0].Type())
	}
	f, err := e.formatOf(string(text), c.name == "printf")
	if err != nil {
		return dst, fmt.Errorf("%s: %w", c.name, err)
	}
	e.fmtArgs = e.fmtArgs[:0]
	for _, a := range c.args[1:] {
		e.addArg(a, c.name == "printf")
	}
	if err := value.TextRoom(c.thread, f.Extra(e.fmtArgs)); err != nil {
		return dst, fmt.Errorf("%s: %w", c.name, err)
	}
	out, err := f.Append(dst, e.fmtArgs)
	if err != nil {
		return dst, fmt.Errorf("%s: %w", c.name, err)
	}
	return out, nil
}

// checkFormatted refuses arguments of printf or sprintf for whose texts there is no room, or for what it takes to read
// the format and to hold the arguments.
func checkFormatted(c *call) error {
	const ofVerb, ofArg, few = 300, 500, 1 << 16
	text, _ := starlark.AsString(c.args[0])
	if ofVerb*len(text)+ofArg*len(c.args) > few {
		n := ofVerb*uint64(strings.Count(text, "%")) + ofArg*uint64(len(c.args))
		if err := value.TextRoom(c.thread, n/4); err != nil {
			return err
		}
	}
	return value.CheckTextOf(c.thread, c.args...)
}

// addArg adds an argument of printf or sprintf to those of this call. An Arg is large, so an int, as most of them are,
// is written where the one before it has left nothing but a number (keep).
func (e *Env) addArg(v starlark.Value, printed bool) {
	n := len(e.fmtArgs)
	if n == cap(e.fmtArgs) {
		e.fmtArgs = append(e.fmtArgs, e.outputArg(v, printed))
		return
	}
	e.fmtArgs = e.fmtArgs[:n+1]
	arg := &e.fmtArgs[n]
	if i, is := v.(starlark.Int); is {
		if small, fits := i.Int64(); fits {
			arg.Kind, arg.Int, arg.Uint, arg.Float, arg.Went = format.Int, small, 0, 0, format.Stretch{}
			return
		}
	}
	*arg = e.outputArg(v, printed)
}

// outputArg is an argument of printf, or of sprintf, whose text knows by itself
// what in it was cut.
func (e *Env) outputArg(v starlark.Value, printed bool) format.Arg {
	arg := FormatArg(v)
	switch {
	case printed && (arg.Kind == format.Str || arg.Kind == format.Bytes):
		arg.Shown = value.Shown(arg.Str)
	case printed && arg.Kind == format.Other:
		arg.Str = value.Screen(v)
	case !printed && arg.Kind == format.Other:
		arg.Str = value.Str(v)
		arg.Marks = value.Cuts(arg.Str)
	case !printed && arg.Kind == format.Str:
		arg.Marked, arg.Marks = "", value.Cuts(arg.Str)
	}
	return arg
}

// A place is where a string lies. What is known of a string (value.OfScript) is known of its place, too.
type place struct {
	at *byte
	n  int
}

// formatOf is the format that a text is for printf, or for sprintf.
func (e *Env) formatOf(text string, printed bool) (*format.Format, error) {
	if !printed || len(text) > longestFormat {
		return e.ofText(text, printed)
	}
	at := place{unsafe.StringData(text), len(text)} // the string stays where it is as long as it stands in the map
	if f, ok := e.printed[at]; ok {
		return f, nil
	}
	f, err := e.ofText(text, printed)
	if err != nil {
		return nil, err
	}
	if len(e.printed) >= maxFormats {
		clear(e.printed)
	}
	e.printed[at] = f
	return f, nil
}

// ofText is formatOf for a string that may lie anywhere.
func (e *Env) ofText(text string, printed bool) (*format.Format, error) {
	if printed {
		text = value.OfScript(text)
	}
	return e.format(text, printed)
}

// format parses a format, or finds it as it was parsed before. What printf
// writes is escaped, what sprintf gives is not: it will be, when printed.
func (e *Env) format(text string, escaped bool) (*format.Format, error) {
	key := text
	if escaped {
		key += "\x00"
	}
	if f, ok := e.formats[key]; ok {
		return f, nil
	}
	f, err := format.Parse(text)
	if err != nil {
		return nil, err
	}
	if escaped {
		f.Escape = e.Escape
	}
	if len(text) > longestFormat { // no format that is used often
		return f, nil
	}
	if len(e.formats) >= maxFormats {
		clear(e.formats)
	}
	e.formats[key] = f
	return f, nil
}

// FormatArg gives a value as package format wants it. What is no number, text or None goes as its text.
func FormatArg(v starlark.Value) format.Arg {
	switch v := v.(type) {
	case starlark.Int:
		if i, ok := v.Int64(); ok {
			return format.Arg{Kind: format.Int, Int: i}
		}
		if u, ok := v.Uint64(); ok {
			return format.Arg{Kind: format.Uint, Uint: u}
		}
		return format.Arg{Kind: format.Big, Big: v.BigInt()}
	case starlark.String:
		return format.Arg{Kind: format.Str, Str: string(v), Marked: value.Printed(string(v))}
	case value.Bytes:
		return format.Arg{Kind: format.Bytes, Str: string(v), Marked: value.Printed(string(v))}
	case starlark.Float:
		return format.Arg{Kind: format.Float, Float: float64(v)}
	case starlark.Bool:
		if v {
			return format.Arg{Kind: format.Bool, Int: 1}
		}
		return format.Arg{Kind: format.Bool}
	case starlark.NoneType:
		return format.Arg{Kind: format.None}
	}
	if value.IsFault(v) {
		return format.Arg{Kind: format.Fault, Str: v.String()}
	}
	return format.Arg{Kind: format.Other, Str: value.Text(v), Type: v.Type(), Value: v}
}

// showCall prints an aggregation, a table or a list of records as a table, at once.
func showCall(e *Env, c *call) (starlark.Value, error) {
	var v starlark.Value
	var o ShowOptions
	var sort starlark.Value
	if err := c.unpack("value", &v, "top?", &o.Top, "sort?", &sort, "percent?", &o.Percent, "screen?",
		&o.Screen); err != nil {
		return nil, err
	}
	if sort != nil && sort != starlark.None {
		s, ok := starlark.AsString(sort)
		if !ok {
			return nil, fmt.Errorf("show: sort: got %s, want the name of a column", sort.Type())
		}
		o.Sort = s
	}
	if o.Top < 0 {
		return nil, fmt.Errorf("show: top: got %d, want a number of rows, or 0 for all", o.Top)
	}
	if cont, ok := v.(value.Container); ok {
		cont.MarkRead()
	}
	if e.Muted {
		return starlark.None, nil
	}
	if err := value.CheckRowsOf(c.thread, v); err != nil {
		return nil, err
	}
	o.Room = func(n uint64) error { return value.TextRoom(c.thread, n) }
	if err := e.Runtime.Show(v, o); err != nil {
		return nil, fmt.Errorf("show: %w", err)
	}
	return starlark.None, nil
}

// row prints a row of columns().
func (e *Env) row(th *starlark.Thread, row func([]format.Arg) error, list starlark.Tuple) error {
	if err := value.CheckTextOf(th, list...); err != nil {
		return err
	}
	e.fmtArgs = e.fmtArgs[:0]
	for _, a := range list {
		e.fmtArgs = append(e.fmtArgs, FormatArg(a))
	}
	defer e.keep(e.out)
	return row(e.fmtArgs)
}

// columnsCall gives a function that prints rows by formats: columns(pid = "%-7d", file = "%s"). The headings are
// printed before the first row.
func columnsCall(e *Env, c *call) (starlark.Value, error) {
	if len(c.args) > 0 {
		return nil, fmt.Errorf("columns: got a positional argument, want formats by name: columns(pid = \"%%-7d\")")
	}
	var names, formats []string
	for _, kv := range c.kwargs {
		f, ok := starlark.AsString(kv[1])
		if !ok {
			return nil, fmt.Errorf("columns: %s: got %s, want a format", kv[0], kv[1].Type())
		}
		f = value.OfScript(f)
		names, formats = append(names, string(kv[0].(starlark.String))), append(formats, f)
	}
	row, err := e.Runtime.Columns(names, formats)
	if err != nil {
		return nil, fmt.Errorf("columns: %w", err)
	}
	return starlark.NewBuiltin("columns("+strings.Join(names, ", ")+")",
		func(th *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value,
			error) {
			if len(kwargs) > 0 || len(args) != len(names) {
				return nil, fmt.Errorf("a row has %s (%s), got %s", format.Count(len(names), "column"),
					strings.Join(names, ", "),
					format.Count(len(args), "value"))
			}
			if e.Muted {
				return starlark.None, nil
			}
			return starlark.None, e.row(th, row, args)
		}), nil
}
