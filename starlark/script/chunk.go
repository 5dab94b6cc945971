package script

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/internal/plan"
)

// What is typed at the prompt, as statements of one file: run, planned, run again.

// A Chunk is what was typed at the prompt at one time, after it ran.
type Chunk struct {
	// Value is that of the expression at the end, nil if there is none.
	Value starlark.Value
	// Assigned are the globals that it sets, Used those that it reads.
	Assigned, Used []string
	// Tree is the chunk's syntax tree.
	Tree *syntax.File
}

// chunkOptions are those of scripts, but what is loaded stays for the chunks
// that follow.
var chunkOptions = &syntax.FileOptions{Set: true, TopLevelControl: true, GlobalReassign: true, LoadBindsGlobally: true}

// valueName is the global that takes the value of an expression.
const valueName = "$value"

// RunChunk runs a chunk that begins at a line of the file that all chunks are
// parts of. Globals stay for the next one, also after an error; functions keep
// the globals that there were when their chunk ran.
func (h *Host) RunChunk(name string, line int, text string) (*Chunk, error) {
	f, err := h.parseChunk(name, line, text)
	if err != nil {
		return nil, err
	}
	c := &Chunk{Tree: f.tree, Assigned: assigned(f.tree.Stmts)}
	c.Used = usedNames(f.tree)
	h.warnChunk(c)
	env, err := h.runChunk(f, c.Used)
	c.Used = usedNames(f.tree) // without arguments, now that it is resolved
	for _, name := range c.Assigned {
		if v := env[name]; v != nil {
			h.globals[name] = v
		}
	}
	c.Value = env[valueName]
	return c, err
}

// parseChunk adds a chunk to the file. The lines before it are left empty, so
// that places are those of the file.
func (h *Host) parseChunk(name string, line int, text string) (*file, error) {
	src := strings.Repeat("\n", line-1) + text
	all := h.files[name]
	if all == nil {
		all = &file{name: name, tree: &syntax.File{}, funcs: make(map[position]syntax.Node),
			calls: make(map[position]callSite)}
	}
	defer func() { h.files[name] = all }()
	f, err := h.parseAs(chunkOptions, name, []byte(src))
	all.setLines(line, strings.Split(strings.TrimSuffix(text, "\n"), "\n"))
	if err != nil {
		return nil, err
	}
	all.tree = f.tree
	maps.Copy(all.funcs, f.funcs)
	maps.Copy(all.calls, f.calls)
	if n := len(f.tree.Stmts); n > 0 {
		if last, ok := f.tree.Stmts[n-1].(*syntax.ExprStmt); ok {
			at := syntax.Start(last)
			f.tree.Stmts[n-1] = &syntax.AssignStmt{OpPos: at, Op: syntax.EQ,
				LHS: &syntax.Ident{NamePos: at, Name: valueName}, RHS: last.X}
		}
	}
	return f, nil
}

// setLines puts a chunk's lines in the place that they have: a chunk can be run
// again.
func (f *file) setLines(line int, lines []string) {
	for len(f.lines) < line-1+len(lines) {
		f.lines = append(f.lines, "")
	}
	copy(f.lines[line-1:], lines)
}

// runChunk gives the names of the chunk with their values.
func (h *Host) runChunk(f *file, used []string) (starlark.StringDict, error) {
	if h.globals == nil {
		h.globals = make(starlark.StringDict)
	}
	env := make(starlark.StringDict)
	maps.Copy(env, h.predeclared)
	maps.Copy(env, h.globals)
	for _, name := range used {
		if env[name] == nil {
			if v, ok := h.lookup(name); ok {
				env[name] = v
			}
		}
	}
	// The interpreter resolves the chunk, too, but not apart from running it.
	if err := resolve.REPLChunk(f.tree, env.Has, starlark.StringDict(nil).Has, starlark.Universe.Has); err != nil {
		return env, f.resolveErrors(err, append(h.names(), slices.Collect(maps.Keys(h.globals))...))
	}
	if found := f.unassigned(); len(found) > 0 {
		return env, found
	}
	if err := starlark.ExecREPLChunk(f.tree, h.thread, env); err != nil {
		return env, h.explain(err)
	}
	return env, nil
}

// RunLoaded runs a file with its probes as a part of the prompt: its names,
// which are given, become globals, and its main() is called.
func (h *Host) RunLoaded(name string) (names []string, err error) {
	f, err := parseModule(h, name)
	if err != nil {
		return nil, err
	}
	h.env.Flags.Again()
	for path := range h.modules {
		if !strings.HasPrefix(path, stdPrefix) {
			delete(h.modules, path) // it may have changed as well
		}
	}
	globals, err := h.exec(f)
	if err != nil {
		return nil, h.explain(err)
	}
	if h.globals == nil {
		h.globals = make(starlark.StringDict)
	}
	main := globals["main"]
	delete(globals, "main")
	maps.Copy(h.globals, globals)
	if fn, ok := main.(*starlark.Function); ok {
		_, err = starlark.Call(h.thread, fn, nil, nil)
	}
	return globals.Keys(), h.explain(err)
}

// Source is the text of a file that RunLoaded ran.
func (h *Host) Source(name string) (string, error) {
	src, err := h.module(name)
	return string(src), err
}

// Globals are those of the script, or of all chunks.
func (h *Host) Globals() starlark.StringDict { return h.globals }

// Predeclared are the builtins by name.
func (h *Host) Predeclared() starlark.StringDict { return h.predeclared }

// PlanFrom is the plan of the probes from number first on. What functions
// captured is what they hold now.
func (h *Host) PlanFrom(first int) *plan.Plan {
	h.captures = newCaptures(h)
	h.special = newSpecialiser(h)
	p := h.env.PlanFrom(first, h.captures)
	if p.StrMax == 0 {
		p.StrMax = h.opts.StrMax
	}
	h.freezeKernel(p)
	return p
}

// A Captured is what a plan was made with: the functions of its user halves are
// found in it.
type Captured struct {
	captures *captures
	special  *specialiser
}

// Captured is that of the last plan.
func (h *Host) Captured() Captured { return Captured{h.captures, h.special} }

// Recapture goes back to that of an earlier plan.
func (h *Host) Recapture(c Captured) { h.captures, h.special = c.captures, c.special }

// Resume lets the script run again after Cancel.
func (h *Host) Resume() { h.going.resume() }

// warnChunk warns about builtins that a chunk hides.
func (h *Host) warnChunk(c *Chunk) {
	for _, name := range c.Assigned {
		_, ours := h.predeclared[name]
		_, universal := starlark.Universe[name]
		if _, known := h.globals[name]; !known && (ours || universal) && h.opts.Warn != nil {
			h.opts.Warn(syntax.Start(c.Tree), fmt.Sprintf("%s is a builtin; from here on it is what you set", name))
		}
	}
}

// assigned are the globals that statements set.
func assigned(stmts []syntax.Stmt) (out []string) {
	add := func(e syntax.Expr) { out = append(out, targets(e)...) }
	for _, s := range stmts {
		switch s := s.(type) {
		case *syntax.AssignStmt:
			add(s.LHS)
		case *syntax.DefStmt:
			add(s.Name)
		case *syntax.LoadStmt:
			for _, to := range s.To {
				add(to)
			}
		case *syntax.ForStmt:
			add(s.Vars)
			out = append(out, assigned(s.Body)...)
		case *syntax.WhileStmt:
			out = append(out, assigned(s.Body)...)
		case *syntax.IfStmt:
			out = append(append(out, assigned(s.True)...), assigned(s.False)...)
		}
	}
	slices.Sort(out)
	out = slices.Compact(out)
	return slices.DeleteFunc(out, func(name string) bool { return name == valueName })
}

// targets are the names in what is assigned to.
func targets(e syntax.Expr) (out []string) {
	switch e := e.(type) {
	case *syntax.Ident:
		return []string{e.Name}
	case *syntax.ParenExpr:
		return targets(e.X)
	case *syntax.TupleExpr:
		for _, x := range e.List {
			out = append(out, targets(x)...)
		}
	case *syntax.ListExpr:
		for _, x := range e.List {
			out = append(out, targets(x)...)
		}
	}
	return out
}

// isLocal reports whether a name is known to be no global's.
func isLocal(id *syntax.Ident) bool {
	b, ok := id.Binding.(*resolve.Binding)
	return ok && (b.Scope == resolve.Local || b.Scope == resolve.Cell || b.Scope == resolve.Free)
}

// usedNames are the names that a chunk reads; names of arguments are among
// them until it has been resolved.
func usedNames(f *syntax.File) (out []string) {
	skip := map[syntax.Node]bool{}
	syntax.Walk(f, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.AssignStmt:
			id, ok := n.LHS.(*syntax.Ident)
			skip[id] = ok && n.Op == syntax.EQ
		case *syntax.DefStmt:
			skip[n.Name] = true
		case *syntax.DotExpr:
			skip[n.Name] = true
		case *syntax.Ident:
			if !skip[n] && !isLocal(n) {
				out = append(out, n.Name)
			}
		}
		return true
	})
	slices.Sort(out)
	return slices.Compact(out)
}
