package infer_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/cilium/ebpf/btf"

	"github.com/startrace/startrace/bpfgen/infer"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/test/smallkernel"
)

// hooksOf is a kernel with the hooks file_open, file_closed, which lets no programs, and file_wide, whose argument no
// trampoline passes.
func hooksOf(t *testing.T) *kernel.Facts {
	number := &btf.Int{Name: "long unsigned int", Size: 8}
	wide := &btf.Struct{Name: "wide", Size: 16, Members: []btf.Member{{Name: "a", Type: number},
		{Name: "b", Type: number, Offset: 64}}}
	types := smallkernel.Hooks(btf.FuncParam{Name: "n", Type: number},
		"file_open", "file_closed", "file_wide", "file_shut")
	for _, typ := range types {
		if f, is := typ.(*btf.Func); is && f.Name == "bpf_lsm_file_wide" {
			f.Type = &btf.FuncProto{Return: number, Params: []btf.FuncParam{{Name: "w", Type: wide}}}
		}
	}
	var facts *kernel.Facts
	facts = kernel.Open(kernel.Options{BTF: smallkernel.BTF(t, types...), TracefsPath: "testdata/tracefs",
		Symbols: testSymbols, Blacklist: testBlacklist, TryHook: func(id kernel.TypeID) error {
			b, err := facts.BTF()
			if err != nil {
				return err
			}
			for _, closed := range []string{"bpf_lsm_file_closed", "bpf_lsm_file_shut"} {
				if at, _ := b.Named(kernel.KindFunc, closed); at == id {
					return errors.New("closed")
				}
			}
			return nil
		}})
	return facts
}

// What the kernel lets no program at is left out of patterns, with a note, and refused by name; a pattern of which
// nothing is left is refused.
//
// > Some hooks give data of a module and decide nothing.
// > From Linux 6.12 on the kernel lets no programs at these.
// > By name they are refused, and left out of patterns with a note of `-v`.
func TestHooksWithoutPrograms(t *testing.T) {
	facts := hooksOf(t)
	for _, pattern := range []string{"lsm:*", "lsm:file_*"} {
		res, err := infer.Plan(planOf(t, `n = count()
probe("`+pattern+`", lambda e: n[e.func].add())`), facts, infer.Options{})
		if err != nil {
			t.Fatalf("%s: %v", pattern, err)
		}
		if n := len(res.Tree.Programs); n != 1 {
			t.Errorf("%s: %d programs", pattern, n)
		}
		var notes []string
		for _, n := range res.Notes {
			notes = append(notes, n.Msg)
		}
		want := strings.ReplaceAll(`P: lsm:file_closed is left out: closed
P: lsm:file_shut is left out: closed
P: lsm:file_wide is left out: file_wide takes w by value in several words`, "P", pattern)
		if got := strings.Join(notes, "\n"); got != want {
			t.Errorf("%s: notes %q, want %q", pattern, got, want)
		}
	}
	for pattern, want := range map[string]string{
		"lsm:file_closed": "lsm:file_closed: closed",
		"lsm:file_wide":   "lsm:file_wide: file_wide takes w by value in several words",
		"lsm:file_*[dt]":  "lsm:file_*[dt]: none of these hooks can have a program: lsm:file_closed: closed",
	} {
		_, err := infer.Plan(planOf(t, `probe("`+pattern+`", lambda e: print(e.func))`), facts, infer.Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", pattern, err, want)
		}
	}
}
