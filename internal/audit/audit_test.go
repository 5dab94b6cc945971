package audit

import (
	"strings"
	"testing"

	"go.starlark.net/syntax"

	"github.com/startrace/startrace/bpfgen"
	"github.com/startrace/startrace/bpfgen/cost"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/builtins"
)

// Each operation that reads memory is in an audit, with a name, whose it is, and its size; no other one is.
func TestReads(t *testing.T) {
	address := &tree.Expr{Op: tree.OpConst, Type: types.U64, Int: 1}
	for _, tt := range []struct {
		e    tree.Expr
		want Read
	}{
		{tree.Expr{Op: tree.OpLoad, Type: types.U32, Str: tree.Kernel, Field: "struct s.n"},
			Read{"struct s.n", FromKernel, "number", 4}},
		{tree.Expr{Op: tree.OpLoad, Type: types.U32, Str: tree.Ctx, Field: "args.n"},
			Read{"args.n", FromEvent, "number", 4}},
		{tree.Expr{Op: tree.OpStr, Type: types.StrOf(17), Str: tree.User, Field: "args.name"},
			Read{"args.name", FromProcess, "string", 16}},
		{tree.Expr{Op: tree.OpMem, Type: types.Type{Kind: types.Bytes, Cap: 16}, Str: tree.Auto},
			Read{"memory at the address of -:1:2", FromAddress, "bytes", 16}},
		{tree.Expr{Op: tree.OpStrList, Type: types.Type{Kind: types.Bytes, Cap: 1024}, Str: tree.User,
			Field: "args.argv"},
			Read{"args.argv", FromProcess, "strings", 1024}},
		{tree.Expr{Op: tree.OpPath, Type: types.StrOf(257), Str: "file"},
			Read{"path of a file", FromKernel, "path", 256}},
		{tree.Expr{Op: tree.OpStack, Type: types.Type{Kind: types.Stack}, Str: tree.User},
			Read{"ustack", FromProcess, "stack", 0}},
		{tree.Expr{Op: tree.OpBuiltin, Type: types.U32, Str: "pid"}, Read{"pid", FromEvent, "number", 0}},
	} {
		tt.e.Args, tt.e.Pos = []*tree.Expr{address}, at(1, 2)
		if got, ok := readOf(&tt.e); !ok || got != tt.want {
			t.Errorf("%v: %+v, want %+v", tt.e.Op, got, tt.want)
		}
	}
	for _, e := range []tree.Expr{{Op: tree.OpAdd}, {Op: tree.OpTableGet}, {Op: tree.OpBuiltin, Str: "reg:8"}} {
		if got, ok := readOf(&e); ok {
			t.Errorf("%v is a read: %+v", e.Op, got)
		}
	}
}

// A program that goes on in others costs what the dearest of them costs, too.
func TestCostOfTails(t *testing.T) {
	unit := &bpfgen.Unit{
		Tree: &tree.Unit{Programs: []*tree.Program{
			{Name: "a", Variants: []tree.Variant{{Call: "b"}, {Call: "c"}}},
			{Name: "b"}, {Name: "c", Variants: []tree.Variant{{Call: "d"}}}, {Name: "d"},
		}},
		Costs: map[string]cost.Cost{"a": {Insns: 10, Calls: 1}, "b": {Insns: 100, Calls: 1}, "c": {Insns: 20, Calls: 2},
			"d": {Insns: 30, Calls: 5}},
	}
	if got, want := costOf(unit, "a"), (cost.Cost{Insns: 110, Calls: 8}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// A builtin that needs a flag says what it does outside of tracing, and the flag is written as users write it.
func TestGranted(t *testing.T) {
	granted := map[string]bool{}
	for _, en := range builtins.Entries() {
		if en.Needs != "" && (en.Reaches == "" || !strings.HasPrefix(en.Needs, "--")) {
			t.Errorf("%s needs %q and reaches %q", en.Name, en.Needs, en.Reaches)
		}
		granted[en.Needs] = true
		if doc := en.Text(); en.Needs == "" && (strings.Contains(doc, "--allow") || strings.Contains(doc, "--unsafe")) {
			t.Errorf("%s is granted by a flag, as its document says, but its entry does not say which", en.Name)
		}
	}
	for _, flag := range []string{"--allow-write DIR", "--allow-run", "--unsafe"} {
		if !granted[flag] {
			t.Errorf("no builtin needs %s", flag)
		}
	}
}

func at(line, col int32) syntax.Position {
	name := "-"
	return syntax.MakePosition(&name, line, col)
}
