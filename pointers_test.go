package startrace_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// addressesOnly are the files in which an address is a number that nothing is read by, or memory that the caller keeps.
var addressesOnly = map[string]bool{"starlark/value/noted.go": true, "internal/attach/pmu.go": true}

// A pointer becomes a number only in the list of arguments of a system call: the garbage collector does not know it
// from then on, frees what it points to, and moves the stack on which that lies.
func TestPointersBecomeNumbersInCalls(t *testing.T) {
	found := 0
	for _, f := range productFiles(t) {
		file, err := parser.ParseFile(token.NewFileSet(), f.name, f.text, 0)
		if err != nil {
			t.Fatal(err)
		}
		inCalls := map[ast.Expr]bool{}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if isSystemCall(call) {
				for _, arg := range call.Args {
					inCalls[arg] = true
				}
			}
			if fromPointer(call) {
				if found++; !inCalls[call] && !addressesOnly[f.name] && !strings.HasPrefix(f.name, "test/") {
					t.Errorf("%s: uintptr(unsafe.Pointer(…)) is no argument of a system call: pass the pointer", f.name)
				}
			}
			return true
		})
	}
	if found == 0 {
		t.Error("found no pointers that become numbers")
	}
}

// isSystemCall reports whether a call is one of syscall.Syscall and its kin, which keep what their arguments point to.
func isSystemCall(call *ast.CallExpr) bool {
	of, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	pkg, ok := of.X.(*ast.Ident)
	return ok && (pkg.Name == "unix" || pkg.Name == "syscall")
}

// fromPointer reports whether an expression is uintptr(unsafe.Pointer(…)).
func fromPointer(call *ast.CallExpr) bool {
	if to, ok := call.Fun.(*ast.Ident); !ok || to.Name != "uintptr" || len(call.Args) != 1 {
		return false
	}
	from, ok := call.Args[0].(*ast.CallExpr)
	if !ok {
		return false
	}
	of, ok := from.Fun.(*ast.SelectorExpr)
	return ok && of.Sel.Name == "Pointer"
}
