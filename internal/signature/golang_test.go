package signature

import (
	"debug/dwarf"
	"fmt"
	"strings"
	"testing"

	"github.com/startrace/startrace/internal/abi"
	"github.com/startrace/startrace/internal/gofunc"
)

func goInt(size int64) dwarf.Type {
	return &dwarf.IntType{BasicType: dwarf.BasicType{CommonType: dwarf.CommonType{ByteSize: size}}}
}

func goStruct(fields ...dwarf.Type) dwarf.Type {
	s := &dwarf.StructType{Kind: "struct"}
	align := int64(1)
	for _, f := range fields {
		a := goAlign(f)
		align = max(align, a)
		off := (s.ByteSize + a - 1) / a * a
		s.Field = append(s.Field, &dwarf.StructField{Type: f, ByteOffset: off})
		s.ByteSize = off + f.Size()
	}
	s.ByteSize = (s.ByteSize + align - 1) / align * align
	return s
}

func goAlign(t dwarf.Type) int64 {
	if a, ok := t.(*dwarf.ArrayType); ok {
		return goAlign(a.Type)
	}
	return t.Size()
}

func times(n int, t dwarf.Type) (out []dwarf.Type) {
	for range n {
		out = append(out, t)
	}
	return out
}

// The places of Go's words are those that cmd/compile/abi-internal.md gives, worked out by hand: what does not fit is
// on the stack whole, and what is smaller may still find a register. Programs say the same of amd64 in
// TestRandomSignatures.
//
// > In Go each scalar of a struct or an array is a word of its own, wherever it lies.
func TestGoPlaces(t *testing.T) {
	text := goStruct(goInt(8), goInt(8))
	array := func(n int64, of dwarf.Type) dwarf.Type { return &dwarf.ArrayType{Type: of, Count: n} }
	for _, tt := range []struct {
		name            string
		params, results []dwarf.Type
		amd64, arm64    string
	}{
		{"a string that does not fit, and a number that does", append(times(8, goInt(8)), text, goInt(1), goInt(2)),
			times(1, goInt(2)),
			"ax bx cx di si r8 r9 r10 8 16 r11 24 → ax", "x0 x1 x2 x3 x4 x5 x6 x7 x8 x9 x10 x11 → x0"},
		{"numbers on the stack lie close", append(times(16, goInt(8)), goInt(1), goInt(1), goInt(4), goInt(8)),
			times(1, goInt(8)),
			"ax bx cx di si r8 r9 r10 r11 8 16 24 32 40 48 56 64 65 68 72 → ax",
			"x0 x1 x2 x3 x4 x5 x6 x7 x8 x9 x10 x11 x12 x13 x14 x15 8 9 12 16 → x0"},
		{"arrays", []dwarf.Type{goInt(1), array(2, goInt(8)), array(1, goInt(4)), array(0, goInt(8)),
			goStruct(array(3, goInt(2)), goInt(1)), goInt(8)},
			[]dwarf.Type{array(2, goInt(8)), goInt(8)},
			"ax 8 16 bx 24 26 28 30 cx → 32 40 ax", "x0 8 16 x1 24 26 28 30 x2 → 32 40 x0"},
		{"an empty result", nil, []dwarf.Type{goStruct(), goInt(4)}, " → ax", " → x0"},
	} {
		for arch, want := range map[string]string{"amd64": tt.amd64, "arm64": tt.arm64} {
			s := goSignature(gofunc.RegisterABI(arch), tt.params, tt.results)
			if got := goPlaces(s.Params) + " → " + goPlaces(s.Result); got != want {
				t.Errorf("%s, %s: got %s, want %s", arch, tt.name, got, want)
			}
		}
	}
}

func goPlaces(list []Word) string {
	var out []string
	for _, w := range list {
		if w.Where == abi.Stack {
			out = append(out, fmt.Sprint(w.Off))
		} else {
			out = append(out, w.Name)
		}
	}
	return strings.Join(out, " ")
}

// By position alone a number that follows a string on the stack seems to be the string.
//
// > Without debug information nobody knows what Go passes on the stack (an array, a string or a struct for which too
// > few registers are left).
// > Words from there on are not those of the parameters.
func TestGoPositions(t *testing.T) {
	convention := gofunc.RegisterABI("amd64")
	s := goSignature(convention, append(times(8, goInt(8)), goStruct(goInt(8), goInt(8)), goInt(1)), nil)
	if typed, positional := goPlaces(s.Params[8:11]), convention.Argument(8).Register; typed != "8 16 r11" ||
		positional != "r11" {
		t.Errorf("got %s by types and %s by position", typed, positional)
	}
}

// A value that nobody can take apart as a whole costs no memory, and what follows it keeps its place.
func TestGoLargeArray(t *testing.T) {
	large := &dwarf.ArrayType{Type: goInt(8), Count: 1 << 40}
	s := goSignature(gofunc.RegisterABI("amd64"), []dwarf.Type{goInt(8), large, goInt(8)}, nil)
	if len(s.Params) != mostWords {
		t.Errorf("%d words, want %d", len(s.Params), mostWords)
	}
}
