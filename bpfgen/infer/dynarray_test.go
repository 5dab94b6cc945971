package infer_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cilium/ebpf/btf"

	"github.com/startrace/startrace/bpfgen/infer"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/test/smallkernel"
)

// tracefsOf is a folder as tracefs, with the tracepoint test:arrays of these fields.
func tracefsOf(t *testing.T, fields string) string {
	t.Helper()
	dir := t.TempDir()
	of := filepath.Join(dir, "events", "test", "arrays")
	if err := os.MkdirAll(of, 0o700); err != nil {
		t.Fatal(err)
	}
	text := "name: arrays\nID: 8\nformat:\n" + fields + "\nprint fmt: \"%d\", REC->n\n"
	if err := os.WriteFile(filepath.Join(of, "format"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Each field of a tracepoint stands in e.args as a whole: what has no form as a value says so.
//
// > Of an array of a tracepoint whose length each event says these are the first 64 elements, and a longer one is
// > cut.
//
// > An element that the array of this event has not is FAULT.
//
// > What cannot be a value is FAULT in a whole, as `print(e.args)` is one, and prints as `<not shown>`. A script that
// > names it is told why.
func TestArraysOfTracepoints(t *testing.T) {
	facts := kernel.Open(kernel.Options{BTF: smallkernel.BTF(t, smallkernel.Types()...), Symbols: testSymbols,
		Blacklist: testBlacklist, TracefsPath: tracefsOf(t, ""+
			"\tfield:int n;\toffset:8;\tsize:4;\tsigned:1;\n"+
			"\tfield:__data_loc int[] dyn;\toffset:12;\tsize:4;\tsigned:1;\n"+
			"\tfield:__rel_loc u64 rel[];\toffset:16;\tsize:4;\tsigned:0;\n"+
			"\tfield:__data_loc cpumask_t cpumask;\toffset:20;\tsize:4;\tsigned:0;\n"+
			"\tfield:__data_loc struct strange[] odd;\toffset:24;\tsize:4;\tsigned:0;\n"+
			"\tfield:struct strange wide;\toffset:28;\tsize:24;\tsigned:0;\n"+
			"\tfield:u8 long_one[65];\toffset:52;\tsize:65;\tsigned:0;\n")})
	for _, c := range []struct{ body, tree string }{
		{"print(e.args)", "record(n=s32, dyn=bytes[256]~ints:s4!, rel=bytes[512]~ints:u8!, " +
			"cpumask=bytes[512]~ints:u8!, odd=s64!, wide=s64!, long_one=s64!)"},
		{"print(e.args.dyn[1])", "(ge:bool (shr:u16 (load:u32 ctx +12 (ctx:u64 +0)) 16:s64) 8:s64)"},
		{"print(len(e.args.rel))", "(floordiv:u16 (shr:u16 (load:u32 ctx +16 (ctx:u64 +0)) 16:s64) 8:s64)"},
		{"print(e.args.odd)", "odd is a dynamic array of struct strange[], which have no form as numbers"},
		{"print(e.args.wide)", "wide has 24 bytes; a kernel half computes with 64 bits"},
		{"print(e.args.long_one)", "an array of 65 elements is no value as a whole"},
		{"print(len(e.args.long_one))", "send r0 65:s64"},
		{"print(e.args.dyn[-1])", "index -1 of an array whose length each event says: want one from 0 on"},
	} {
		p := planOf(t, `probe("tracepoint:test:arrays", lambda e: `+c.body+`)`)
		res, err := infer.Plan(p, facts, infer.Options{})
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = res.Tree.String()
		}
		if !strings.Contains(got, c.tree) {
			t.Errorf("%s:\n%s\nwant %s", c.body, got, c.tree)
		}
	}
}

// An int of 128 bits of a kernel function is in two words.
//
// > An `__int128` is a tuple of two numbers there, too, the lower half first.
func TestWideArgument(t *testing.T) {
	wide := &btf.Int{Name: "__int128", Size: 16, Encoding: btf.Signed}
	facts := kernel.Open(kernel.Options{Symbols: func() (*kernel.Symbols, error) {
		return kernel.ReadSymbols(strings.NewReader("ffffffff81000000 T scale\n"))
	}, Blacklist: testBlacklist, TracefsPath: t.TempDir(),
		BTF: smallkernel.BTF(t, smallkernel.Function("scale", wide, btf.FuncParam{Name: "by", Type: wide}))})
	res, err := infer.Plan(planOf(t, `probe("kprobe:scale", lambda e: print(e.args))`), facts, infer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := res.Tree.String(); !strings.Contains(got, "record(by=(u64, s64))") {
		t.Errorf("%s\nwant a record with a tuple of two", got)
	}
}

// A second index of an array that is one row in the kernel's types is refused in both halves, with what to write.
//
// > The kernel's types have an array of several dimensions as one row of elements. Of `int m[2][3]` C's `m[1][2]` is
// > `x.m[1 * 3 + 2]`, and `x.m[1][2]` is refused.
func TestArrayInOneRow(t *testing.T) {
	integer := &btf.Int{Name: "int", Size: 4, Encoding: btf.Signed}
	row := &btf.Struct{Name: "grid", Size: 24, Members: []btf.Member{
		{Name: "m", Type: &btf.Array{Index: integer, Type: integer, Nelems: 6}}}}
	nested := &btf.Struct{Name: "nest", Size: 24, Members: []btf.Member{{Name: "m", Type: &btf.Array{Index: integer,
		Type: &btf.Array{Index: integer, Type: integer, Nelems: 3}, Nelems: 2}}}}
	facts := kernel.Open(kernel.Options{Symbols: func() (*kernel.Symbols, error) {
		return kernel.ReadSymbols(strings.NewReader("ffffffff81000000 T turn\n"))
	}, Blacklist: testBlacklist, TracefsPath: t.TempDir(), BTF: smallkernel.BTF(t, smallkernel.Function("turn", integer,
		btf.FuncParam{Name: "g", Type: &btf.Pointer{Target: row}},
		btf.FuncParam{Name: "n", Type: &btf.Pointer{Target: nested}}))})
	const refused = "has no elements, so no [ ]: the kernel's types have an array of several dimensions as one row"
	for _, c := range []struct{ script, want string }{
		{`lambda e: print(e.args.g.m[1][2])`, refused},
		{`lambda e: print(1), where = lambda e: e.args.g.m[1][2] == 3`, refused},
		{`lambda e: print(e.args.g.m[5])`, "+20 "},
		{`lambda e: print(e.args.n.m[1][2])`, "+20 "},
		{`lambda e: print(1), where = lambda e: e.args.n.m[1][2] == 3`, "+20 "},
		{`lambda e: print(e.args.n.m)`, "((s32!, s32!, s32!), (s32!, s32!, s32!))"},
	} {
		res, err := infer.Plan(planOf(t, `probe("kprobe:turn", `+c.script+`)`), facts, infer.Options{})
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = res.Tree.String()
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s:\n%s\nwant %s", c.script, got, c.want)
		}
	}
}
