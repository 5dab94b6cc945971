package diff

import (
	"fmt"
	"strings"
)

// The points at which random programs run, with the fields of their events.

// A Site is a point of the kernel or of a program at which programs of this package run.
type Site struct {
	// Point is its name in scripts, Where a filter of its events, "" if it needs none.
	Point, Where string
	// Fields are what programs see of its events.
	Fields []Field
	// Stacks are the stacks of the program that are known, as scripts name them. Values of an input are their
	// addresses.
	Stacks []KnownStack
	// Start is what the handler of a start sees where the point is a call that begins and ends; nil: it is none.
	Start *Site
}

// A KnownStack is a stack of which this package knows the addresses: those of an input, from one on.
type KnownStack struct {
	Name string // "e.ustack"
	// From is the number of the value of an input that is its first address.
	From int
}

// Kind is the kind of point.
func (s *Site) Kind() string {
	kind, _, _ := strings.Cut(s.Point, ":")
	return kind
}

// All is a program that gives each field of the site, in a record.
func (s *Site) All(name string) *Program {
	var parts []string
	for i, f := range s.Fields {
		parts = append(parts, fmt.Sprintf("f%d = %s", i, f.path()))
	}
	p := &Program{Name: name, Site: s,
		Text: fmt.Sprintf("def %s(e):\n    return record(%s)\n", name, strings.Join(parts, ", "))}
	if s.Start != nil {
		p.BeginName = name + "_begin"
		p.Text += s.Start.All(p.BeginName).Text
	}
	return p
}

// site is where the function runs that is made: nil for the raw tracepoint of this package.
func (g *gen) site() *Site {
	if g.starting {
		return g.p.Site.Start
	}
	return g.p.Site
}

// path is how scripts name a field.
func (f Field) path() string {
	if f.Path != "" {
		return f.Path
	}
	return "e.args." + f.Name
}

// is reports whether a field is of a type that programs compute with.
func (f Field) is(t Type) bool {
	switch {
	case t.Opt || f.Ptr || f.Far || f.Void || f.Address || f.Constant:
		return false
	case f.Bits == 0:
		return t.Kind == Str
	case f.Bool:
		return t.Kind == Bool
	case f.Signed:
		return t.Kind == Int && t.Class == Signed
	}
	return t.Kind == Int && t.Class == Unsigned
}

// fields are the arguments of the event of a type.
func (g *gen) fields(t Type) (out []Field) {
	list := Fields
	if s := g.site(); s != nil {
		list = s.Fields
	}
	for _, f := range list {
		if f.is(t) {
			out = append(out, f)
		}
	}
	return out
}

// stacksThere reports whether there are stacks.
func (g *gen) stacksThere() bool { s := g.site(); return s != nil && len(s.Stacks) > 0 }

// stack is one of so many frames at most.
func (g *gen) stack() *Expr {
	depth := ""
	if !g.one(4) {
		depth = fmt.Sprint(1 + g.r.IntN(pick(g, []int{3, 8, 127})))
	}
	return leaf(stack, pick(g, g.site().Stacks).Name+"("+depth+")")
}

// nodesThere reports whether the event has a pointer to a node.
func (g *gen) nodesThere() bool { return g.p.Site == nil }

// field is an argument of the event of a type, by its name or its place.
func (g *gen) field(t Type) *Expr {
	list := g.fields(t)
	if len(list) == 0 {
		return g.converted(t)
	}
	f := pick(g, list)
	if g.p.Site != nil {
		if f.Alias != "" && g.one(6) {
			return leaf(t, f.Alias)
		}
		return leaf(t, f.Path)
	}
	args := "e.args"
	if g.startArgs() {
		args = "e.start.args"
	}
	if g.one(12) {
		for i := range Fields {
			if Fields[i].Name == f.Name {
				return leaf(t, fmt.Sprintf("%s[%d]", args, i))
			}
		}
	}
	return leaf(t, args+"."+f.Name)
}

// converted is a value of a type at a site that has none: an int of the other sign, or a constant.
func (g *gen) converted(t Type) *Expr {
	if t.Kind != Int {
		return g.literal(t)
	}
	other, function := signed, "uint32"
	if t.Class == Signed {
		other, function = unsigned, "int32"
	}
	if len(g.fields(other)) == 0 {
		panic("diff: a site without an int has no random programs")
	}
	return call(t, function, g.field(other))
}

// argNames are the names in e.args of the fields of a type.
func (g *gen) argNames(t Type) (out []string) {
	for _, f := range g.fields(t) {
		if name, ok := strings.CutPrefix(f.path(), "e.args."); ok && !strings.ContainsAny(name, ".[") {
			out = append(out, name)
		}
	}
	return out
}

// sometimes is an int that is None when the program runs, or not.
func (g *gen) sometimes() string {
	n, when := g.fields(signed), g.fields(boolean)
	switch {
	case len(n) == 0:
		return "(1 if " + g.intLeaf(Unsigned).Text + " else None)"
	case len(when) == 0:
		return fmt.Sprintf("(%s if %[1]s < 9 else None)", n[len(n)-1].path())
	}
	return fmt.Sprintf("(%s if %s else None)", n[len(n)-1].path(), when[0].path())
}
