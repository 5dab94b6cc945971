package infer_test

import (
	"strings"
	"testing"

	"github.com/cilium/ebpf/btf"

	"github.com/startrace/startrace/bpfgen/infer"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/test/smallkernel"
)

// A struct that a kernel function takes in memory is an address as a whole, and has its fields.
//
// > One that is passed in memory, because it has more than 16 bytes or because no registers are left, is the number of
// > its address as a value.
// > Its fields are read there all the same.
func TestStructInMemory(t *testing.T) {
	long := &btf.Int{Name: "long int", Size: 8, Encoding: btf.Signed}
	members := []btf.Member{{Name: "a", Type: long}, {Name: "b", Type: long, Offset: 64}}
	small := &btf.Struct{Name: "small", Size: 16, Members: members}
	large := &btf.Struct{Name: "large", Size: 24, Members: append(members,
		btf.Member{Name: "c", Type: long, Offset: 128})}
	facts := kernel.Open(kernel.Options{Symbols: func() (*kernel.Symbols, error) {
		return kernel.ReadSymbols(strings.NewReader("ffffffff81000000 T pack\n"))
	}, Blacklist: testBlacklist, TracefsPath: t.TempDir(), BTF: smallkernel.BTF(t, smallkernel.Function("pack", long,
		btf.FuncParam{Name: "in", Type: small}, btf.FuncParam{Name: "big", Type: large},
		btf.FuncParam{Name: "n1", Type: small}, btf.FuncParam{Name: "n2", Type: long},
		btf.FuncParam{Name: "late", Type: small}))})
	for _, c := range []struct{ body, want string }{
		{"print(e.args.in_)", "args.in_ (a sint@16+8, b sint@24+8)"},
		{"print(e.args.big)", "args.big int@16+8"},
		{"print(e.args.late)", "args.late int@16+8"}, // of six registers one is left
		{"print(e.args.late.b)", "load:s64! kernel +40 "},
		{"print(e.args.big.c)", "load:s64! kernel +24 "},
	} {
		res, err := infer.Plan(planOf(t, `probe("kprobe:pack", lambda e: `+c.body+`)`), facts, infer.Options{})
		if err != nil {
			t.Errorf("%s: %v", c.body, err)
			continue
		}
		if got := res.Tree.String(); !strings.Contains(got, c.want) {
			t.Errorf("%s:\n%s\nwant %s", c.body, got, c.want)
		}
	}
}
