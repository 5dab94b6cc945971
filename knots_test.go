package startrace_test

import (
	"errors"
	"go/ast"
	"go/types"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/go/packages"
)

// mostMethods is how many methods a type may have, and mostKnotted the part of a package's files that may use each
// other in a circle, where it has more than fewFiles: a reader who wants to know one of them must know all.
const (
	mostMethods = 60
	mostKnotted = 1. / 3
	fewFiles    = 10
)

// TestMethods bounds the methods of a type.
func TestMethods(t *testing.T) {
	for _, p := range typed(t) {
		for name, n := range methodsOf(p) {
			if n > mostMethods {
				t.Errorf("%s.%s has %d methods, want at most %d: give those of one concept a type of their own",
					strings.TrimPrefix(p.PkgPath, module), name, n, mostMethods)
			}
		}
	}
}

// methodsOf counts the methods of each type of a package.
func methodsOf(p *packages.Package) map[string]int {
	out := map[string]int{}
	for _, f := range p.Syntax {
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv == nil {
				continue
			}
			of := fn.Recv.List[0].Type
			if star, ok := of.(*ast.StarExpr); ok {
				of = star.X
			}
			if id, ok := of.(*ast.Ident); ok {
				out[id.Name]++
			}
		}
	}
	return out
}

// TestKnots bounds the knots of files.
func TestKnots(t *testing.T) {
	for _, p := range typed(t) {
		if len(p.Syntax) <= fewFiles {
			continue
		}
		most := int(mostKnotted * float64(len(p.Syntax)))
		for _, knot := range knots(usesOfFiles(p)) {
			if len(knot) > most {
				t.Errorf("%s: %d of %d files use each other, want at most %d: %s",
					strings.TrimPrefix(p.PkgPath, module), len(knot), len(p.Syntax), most, strings.Join(knot, " "))
			}
		}
	}
}

// typed are the packages of the product with their types.
func typed(t *testing.T) []*packages.Package {
	t.Helper()
	list, err := loaded()
	if err != nil {
		t.Fatal(err)
	}
	return list
}

var loaded = sync.OnceValues(func() (out []*packages.Package, err error) {
	list, err := packages.Load(&packages.Config{Mode: packages.NeedName | packages.NeedFiles | packages.NeedSyntax |
		packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports}, "./...")
	for _, p := range list {
		for _, e := range p.Errors {
			err = errors.Join(err, e)
		}
		if !strings.HasPrefix(p.PkgPath, module+"test/") {
			out = append(out, p)
		}
	}
	return out, err
})

// usesOfFiles gives for each file of a package the others of which it uses something: a function, a method, a field, a
// type, a constant or a variable.
func usesOfFiles(p *packages.Package) map[string][]string {
	out := map[string][]string{}
	for _, f := range p.Syntax {
		from := filepath.Base(p.Fset.Position(f.Package).Filename)
		out[from] = nil
		ast.Inspect(f, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			o := p.TypesInfo.Uses[id]
			if o == nil || o.Pkg() != p.Types || !o.Pos().IsValid() || isInside(o, p.Types) {
				return true
			}
			to := filepath.Base(p.Fset.Position(o.Pos()).Filename)
			if to != from && !slices.Contains(out[from], to) {
				out[from] = append(out[from], to)
			}
			return true
		})
	}
	return out
}

// isInside reports whether o is a variable of a function.
func isInside(o types.Object, of *types.Package) bool {
	v, ok := o.(*types.Var)
	return ok && !v.IsField() && v.Parent() != of.Scope()
}

// knots gives the groups of files of which each uses all others, directly or by way of others of the group (Tarjan's
// algorithm).
func knots(uses map[string][]string) [][]string {
	var out [][]string
	var stack []string
	index, low, onStack := map[string]int{}, map[string]int{}, map[string]bool{}
	var visit func(string)
	visit = func(v string) {
		index[v] = len(index) + 1
		low[v] = index[v]
		stack, onStack[v] = append(stack, v), true
		for _, w := range uses[v] {
			switch {
			case index[w] == 0:
				visit(w)
				low[v] = min(low[v], low[w])
			case onStack[w]:
				low[v] = min(low[v], index[w])
			}
		}
		if low[v] != index[v] {
			return
		}
		from := slices.Index(stack, v)
		knot := slices.Clone(stack[from:])
		stack = stack[:from]
		for _, w := range knot {
			onStack[w] = false
		}
		slices.Sort(knot)
		out = append(out, knot)
	}
	for v := range uses {
		if index[v] == 0 {
			visit(v)
		}
	}
	return out
}
