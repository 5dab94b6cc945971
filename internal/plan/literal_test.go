package plan

import (
	"strings"
	"testing"

	"go.starlark.net/syntax"
)

// A place in a text of types() is the one in the script where the character is written, whatever is written in front of
// it.
func TestPlacesInLiterals(t *testing.T) {
	for _, raw := range []string{`"one X"`, `'\tX'`, `"\\ \" \x41\101\7X"`, `"\u00e9é\U0001F600X"`, "\"a\\\nbX\"",
		`"a\nb\nX"`, "\"\"\"a\n\tb\\tX\"\"\"", `r"\tX"`, "r'''a\nb\\\nX'''", `"""X"""`, `"X"`} {
		name := "s.star"
		literal := Literal{raw, syntax.MakePosition(&name, 3, 7)}
		f, err := (&syntax.FileOptions{}).Parse(name, raw, 0)
		if err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		text := f.Stmts[0].(*syntax.ExprStmt).X.(*syntax.Literal).Value.(string)
		line, column := placeBehind(text[:strings.IndexByte(text, 'X')], 1, 1)
		wantLine, wantColumn := placeBehind(raw[:strings.IndexByte(raw, 'X')], 3, 7)
		got := literal.At(line, column)
		if int(got.Line) != wantLine || int(got.Col) != wantColumn {
			t.Errorf("%q: %d:%d is at %v, want %d:%d", raw, line, column, got, wantLine, wantColumn)
		}
	}
}

// placeBehind is the line and column behind a text that begins at one.
func placeBehind(text string, line, column int) (int, int) {
	for _, c := range text {
		if column++; c == '\n' {
			line, column = line+1, 1
		}
	}
	return line, column
}
