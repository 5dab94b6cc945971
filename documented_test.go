package startrace_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/tools/go/packages"
)

// TestDocumented: whatever a package exports says what it is: types, functions, constants, variables, methods, the
// methods of interfaces, and the fields of structs. A group of constants may have one comment. A method needs none
// where it is there for an interface whose own comment says what it does, as Unwrap for package errors. A field needs
// none of its own where the comment of the struct, or of another field of it, names it: "X and Y are in millimetres".
func TestDocumented(t *testing.T) {
	list := typed(t)
	interfaces := describedInterfaces(list)
	for _, p := range list {
		d := documentation{of: p, interfaces: interfaces}
		for _, f := range p.Syntax {
			for _, declaration := range f.Decls {
				d.check(declaration)
			}
		}
		for _, at := range d.missing {
			t.Errorf("%s: %s has no comment that says what it is", p.Fset.Position(at.Pos()), at.Name)
		}
	}
}

// TestDocumentedTools: in the folder test, where names need no comments, fields do: they are read by who adds a test.
func TestDocumentedTools(t *testing.T) {
	for _, f := range goFiles(t) {
		if !strings.HasPrefix(f.folder, "test/") || strings.HasSuffix(f.name, "_test.go") {
			continue
		}
		var d documentation
		for _, declaration := range f.ast.Decls {
			if n, ok := declaration.(*ast.GenDecl); ok {
				d.checkTypes(n)
			}
		}
		for _, at := range d.missing {
			t.Errorf("%s: %s has no comment that says what it is", f.position(at), at.Name)
		}
	}
}

// TestDocumentedFields: TestDocumented finds the fields that nothing is said of, and only these.
func TestDocumentedFields(t *testing.T) {
	const text = `package p

// A T is a thing. Named is what the comment of the struct says.
type T struct {
	Named  int
	Behind int // is said behind it
	// Above is said above it, and Beside with it.
	Above  int
	Beside int
	Plain, Other int
	hidden int
	Inner struct{ Deep int } // has parts
}`
	f, err := parser.ParseFile(token.NewFileSet(), "p.go", text, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var d documentation
	for _, declaration := range f.Decls {
		d.check(declaration)
	}
	var got []string
	for _, at := range d.missing {
		got = append(got, at.Name)
	}
	if want := []string{"Plain", "Other", "Deep"}; !slices.Equal(got, want) {
		t.Errorf("fields without a comment: got %v, want %v", got, want)
	}
}

// documentation finds the exported names of a package that have no comment.
type documentation struct {
	of         *packages.Package
	interfaces []*types.Interface
	missing    []*ast.Ident
}

func (d *documentation) check(declaration ast.Decl) {
	switch n := declaration.(type) {
	case *ast.FuncDecl:
		if n.Doc == nil && !d.isForInterface(n) {
			d.note(n.Name)
		}
	case *ast.GenDecl:
		for _, spec := range n.Specs {
			d.checkSpec(spec, n.Doc != nil)
		}
		d.checkTypes(n)
	}
}

// checkTypes looks at the fields of the types of a declaration.
func (d *documentation) checkTypes(n *ast.GenDecl) {
	for _, spec := range n.Specs {
		if s, ok := spec.(*ast.TypeSpec); ok {
			d.checkFields(s, n.Doc.Text()+s.Doc.Text()+s.Comment.Text())
		}
	}
}

// checkSpec looks at a part of a declaration, which may have a comment as a whole.
func (d *documentation) checkSpec(spec ast.Spec, whole bool) {
	switch s := spec.(type) {
	case *ast.ValueSpec:
		if !whole && s.Doc == nil && s.Comment == nil {
			d.note(s.Names...)
		}
	case *ast.TypeSpec:
		if !whole && s.Doc == nil && s.Comment == nil {
			d.note(s.Name)
		}
		if of, ok := s.Type.(*ast.InterfaceType); ok && s.Name.IsExported() {
			for _, m := range of.Methods.List {
				if m.Doc == nil && m.Comment == nil {
					d.note(m.Names...)
				}
			}
		}
	}
}

// checkFields looks at the fields of the structs in a type, of which a comment is said.
func (d *documentation) checkFields(of *ast.TypeSpec, said string) {
	ast.Inspect(of.Type, func(n ast.Node) bool {
		s, ok := n.(*ast.StructType)
		if !ok {
			return true
		}
		all := said
		for _, f := range s.Fields.List {
			all += " " + f.Doc.Text() + f.Comment.Text()
		}
		for _, f := range s.Fields.List {
			for _, name := range f.Names {
				if f.Doc == nil && f.Comment == nil && !hasWord(all, name.Name) {
					d.note(name)
				}
			}
		}
		return true
	})
}

// hasWord reports whether a text has a word.
func hasWord(text, word string) bool {
	return slices.Contains(strings.FieldsFunc(text, func(r rune) bool {
		return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}), word)
}

func (d *documentation) note(names ...*ast.Ident) {
	for _, name := range names {
		if name.IsExported() {
			d.missing = append(d.missing, name)
		}
	}
}

// isForInterface reports whether a method belongs to an interface that its type is, or to a type of this package alone.
func (d *documentation) isForInterface(fn *ast.FuncDecl) bool {
	f, ok := d.of.TypesInfo.Defs[fn.Name].(*types.Func)
	if !ok || f.Signature().Recv() == nil {
		return false
	}
	if f.Name() == "Unwrap" {
		return true
	}
	of := f.Signature().Recv().Type()
	if p, ok := of.(*types.Pointer); ok {
		of = p.Elem()
	}
	if named, ok := of.(*types.Named); ok && !named.Obj().Exported() {
		return true
	}
	return slices.ContainsFunc(d.interfaces, func(i *types.Interface) bool {
		m, _, _ := types.LookupFieldOrMethod(i, false, nil, f.Name())
		return m != nil && types.Implements(types.NewPointer(of), i)
	})
}

// describedInterfaces are the exported interfaces of the product and of what it imports, whose methods have comments.
func describedInterfaces(list []*packages.Package) (out []*types.Interface) {
	seen := map[*types.Package]bool{}
	for _, p := range list {
		seen[p.Types] = true
		for _, imported := range p.Types.Imports() {
			seen[imported] = true
		}
	}
	out = append(out, types.Universe.Lookup("error").Type().Underlying().(*types.Interface))
	for p := range maps.Keys(seen) {
		for _, name := range p.Scope().Names() {
			o := p.Scope().Lookup(name)
			if i, ok := o.Type().Underlying().(*types.Interface); ok && o.Exported() && i.NumMethods() > 0 {
				out = append(out, i)
			}
		}
	}
	return out
}
