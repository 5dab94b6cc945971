package bpfgen

import (
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/cilium/ebpf"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
)

func userString(n int64, room int) *tree.Expr {
	return &tree.Expr{Op: tree.OpStr, Type: types.StrOf(room).OrFault(), Str: tree.User,
		Args: []*tree.Expr{arg(n, types.U64)}}
}

func text(s string) *tree.Expr {
	return &tree.Expr{Op: tree.OpConst, Type: types.StrOf(len(s) + 1), Str: s}
}

// present is e without FAULT.
func present(e *tree.Expr) *tree.Expr {
	return &tree.Expr{Op: tree.OpPresent, Type: e.Type.Present(), Str: "a string", Args: []*tree.Expr{e}}
}

// runStrings runs the program with strings in user memory.
func runStrings(t *testing.T, c *ebpf.Collection, list ...string) {
	t.Helper()
	var args []uint64
	var keep [][]byte
	for _, s := range list {
		b := append([]byte(s), 0)
		keep = append(keep, b)
		args = append(args, uint64(uintptr(unsafe.Pointer(&b[0]))))
	}
	run(t, c, args...)
	runtime.KeepAlive(keep)
}

var sampleStrings = []string{
	"", "a", "lib", "libc.so", "/usr/lib/libc.so.6", "/etc/passwd", "/etc/passwdx", "/etc/passwe", "xx/etc/passwd",
	"libx.so",
	"/lib/a.so", "/lib/a.so.1", "12345678", "1234567", "123456789", strings.Repeat("ab", 14) + "lib.so",
	strings.Repeat("l", 60),
}

// TestStringTests compares the tests on strings with Go's, for strings from
// memory and for ones that came through a variable.
func TestStringTests(t *testing.T) { byEachLoop(t, testStringTests) }

func testStringTests(t *testing.T, o Options) {
	t.Helper()
	type test struct {
		o    tree.Op
		c    string
		want func(s string) bool
	}
	var tests []test
	for _, c := range []string{"", "/etc/passwd", "12345678", "lib", "/lib/a.so.1", strings.Repeat("l", 60)} {
		tests = append(tests,
			test{tree.OpEq, c, func(s string) bool { return s == c }},
			test{tree.OpNe, c, func(s string) bool { return s != c }},
			test{tree.OpLt, c, func(s string) bool { return s < c }},
			test{tree.OpGe, c, func(s string) bool { return s >= c }},
			test{tree.OpStartsWith, c, func(s string) bool { return strings.HasPrefix(s, c) }},
			test{tree.OpEndsWith, c, func(s string) bool { return strings.HasSuffix(s, c) }},
			test{tree.OpContains, c, func(s string) bool { return strings.Contains(s, c) }})
	}
	for glob, want := range map[string]func(string) bool{
		"*lib*.so":     func(s string) bool { return strings.Contains(s, "lib") && strings.HasSuffix(s, ".so") },
		"*":            func(string) bool { return true },
		"":             func(s string) bool { return s == "" },
		"l??c.so":      func(s string) bool { return len(s) == 7 && s[0] == 'l' && s[3:] == "c.so" },
		"[a-l]*":       func(s string) bool { return s != "" && s[0] >= 'a' && s[0] <= 'l' },
		"[!/]*":        func(s string) bool { return s != "" && s[0] != '/' },
		"{/lib,/usr}*": func(s string) bool { return strings.HasPrefix(s, "/lib") || strings.HasPrefix(s, "/usr") },
	} {
		tests = append(tests, test{tree.OpMatches, glob, want})
	}
	for _, viaVar := range []bool{false, true} {
		for _, tt := range tests {
			e := op(tt.o, types.Boolean, present(userString(0, 64)), text(tt.c))
			u := evaluator(e, konst(1))
			if viaVar {
				u = throughVariable(u, e)
			}
			c, _ := load(t, u, o)
			for _, s := range sampleStrings {
				runStrings(t, c, s)
				if got := cells(t, c, 1)[0] != 0; got != tt.want(s) {
					t.Errorf("%s %q %q = %v (variable: %v)", tt.o, s, tt.c, got, viaVar)
				}
			}
		}
	}
}

// throughVariable assigns the string in two ways before it is tested.
func throughVariable(u *tree.Unit, e *tree.Expr) *tree.Unit {
	p := u.Programs[0]
	s := e.Args[0]
	p.Locals = []tree.Local{{Name: "s", Type: s.Type}}
	choose := stmt(tree.SIf, 0, op(tree.OpEq, types.Boolean, arg(5, types.I64), konst(0)))
	choose.Then = &tree.Block{Stmts: []*tree.Stmt{stmt(tree.SAssign, 0, s)}}
	choose.Else = &tree.Block{Stmts: []*tree.Stmt{stmt(tree.SAssign, 0, text("other"))}}
	e.Args[0] = &tree.Expr{Op: tree.OpLocal, Type: s.Type}
	p.Body.Stmts = append([]*tree.Stmt{choose}, p.Body.Stmts...)
	return u
}

// TestStringPairs compares strings from memory with each other.
func TestStringPairs(t *testing.T) { byEachLoop(t, testStringPairs) }

func testStringPairs(t *testing.T, o Options) {
	t.Helper()
	x, y := present(userString(0, 64)), present(userString(1, 64))
	c, _ := load(t, evaluator(
		op(tree.OpEq, types.Boolean, x, y), op(tree.OpLt, types.Boolean, x, y), op(tree.OpStrLen, types.I64, x),
	), o)
	for _, a := range sampleStrings {
		for _, b := range sampleStrings {
			runStrings(t, c, a, b)
			got := cells(t, c, 3)
			if (got[0] != 0) != (a == b) || (got[1] != 0) != (a < b) || got[2] != int64(len(a)) {
				t.Errorf("%q, %q: equal %d, less %d, length %d", a, b, got[0], got[1], got[2])
			}
		}
	}
}

// TestComm tests the padded string of a helper.
func TestComm(t *testing.T) {
	name := builtin("comm", types.Comm)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	me := strings.TrimRight(string(comm(t)), "\x00")
	c, _ := load(t, evaluator(
		op(tree.OpEq, types.Boolean, name, text(me)), op(tree.OpEq, types.Boolean, name, text(me[:3])),
		op(tree.OpStartsWith, types.Boolean, name, text(me[:3])),
		op(tree.OpEndsWith, types.Boolean, name, text(me[3:])),
		op(tree.OpContains, types.Boolean, name, text(me[2:5])), op(tree.OpStrLen, types.I64, name),
	), Options{})
	run(t, c)
	want := []int64{1, 0, 1, 1, 1, int64(len(me))}
	for i, got := range cells(t, c, len(want)) {
		if got != want[i] {
			t.Errorf("test %d of comm %q gives %d, want %d", i, me, got, want[i])
		}
	}
}
