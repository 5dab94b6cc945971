package value

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/internal/wire"
)

// Texts of labels for numbers and bytes in records and maps: errno, arrays of numbers, lists of strings.

// A LabelFunc gives the text of a labelled int, sign-extended to 64 bits; "" where that has none, so that it stays a
// number.
type LabelFunc func(v uint64) string

// A BytesLabelFunc gives what labelled bytes stand for. cut says that the
// kernel half had no room for all of them.
type BytesLabelFunc func(b []byte, cut bool) starlark.Value

// Labels has what the labels of wire.Type mean. A label is a name ("errno"),
// or a name and its argument ("names:O_").
type Labels struct {
	// Ints has the functions of labels of ints, by label.
	Ints map[string]LabelFunc
	// With makes the function of a label with an argument.
	With map[string]func(arg string) LabelFunc
	// Bytes has the functions of labels of bytes, as "strlist".
	Bytes map[string]BytesLabelFunc
	// Number is the number of a name of a function or point; nil: there are none.
	Number func(name string) uint64
	// OfText has, of labels that give each text to one number alone, how that is found; ok is false where the text is
	// that of none.
	OfText map[string]func(text string) (n uint64, ok bool)
}

// numbered gives v with the numbers of its names and texts where t keeps these, and the text says which.
func (l *Labels) numbered(t *wire.Type, v starlark.Value) starlark.Value {
	switch v := v.(type) {
	case starlark.String:
		if l.keepsName(t) {
			return l.numberOf(t, v)
		}
		if f := l.OfText[t.Label]; f != nil {
			n, ok := f(string(v))
			if bits := n << (64 - 8*t.Size) >> (64 - 8*t.Size); ok && extend(bits, t) == n {
				return number(t, n)
			}
		}
	case starlark.Tuple:
		if len(v) != len(t.Elems) {
			return v
		}
		out := make(starlark.Tuple, len(v))
		for i, e := range v {
			out[i] = l.numbered(&t.Elems[i], e)
		}
		return out
	case *Record:
		if len(v.names) != len(t.Names) {
			return v
		}
		out := *v
		out.vals = slices.Clone(v.vals)
		for i, name := range v.names {
			if at := slices.Index(t.Names, name); at >= 0 {
				out.vals[i] = l.numbered(&t.Elems[at], v.vals[i])
			}
		}
		return &out
	}
	return v
}

// keepsName reports whether t keeps a name as a number that has it alone: other
// labels give several numbers one text.
func (l *Labels) keepsName(t *wire.Type) bool {
	return l.Number != nil && (t.Label == "name" || t.Size == 4 &&
		(t.Label == "syscall_name" || t.Label == "syscall_point"))
}

// numberOf is a name as t keeps it; v where t cannot.
func (l *Labels) numberOf(t *wire.Type, v starlark.String) starlark.Value {
	n := l.Number(string(v))
	switch {
	case t.Label == "name":
		return starlark.MakeInt64(int64(n))
	case t.Label == "syscall_name" && n>>32 == 0, t.Label == "syscall_point" && n>>32 == 1:
		return starlark.MakeUint64(n & math.MaxUint32)
	}
	return v
}

// find gives the function for ints of a label, nil where there is none.
func (l *Labels) find(label string) LabelFunc {
	if name, arg, ok := strings.Cut(label, ":"); ok && l.With[name] != nil {
		return l.With[name](arg)
	}
	return l.Ints[label]
}

// label gives the text of a labelled int; without a function for it the
// number. Texts are remembered: labels are functions of the number alone.
func (d *Decoder) label(t *wire.Type, v uint64) starlark.Value {
	k := labelKey{t.Label, v}
	if s, ok := d.labelled[k]; ok {
		return s
	}
	f, known := d.labelFuncs[t.Label]
	if !known {
		if d.labelFuncs == nil {
			d.labelFuncs = make(map[string]LabelFunc)
		}
		f = d.Labels.find(t.Label)
		d.labelFuncs[t.Label] = f
	}
	text := ""
	if f != nil {
		text = f(v)
	}
	if text == "" && (f == nil || t.Label != "name") { // "" is a name, too
		return number(t, v)
	}
	if d.labelled == nil || len(d.labelled) >= internMax {
		d.labelled = make(map[labelKey]starlark.Value)
	}
	s := starlark.Value(starlark.String(text))
	d.labelled[k] = s
	return s
}

func number(t *wire.Type, v uint64) starlark.Value {
	if t.Signed {
		return starlark.MakeInt64(int64(v))
	}
	return starlark.MakeUint64(v)
}

// bytesValue gives bytes, or what they stand for by their label.
func (d *Decoder) bytesValue(t *wire.Type, b []byte, cut bool) starlark.Value {
	if t.Label == "" {
		return Bytes(d.Traced.Text(string(b), cut))
	}
	if t.Label == strList {
		return d.stringList(b, cut)
	}
	if form, ok := strings.CutPrefix(t.Label, wire.LabelInts); ok {
		return intArray(b, form, cut)
	}
	if f := d.Labels.Bytes[t.Label]; f != nil {
		return f(b, cut)
	}
	return Bytes(b)
}

// intArray is an array of numbers: "u4" are unsigned ints of 4 bytes, "f8" floats of 8, "b1" bools.
func intArray(b []byte, form string, cut bool) starlark.Value {
	out := starlark.Tuple{}
	size, err := strconv.Atoi(form[1:])
	for t := (&wire.Type{Size: size, Signed: form[0] == 's'}); err == nil && len(b) >= size; b = b[size:] {
		n := readInt(b, size)
		switch form[0] {
		case 'f':
			out = append(out, float(n, size))
		case 'b':
			out = append(out, starlark.Bool(n != 0))
		default:
			out = append(out, number(t, extend(n, t)))
		}
	}
	if cut {
		return CutTuple(out)
	}
	return List(out)
}

// strList labels the strings of a char **: packed one behind the other, each
// with its NUL, behind a byte that says whether it could be read (wire.ListString).
const strList = "strlist"

// stringList splits a list of strings. The last string of one that was cut
// was cut, or the list was if the cut fell between two.
func (d *Decoder) stringList(b []byte, cut bool) starlark.Value {
	out := starlark.Tuple{}
	for len(b) > 0 {
		one, rest, whole := bytes.Cut(b[1:], []byte{0})
		switch {
		case b[0] == wire.ListFault:
			out = append(out, FAULT)
		case len(one) > 0 || whole: // else of the string nothing was kept
			out = append(out, d.text(one, cut && !whole))
		}
		cut = cut && (whole || len(one) == 0)
		b = rest
	}
	if cut {
		return CutTuple(out)
	}
	return List(out)
}
