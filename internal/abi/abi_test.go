package abi

import (
	"fmt"
	"strings"
	"testing"
)

// parse makes a value of a short text: i4 an int of 4 bytes, f8 a double, L a long double, {…} a struct of such parts
// with C's alignment, a leading & for what is passed by its address, p for a packed struct.
func parse(t *testing.T, text string) Value {
	t.Helper()
	if rest, ok := strings.CutPrefix(text, "&"); ok {
		v := parse(t, rest)
		v.ByAddress = true
		return v
	}
	packed := strings.HasPrefix(text, "p{")
	inner, isStruct := strings.CutPrefix(strings.TrimPrefix(text, "p"), "{")
	switch {
	case isStruct:
		return composite(t, strings.Fields(strings.TrimSuffix(inner, "}")), packed)
	case text == "void":
		return Value{}
	case text == "L":
		return Long.Value(16)
	}
	var size int
	if _, err := fmt.Sscanf(text[1:], "%d", &size); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return map[byte]Class{'i': Int, 'f': Float, 'v': Vector}[text[0]].Value(size)
}

func composite(t *testing.T, members []string, packed bool) Value {
	v := Value{Composite: true, Align: 1}
	for _, m := range members {
		part := parse(t, m)
		if packed {
			part.Align = 1
		}
		v.Size = (v.Size + part.Align - 1) / part.Align * part.Align
		for _, s := range part.Scalars {
			s.Off += v.Size
			v.Scalars = append(v.Scalars, s)
		}
		v.Size, v.Align = v.Size+part.Size, max(v.Align, part.Align)
	}
	v.Size = (v.Size + v.Align - 1) / v.Align * v.Align
	return v
}

func text(l Location) string {
	var out []string
	for _, p := range l.Places {
		switch p.Where {
		case Nowhere:
			out = append(out, "-")
		case Stack:
			out = append(out, fmt.Sprintf("[%d]", p.Off))
		default:
			out = append(out, p.Name)
		}
	}
	s := strings.Join(out, "+")
	if l.Indirect {
		return "*" + s
	}
	if s == "" {
		return "nothing"
	}
	return s
}

// TestAssign has signatures with their places, as compilers have them (a result, then the parameters).
func TestAssign(t *testing.T) {
	for _, c := range []struct{ arch, signature, want string }{
		{"amd64", "i4: i4, i8, i1, i2, i8, i8, i4, i8", "ax: di, si, dx, cx, r8, r9, [8], [16]"},
		{"arm64", "i4: i4, i8, i1, i2, i8, i8, i4, i8, i4, i8", "x0: x0, x1, x2, x3, x4, x5, x6, x7, [0], [8]"},
		// The kernel's bpfptr_t and sockptr_t.
		{"amd64", "i4: i4, {i8 i1}, i4", "ax: di, si+dx, cx"},
		{"arm64", "i4: i4, {i8 i1}, i4", "x0: x0, x1+x2, x3"},
		{"amd64", "i4: i8, i4, i4, {i8 i1}, i4", "ax: di, si, dx, cx+r8, r9"},
		// One that does not fit leaves its register to others on amd64, to none on arm64.
		{"amd64", "void: i8, i8, i8, i8, i8, {i8 i8}, i8", "nothing: di, si, dx, cx, r8, [8]+[16], r9"},
		{"arm64", "void: i8, i8, i8, i8, i8, i8, i8, {i8 i8}, i8",
			"nothing: x0, x1, x2, x3, x4, x5, x6, [0]+[8], [16]"},
		{"amd64", "void: i8, {i8 i8 i8}, i4", "nothing: di, [8]+[16]+[24], si"},
		{"arm64", "void: i8, {i8 i8 i8}, i4", "nothing: x0, *x1, x2"},
		{"amd64", "{i8 i8 i8}: i4", "*ax: si"},
		{"arm64", "{i8 i8 i8}: i4", "*-: x0"},
		{"amd64", "{i8 i4}: i4", "ax+dx: di"},
		{"arm64", "{i8 i4}: i4", "x0+x1: x0"},
		{"amd64", "f8: i4, f8, i8, f4", "xmm0: di, xmm0, si, xmm1"},
		{"arm64", "f8: i4, f8, i8, f4", "v0: x0, v0, x1, v1"},
		{"amd64", "{i8 f8}: {f4 f4}, {f8 i8}, {f4 i4}", "ax+xmm0: xmm0, xmm1+di, si"},
		{"arm64", "{i8 f8}: {f4 f4}, {f8 i8}, {f4 i4}", "x0+x1: v0+v1, x0+x1, x2"},
		{"amd64", "{f8 f8}: {f4 f4 f4 f4}, {f8 f8 f8}", "xmm0+xmm1: xmm0+xmm1, [8]+[16]+[24]"},
		{"arm64", "{f8 f8}: {f4 f4 f4 f4}, {f8 f8 f8}, {f8 f8}, f8", "v0+v1: v0+v1+v2+v3, v4+v5+v6, [0]+[8], [16]"},
		{"amd64", "L: L, i4, {L}, i4", "st0: [8]+[16], di, [24]+[32], si"},
		{"amd64", "i16: i4, i16, i8, i8, i16, i8", "ax+dx: di, si+dx, cx, r8, [8]+[16], r9"},
		{"arm64", "i16: i4, i16, i8, i16, i16", "x0+x1: x0, x2+x3, x4, x6+x7, [0]+[8]"},
		{"amd64", "void: p{i1 i4}, i4", "nothing: [8], di"},
		{"arm64", "void: p{i1 i4}, i4", "nothing: x0, x1"},
		{"amd64", "&{i8}: &{i4}, i4", "*ax: *si, dx"},
		{"arm64", "&{i8}: &{i4}, i4", "*-: *x0, x1"},
		{"amd64", "void: {}, i4", "nothing: nothing, di"},
		{"amd64", "v16: v16, i4", "xmm0: xmm0, di"},
	} {
		result, params, _ := strings.Cut(c.signature, ": ")
		var values []Value
		for _, p := range strings.Split(params, ", ") {
			values = append(values, parse(t, p))
		}
		call := Of(c.arch).Assign(values, parse(t, result))
		var got []string
		for _, l := range call.Params {
			got = append(got, text(l))
		}
		if s := text(call.Result) + ": " + strings.Join(got, ", "); s != c.want {
			t.Errorf("%s %s:\n got %s\nwant %s", c.arch, c.signature, s, c.want)
		}
	}
}

// A union of long doubles, or a struct around one, is returned where a long double is.
func TestResultsOfX87(t *testing.T) {
	at := func(offsets ...int) Value {
		v := Value{Size: 16 * (1 + offsets[len(offsets)-1]/16), Align: 16, Composite: true}
		for _, off := range offsets {
			v.Scalars = append(v.Scalars, Scalar{off, 16, Long})
		}
		return v
	}
	mixed := at(0)
	mixed.Scalars = append(mixed.Scalars, Scalar{0, 4, Int})
	for _, c := range []struct {
		what   string
		result Value
		want   string
	}{{"struct { long double }", at(0), "st0"}, {"union of two", at(0, 0), "st0"}, {"struct of two", at(0, 16), "*ax"},
		{"union with an int", mixed, "*ax"}} {
		if got := text(Of("amd64").Assign(nil, c.result).Result); got != c.want {
			t.Errorf("%s: got %s, want %s", c.what, got, c.want)
		}
	}
}
