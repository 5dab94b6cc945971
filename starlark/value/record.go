package value

import (
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/internal/escape"
)

// record() as a value: fields, order, comparison, text.

// A Record is an immutable value with named fields, in the order of their
// declaration. Two records are equal when they have the same names with equal
// values, in whatever order.
type Record struct {
	names []string
	vals  []starlark.Value
}

var (
	_ starlark.HasAttrs   = (*Record)(nil)
	_ starlark.Comparable = (*Record)(nil)
)

// NewRecord makes a record, which owns both slices. The names are distinct.
func NewRecord(names []string, vals []starlark.Value) *Record {
	return &Record{names, vals}
}

// Fields gives the names and values; the caller must not change them.
func (r *Record) Fields() ([]string, []starlark.Value) { return r.names, r.vals }

// Get is the value of a field, nil where there is none.
func (r *Record) Get(name string) starlark.Value {
	if i := slices.Index(r.names, name); i >= 0 {
		return r.vals[i]
	}
	return nil
}

func (r *Record) String() string {
	var b strings.Builder
	r.write(&b)
	return b.String()
}

// write writes the text of r, those of records in it too: to make each of them a text first would copy the innermost as
// often as there are records around it.
func (r *Record) write(b *strings.Builder) {
	b.WriteString("record(")
	for i, n := range r.names {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(escape.Line(n) + " = ")
		if inner, ok := r.vals[i].(*Record); ok {
			inner.write(b)
			continue
		}
		b.WriteString(r.vals[i].String())
	}
	b.WriteByte(')')
}

func (r *Record) Type() string         { return "record" }
func (r *Record) Truth() starlark.Bool { return starlark.True }

// Freeze freezes the values: the record itself never changes.
func (r *Record) Freeze() {
	for _, v := range r.vals {
		v.Freeze()
	}
}

// Hash does not depend on the order of the fields, as equality does not.
func (r *Record) Hash() (uint32, error) {
	sum := uint32(len(r.names))
	for i, n := range r.names {
		h, err := starlark.Tuple{starlark.String(n), r.vals[i]}.Hash()
		if err != nil {
			return 0, fmt.Errorf("record field %s: %w", n, err)
		}
		sum ^= h * 0x9e3779b1
	}
	return sum, nil
}

// Attr gives a field. A name with a trailing _ escapes a reserved word.
func (r *Record) Attr(name string) (starlark.Value, error) {
	if v := r.Get(name); v != nil {
		return v, nil
	}
	return r.Get(strings.TrimSuffix(name, "_")), nil
}

func (r *Record) AttrNames() []string {
	out := slices.Clone(r.names)
	slices.Sort(out)
	return out
}

func (r *Record) CompareSameType(op syntax.Token, y starlark.Value, depth int) (bool, error) {
	same, err := r.equal(y.(*Record), depth)
	if err != nil {
		return false, err
	}
	return equality(op, same, "record", "their fields")
}

func (r *Record) equal(s *Record, depth int) (bool, error) {
	if len(r.names) != len(s.names) {
		return false, nil
	}
	for i, n := range r.names {
		v := s.Get(n)
		if v == nil {
			return false, nil
		}
		if eq, err := starlark.EqualDepth(r.vals[i], v, depth-1); !eq || err != nil {
			return false, err
		}
	}
	return true, nil
}
