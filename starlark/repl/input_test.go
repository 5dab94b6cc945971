package repl

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// Chunks by the lines at which they begin, for what is typed and what is
// pasted.
func TestInput(t *testing.T) {
	for _, c := range []struct {
		name, text    string
		typed, pasted []Chunk
	}{
		{"lines", "a = 1\n\nb = 2\n", []Chunk{{1, "a = 1\n"}, {3, "b = 2\n"}}, []Chunk{{1, "a = 1\n"}, {3, "b = 2\n"}}},
		{"brackets", "probe(\n\n  'x',\n)\n", []Chunk{{1, "probe(\n\n  'x',\n)\n"}},
			[]Chunk{{1, "probe(\n\n  'x',\n)\n"}}},
		{"block", "def f(e):\n    a\n\nb\n", []Chunk{{1, "def f(e):\n    a\n\n"}, {4, "b\n"}},
			[]Chunk{{1, "def f(e):\n    a\n\n"}, {4, "b\n"}}},
		{"an empty line in a block", "def f(e):\n    a\n\n    b\n",
			[]Chunk{{1, "def f(e):\n    a\n\n"}, {4, "    b\n"}}, []Chunk{{1, "def f(e):\n    a\n\n    b\n"}}},
		{"a block that a line ends", "if a:\n    b\nelse:\n    c\nd\n",
			[]Chunk{{1, "if a:\n    b\nelse:\n    c\n"}, {5, "d\n"}},
			[]Chunk{{1, "if a:\n    b\nelse:\n    c\n"}, {5, "d\n"}}},
		{"a block on one line", "if a: b\n", []Chunk{{1, "if a: b\n"}}, []Chunk{{1, "if a: b\n"}}},
		{"a colon in a slice", "x[1:\n2]\n", []Chunk{{1, "x[1:\n2]\n"}}, []Chunk{{1, "x[1:\n2]\n"}}},
		{"a long string", "x = \"\"\"a\n\nb:\"\"\"\n", []Chunk{{1, "x = \"\"\"a\n\nb:\"\"\"\n"}},
			[]Chunk{{1, "x = \"\"\"a\n\nb:\"\"\"\n"}}},
		{"a quote that is not closed", "x = \"a\n", []Chunk{{1, "x = \"a\n"}}, []Chunk{{1, "x = \"a\n"}}},
		{"a continued line", "x = 1 + \\\n2\n", []Chunk{{1, "x = 1 + \\\n2\n"}}, []Chunk{{1, "x = 1 + \\\n2\n"}}},
		{"a comment with brackets", "x = 1 # (:\n", []Chunk{{1, "x = 1 # (:\n"}}, []Chunk{{1, "x = 1 # (:\n"}}},
	} {
		for _, way := range []struct {
			pasted bool
			want   []Chunk
		}{{false, c.typed}, {true, c.pasted}} {
			in := Input{Pasted: way.pasted}
			var got []Chunk
			for line := range strings.SplitSeq(strings.TrimSuffix(c.text, "\n"), "\n") {
				got = append(got, in.Add(line)...)
			}
			got = append(got, in.Flush()...)
			if !reflect.DeepEqual(got, way.want) {
				t.Errorf("%s (pasted: %v)\ngot  %+v\nwant %+v", c.name, way.pasted, got, way.want)
			}
		}
	}
}

// Reading line by line comes to the same as reading all lines at once.
func TestInputLineByLine(t *testing.T) {
	pieces := []string{
		"(", ")", "[", "]", "{", "}", ":", "x", "'", "\"", "\"\"\"", "'''", "\\", "#", " ", "\n", "\n", "\n",
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		var text strings.Builder
		for range 1 + random.IntN(20) {
			text.WriteString(pieces[random.IntN(len(pieces))])
		}
		in := Input{Pasted: true}
		for line := range strings.SplitSeq(text.String(), "\n") {
			in.lines = append(in.lines, line)
			in.look(line)
			open, block, _ := new(reading).over(in.Text())
			if in.open != open || in.block != block {
				t.Fatalf("%q: open %v, block %v, want %v, %v", in.Text(), in.open, in.block, open, block)
			}
		}
	}
}

func TestStanding(t *testing.T) {
	chunk := func(text, assigned, used string, acts bool, gone ...string) Typed {
		return Typed{text, strings.Fields(assigned), strings.Fields(used), acts, gone}
	}
	all := []Typed{
		chunk("n = count()", "n", "count", false),
		chunk("old = 1", "old", "", false),
		chunk("old = 2", "old", "", false),
		chunk("limit = 1", "limit", "", false),
		chunk("double = limit * 2", "double", "limit", false),
		chunk("limit = 5", "limit", "", false),
		chunk("n", "", "n", false),
		chunk("w = probe(1)", "w", "probe", false, "w"),
		chunk("w = probe(2)", "w", "probe", true),
		chunk("probe(3)", "", "probe n", true),
		chunk("n = total()", "n", "total", false),
	}
	var got []string
	for _, c := range Standing(all) {
		got = append(got, c.Text)
	}
	want := []string{"n = count()", "old = 2", "limit = 1", "double = limit * 2", "limit = 5", "w = probe(2)",
		"probe(3)", "n = total()"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
