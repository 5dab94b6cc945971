package kernel

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"
)

const symbolText = `0000000000000000 A fixed_percpu_data
ffffffff81000000 T _stext
ffffffff81000000 T _text
ffffffff81000100 t do_thing
bad line
ffffffff81000200 T do_thing
ffffffffc0201000 t helper	[some_module]
ffffffff81000300 D last_data
`

func parseSymbols(t *testing.T, text string) *Symbols {
	t.Helper()
	s, err := ReadSymbols(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSymbolsFind(t *testing.T) {
	s := parseSymbols(t, symbolText)
	for _, c := range []struct {
		addr uint64
		want Symbol
		off  uint64
	}{
		{0xffffffff81000000, Symbol{"_stext", 0xffffffff81000000, ""}, 0},
		{0xffffffff810000ff, Symbol{"_stext", 0xffffffff81000000, ""}, 0xff},
		{0xffffffff81000101, Symbol{"do_thing", 0xffffffff81000100, ""}, 1},
		{0xffffffff81000400, Symbol{"last_data", 0xffffffff81000300, ""}, 0x100},
		{0xffffffffc0201004, Symbol{"helper", 0xffffffffc0201000, "some_module"}, 4},
	} {
		got, off, ok := s.Find(c.addr)
		if !ok || got != c.want || off != c.off {
			t.Errorf("%x: got %+v, %x, %v", c.addr, got, off, ok)
		}
	}
	for _, addr := range []uint64{0, 0x400000, 0xffffffff80ffffff, 0xffffffffbfffffff, 0xffffffffffffff00} {
		if got, _, ok := s.Find(addr); ok {
			t.Errorf("%x: got %+v", addr, got)
		}
	}
}

func TestSymbolsAddr(t *testing.T) {
	s := parseSymbols(t, symbolText)
	for name, want := range map[string]uint64{"_text": 0xffffffff81000000, "do_thing": 0xffffffff81000100,
		"helper": 0xffffffffc0201000} {
		if got, ok := s.Addr(name); !ok || got != want {
			t.Errorf("%s: got %x, %v", name, got, ok)
		}
	}
	for _, name := range []string{"", "zzz", "AAA", "do_thin", "some_module", "fixed_percpu_data"} {
		if got, ok := s.Addr(name); ok {
			t.Errorf("%q: got %x", name, got)
		}
	}
}

func TestSymbolsSize(t *testing.T) {
	s := parseSymbols(t,
		"ffffffff81000000 T first\nffffffff81000040 t second\nffffffff81000040 t alias\nffffffff81000100 T last\n")
	for start, want := range map[uint64]uint64{0xffffffff81000000: 0x40, 0xffffffff81000040: 0xc0} {
		if size, ok := s.Size(start); !ok || size != want {
			t.Errorf("%#x: got %#x, %v", start, size, ok)
		}
	}
	if size, ok := s.Size(0xffffffff81000100); ok {
		t.Errorf("the last: got %#x", size)
	}
}

func TestSymbolsHidden(t *testing.T) {
	_, err := ReadSymbols(strings.NewReader("0000000000000000 T _stext\n0000000000000000 T _text\n"))
	if !errors.Is(err, ErrHiddenAddresses) {
		t.Errorf("got %v", err)
	}
	if _, err := ReadSymbols(strings.NewReader("")); err == nil || errors.Is(err, ErrHiddenAddresses) {
		t.Errorf("got %v", err)
	}
}

func TestKernelSymbols(t *testing.T) {
	s, err := OpenSymbols()
	if errors.Is(err, ErrHiddenAddresses) || errors.Is(err, os.ErrPermission) {
		t.Skip("needs to see kernel addresses (root, CONFIG_KALLSYMS):", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"_text", "vfs_read", "schedule"} {
		addr, ok := s.Addr(name)
		if !ok {
			t.Errorf("no %s", name)
			continue
		}
		sym, off, ok := s.Find(addr)
		if back, _ := s.Addr(sym.Name); !ok || off != 0 || back > addr {
			t.Errorf("%s: %x is %+v+%d", name, addr, sym, off)
		}
	}
	addr, _ := s.Addr("vfs_read")
	if sym, off, _ := s.Find(addr + 7); sym.Name != "vfs_read" || off != 7 {
		t.Errorf("got %+v+%d", sym, off)
	}
}

func FuzzSymbols(f *testing.F) {
	f.Add([]byte(symbolText))
	f.Add([]byte("f T \t\n8000000000000000 T a\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := ReadSymbols(bytes.NewReader(text))
		if err != nil {
			return
		}
		sym, off, ok := s.Find(1<<64 - 1)
		if ok && sym.Addr+off != 1<<64-1 {
			t.Errorf("got %+v+%d", sym, off)
		}
		if addr, ok := s.Addr(sym.Name); sym.Name != "" && !ok {
			t.Errorf("%q: got %x", sym.Name, addr)
		}
	})
}

func BenchmarkOpenSymbols(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := OpenSymbols(); err != nil {
			b.Skip("needs to see kernel addresses (root, CONFIG_KALLSYMS):", err)
		}
	}
}

func BenchmarkFindSymbol(b *testing.B) {
	s, err := OpenSymbols()
	if err != nil {
		b.Skip("needs to see kernel addresses (root, CONFIG_KALLSYMS):", err)
	}
	addr, _ := s.Addr("vfs_read")
	for b.Loop() {
		s.Find(addr + 5)
	}
}
