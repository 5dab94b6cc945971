package script

import (
	"fmt"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/builtins"
)

// Texts of flags that are expressions, as of --by, made functions of the event, and their parts as written
// (`spelling`).

// expression makes a function of the event of a text such as "e.comm, e.pid":
// lambda e: (e.comm, e.pid); a text that is a lambda already stays it. The
// tree is put together here instead of the text, so that mistakes have their
// place in what the user wrote, and name is what they call it: "--by". parts
// has its elements, and whether its value is a duration.
func (h *Host) expression(name, text string) (fn *starlark.Function, parts builtins.Spelling, err error) {
	f, body, err := h.parseExpression(h.unusedName(name), text)
	if err != nil {
		return nil, parts, err
	}
	lambda, ok := body.(*syntax.LambdaExpr)
	if parts.Parts = f.spelling(body); ok && isTuple(lambda.Body) {
		parts.Parts = f.spelling(lambda.Body)
	}
	if !ok {
		at := f.pos(position{1, 1})
		lambda = &syntax.LambdaExpr{Lambda: at, Params: []syntax.Expr{&syntax.Ident{NamePos: at, Name: "e"}},
			Body: body}
	} else if !takesOne(lambda) {
		return nil, parts, Errors{{Pos: lambda.Lambda,
			Msg: "this lambda is called with one argument, the event: write lambda e: …"}}
	}
	const result = "$expression" // no name that a script could have
	f.tree = &syntax.File{Path: f.name, Options: parseOptions, Stmts: []syntax.Stmt{
		&syntax.AssignStmt{OpPos: lambda.Lambda, Op: syntax.EQ,
			LHS: &syntax.Ident{NamePos: lambda.Lambda, Name: result}, RHS: lambda},
	}}
	f.index()
	h.files[f.name] = f
	globals, err := h.exec(f)
	if err != nil {
		return nil, parts, err
	}
	parts.Duration = givesDuration(lambda)
	return globals[result].(*starlark.Function), parts, nil
}

// isTuple reports whether an expression is a tuple as it is written, in parentheses or not.
func isTuple(x syntax.Expr) bool {
	if p, ok := x.(*syntax.ParenExpr); ok {
		x = p.X
	}
	_, ok := x.(*syntax.TupleExpr)
	return ok
}

// takesOne reports whether a lambda can be called with one argument, by position.
func takesOne(lambda *syntax.LambdaExpr) bool {
	places, wanted := 0, 0
	named := false // behind *
	for _, p := range lambda.Params {
		_, plain := p.(*syntax.Ident)
		star, _ := p.(*syntax.UnaryExpr)
		switch {
		case star != nil && star.Op == syntax.STARSTAR:
		case star != nil:
			named = true
			if star.X != nil { // *args
				places++
			}
		case named && plain:
			return false
		case !named:
			places++
			if plain {
				wanted++
			}
		}
	}
	return places > 0 && wanted <= 1
}

func (h *Host) parseExpression(name, text string) (*file, syntax.Expr, error) {
	f := &file{name: name, lines: strings.Split(text, "\n"), funcs: make(map[position]syntax.Node),
		calls: make(map[position]callSite)}
	content := strings.TrimLeft(text, " \t") // at the beginning of a line it would be an indent
	if content == "" {
		return nil, nil, Errors{{Pos: f.pos(position{1, 1}),
			Msg: "an empty text, want an expression of e, such as e.comm"}}
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
// they were written. The tree ends some nodes before their bracket, so an
// element goes on to the next one.
func (f *file) spelling(body syntax.Expr) (out []string) {
	end := position{int32(len(f.lines)), int32(len([]rune(f.lines[len(f.lines)-1]))) + 1}
	if p, ok := body.(*syntax.ParenExpr); ok {
		body, end = p.X, placeOf(p.Rparen)
	}
	list := []syntax.Expr{body}
	if t, ok := body.(*syntax.TupleExpr); ok {
		list = t.List
	}
	for i, x := range list {
		to := end
		if i+1 < len(list) {
			to = placeOf(syntax.Start(list[i+1]))
		}
		text := strings.TrimSpace(f.between(placeOf(syntax.Start(x)), to))
		out = append(out, strings.TrimSpace(strings.TrimSuffix(text, ",")))
	}
	return out
}

// between is the text between two places, on one line.
func (f *file) between(from, to position) string {
	var b strings.Builder
	for n := from.line; n <= to.line; n++ {
		line := []rune(f.line(int(n)))
		first, last := 0, len(line)
		if n == from.line {
			first = min(int(from.col)-1, last)
		}
		if n == to.line {
			last = min(int(to.col)-1, last)
		}
		b.WriteString(strings.TrimSpace(string(line[first:max(first, last)])))
	}
	return b.String()
}
