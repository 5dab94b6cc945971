package chunk

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
)

const marked = "# the first\nx = 1\n---\n# the second\na ### \"ab*c\" 7 `whole`\n\nb ### `only`\nc ### " +
	runtime.GOARCH +
	" \"here\"\n"

// TestDifferences compares what is found with marks of each form.
func TestDifferences(t *testing.T) {
	file := filepath.Join(t.TempDir(), "marked.star")
	if err := os.WriteFile(file, []byte(marked), 0o600); err != nil {
		t.Fatal(err)
	}
	chunks, err := Read(file)
	if err != nil || len(chunks) != 2 || chunks[1].Line != 4 || chunks[1].Title() != "# the second" {
		t.Fatalf("got %v, %v", chunks, err)
	}
	all := []Mistake{{2, 3, "xabbcx"}, {2, 7, "whole"}, {4, 1, "only"}, {5, 9, "it is here"}}
	for _, tt := range []struct {
		name  string
		found []Mistake
		want  []string
	}{
		{"all", all, nil},
		{"one is missing", all[1:], []string{file + ":5:0: not found: ab*c"}},
		{"twice", append(all[:4:4], all[2]), []string{file + ":7:1: not marked: only"}},
		{"another column", append(all[2:4:4], all[0], Mistake{2, 8, "whole"}),
			[]string{file + ":5:8: not marked: whole", file + ":5:7: not found: whole"}},
		{"more than the whole", append(all[:2:2], all[3], Mistake{4, 1, "only that"}),
			[]string{file + ":7:1: not marked: only that", file + ":7:0: not found: only"}},
	} {
		if got := chunks[1].Differences(tt.found); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestBadMarks: a mark that cannot be read is an error, so that none is taken for a comment.
func TestBadMarks(t *testing.T) {
	for _, text := range []string{"x ### no quotes", "x ### \"(\"", "x ### 7", "x ### sparc \"text\""} {
		file := filepath.Join(t.TempDir(), "bad.star")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(file); err == nil {
			t.Errorf("%s: no error", text)
		}
	}
}
