package kernel

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestSymbolsAddrs(t *testing.T) {
	s := parseSymbols(t, symbolText)
	for name, want := range map[string][]uint64{
		"do_thing": {0xffffffff81000100, 0xffffffff81000200}, "helper": {0xffffffffc0201000}, "absent": nil,
		"do_thin": nil, "": nil,
	} {
		if got := s.Addrs(name); !slices.Equal(got, want) {
			t.Errorf("%s: got %x, want %x", name, got, want)
		}
	}
}

func TestSymbolsText(t *testing.T) {
	s := parseSymbols(t, symbolText)
	for addr, want := range map[uint64]string{
		0xffffffff81000000: "_stext", 0xffffffff81000107: "do_thing+0x7", 0xffffffffc0201000: "helper [some_module]",
		0xffffffffc0201004: "helper+0x4 [some_module]", 0x1234: "0x1234",
	} {
		if got := s.Text(addr); got != want {
			t.Errorf("%x: got %q, want %q", addr, got, want)
		}
	}
}

func TestBlacklist(t *testing.T) {
	b, err := ReadBlacklist(strings.NewReader(
		"0xffffffff81000000-0xffffffff81000010\tdo_int3\n0x0-0x10\thandler [some_module]\nbroken\n" +
			"0x0-0x8\tentry+0x8\n\t\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"do_int3", "handler", "entry"} {
		if err := b.Check(name); !errors.Is(err, ErrNoProbes) || !strings.HasPrefix(err.Error(), name+":") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	for _, name := range []string{"vfs_read", "", "some_module", "broken"} {
		if err := errors.Join(b.Check(name), (&Blacklist{}).Check(name)); err != nil {
			t.Errorf("%q: got %v", name, err)
		}
	}
	if _, err := OpenBlacklist(); err != nil {
		t.Error(err)
	}
}

func FuzzBlacklist(f *testing.F) {
	f.Add([]byte("0xffffffff81000000-0xffffffff81000010\tdo_int3\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		b, err := ReadBlacklist(bytes.NewReader(text))
		if err == nil && b.Check("") != nil {
			t.Errorf("a function without a name is listed: %v", b.names)
		}
	})
}

// A glob over all functions of this kernel.
func BenchmarkMatchFunctions(b *testing.B) {
	facts := Open(Options{})
	if _, err := facts.MatchFunctions("tcp_*"); err != nil {
		b.Skip("needs the list of functions (tracefs, or /proc/kallsyms with addresses):", err)
	}
	for b.Loop() {
		list, err := facts.MatchFunctions("tcp_*")
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(len(list)), "functions")
	}
}

func BenchmarkReadFunctions(b *testing.B) {
	for b.Loop() {
		facts := Open(Options{})
		if _, err := facts.functionNames(); err != nil {
			b.Skip("needs the list of functions (tracefs, or /proc/kallsyms with addresses):", err)
		}
		if len(facts.functions) == 0 {
			b.Fatal("no functions")
		}
	}
}
