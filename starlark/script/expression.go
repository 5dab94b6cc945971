package script

import (
	"fmt"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/internal/plan"
)

// expression makes a function of the event of a text such as "e.comm, e.pid":
// lambda e: (e.comm, e.pid); a text that is a lambda already stays it. The
// tree is put together here instead of the text, so that mistakes have their
// place in what the user wrote, and name is what they call it: "--by". parts
// are the elements as they were written.
func (h *Host) expression(name, text string) (fn *starlark.Function, parts []string, err error) {
	f, body, err := h.parseExpression(h.unusedName(name), text)
	if err != nil {
		return nil, nil, err
	}
	parts = f.spelling(body)
	lambda, ok := body.(*syntax.LambdaExpr)
	if !ok {
		at := f.pos(place{1, 1})
		lambda = &syntax.LambdaExpr{Lambda: at, Params: []syntax.Expr{&syntax.Ident{NamePos: at, Name: "e"}}, Body: body}
	}
	const result = "$expression" // no name that a script could have
	f.tree = &syntax.File{Path: f.name, Options: parseOptions, Stmts: []syntax.Stmt{
		&syntax.AssignStmt{OpPos: lambda.Lambda, Op: syntax.EQ, LHS: &syntax.Ident{NamePos: lambda.Lambda, Name: result}, RHS: lambda},
	}}
	f.index()
	h.files[f.name] = f
	globals, err := h.exec(f)
	if err != nil {
		return nil, nil, err
	}
	return globals[result].(*starlark.Function), parts, nil
}

func (h *Host) parseExpression(name, text string) (*file, syntax.Expr, error) {
	f := &file{name: name, lines: strings.Split(text, "\n"), funcs: make(map[place]syntax.Node), calls: make(map[place]callSite)}
	content := strings.TrimLeft(text, " \t") // at the beginning of a line it would be an indent
	if content == "" {
		return nil, nil, Errors{{Pos: f.pos(place{1, 1}), Msg: "an empty text, want an expression of e, such as e.comm"}}
	}
	if err := checkText(name, text); err != nil {
		return nil, nil, err
	}
	portion := syntax.FilePortion{Content: []byte(content), FirstLine: 1, FirstCol: int32(len(text)-len(content)) + 1}
	body, err := parseOptions.ParseExpr(name, portion, 0)
	if err != nil {
		return nil, nil, f.syntaxError(err)
	}
	return f, body, nil
}

// unusedName is name, numbered where an expression has it already: functions
// are found by the name of their file.
func (h *Host) unusedName(name string) string {
	unused := name
	for n := 2; h.files[unused] != nil; n++ {
		unused = fmt.Sprintf("%s#%d", name, n)
	}
	return unused
}

// spelling gives the elements of a tuple, or all of another expression, as
// they were written.
func (f *file) spelling(body syntax.Expr) (out []string) {
	if p, ok := body.(*syntax.ParenExpr); ok {
		body = p.X
	}
	list := []syntax.Expr{body}
	if t, ok := body.(*syntax.TupleExpr); ok {
		list = t.List
	}
	for _, x := range list {
		from, to := x.Span()
		out = append(out, f.between(from, to))
	}
	return out
}

// between is the text between two places, on one line.
func (f *file) between(from, to plan.Pos) string {
	var b strings.Builder
	for n := from.Line; n <= to.Line; n++ {
		line := []rune(f.line(int(n)))
		first, last := 0, len(line)
		if n == from.Line {
			first = min(int(from.Col)-1, last)
		}
		if n == to.Line {
			last = min(int(to.Col)-1, last)
		}
		b.WriteString(strings.TrimSpace(string(line[first:max(first, last)])))
	}
	return b.String()
}
