package emit

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cilium/ebpf/asm"

	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/ir/irtest"
	"github.com/startrace/startrace/bpfgen/regalloc"
)

func emitted(t *testing.T, f *ir.Func) (asm.Instructions, []Line) {
	t.Helper()
	a, err := regalloc.Allocate(f)
	if err != nil {
		t.Fatal(err)
	}
	if err := regalloc.Verify(f, a); err != nil {
		t.Fatal(err)
	}
	code, err := Emit(f, a)
	if err != nil {
		t.Fatal(err)
	}
	return code.Insns, code.Lines
}

func parse(t *testing.T, text string) *ir.Func {
	t.Helper()
	f, err := ir.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestGolden(t *testing.T) {
	irtest.Golden(t, "emit", func(t *testing.T, f *ir.Func) string {
		insns, lines := emitted(t, f)
		text := strings.ReplaceAll(fmt.Sprint(insns), "\t", "  ")
		for _, l := range lines {
			text += fmt.Sprintf("line %d %s\n", l.Insn, l.Pos)
		}
		return text
	})
}

// TestBytes compares the encoding of atomics, 64-bit immediates and byte
// swaps, where the assembler has traps, with the kernel's documentation
// (Documentation/bpf/standardization/instruction-set.rst).
func TestBytes(t *testing.T) {
	for _, tt := range []struct{ name, body, want string }{
		{"add", "v1 = slot s0 +0\n v2 = ctx\n v3 = load64 v2 +0\n atomicadd64 v1, v3 +0\n ret",
			"dbXaf8ff00000000"},
		{"xchg", "v1 = slot s0 +0\n v2 = ctx\n v3 = load64 v2 +0\n v4 = xchg64 v1, v3 +8\n ret v4",
			"dbXa0000e1000000"},
		{"cmpxchg", "v1 = slot s0 +0\n v2 = ctx\n v3 = load64 v2 +0\n v5 = load64 v2 +8\n" +
			" v4 = cmpxchg64 v1, v3, v5 +0\n ret v4",
			"dbXaf8fff1000000"},
		{"store", "v1 = slot s0 +0\n v2 = const -2\n store64 v1, v2 +0\n ret", "7a0af8fffeffffff"},
		{"store8", "v1 = slot s0 +0\n v2 = const 511\n store8 v1, v2 +0\n ret", "720af8ffffffffff"},
		{"be16", "v1 = ctx\n v2 = load64 v1 +0\n v3 = bswap16 v2\n ret v3", "dc00000010000000"},
		{"be64", "v1 = ctx\n v2 = load64 v1 +0\n v3 = bswap64 v2\n ret v3", "dc00000040000000"},
		{"neg", "v1 = ctx\n v2 = load64 v1 +0\n v3 = neg v2\n ret v3", "8700000000000000"},
		{"mov32", "v1 = const 4294967295\n ret v1", "b4000000ffffffff"},
		{"imm64", "v1 = const 81985529216486895\n ret v1", "18000000efcdab890000000067452301"},
		{"mapvalue", "v1 = mapvalue \"m\" +24\n v2 = load64 v1 +0\n ret v2", "182X0000000000000000000018000000"},
	} {
		insns, _ := emitted(t, parse(t, "func \"f\" {\n slot s0 8\nb0:\n "+tt.body+"\n}\n"))
		var code bytes.Buffer
		if err := insns.Marshal(&code, binary.LittleEndian); err != nil && tt.name != "mapvalue" {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if tt.name == "mapvalue" { // Marshal wants the map
			code.Reset()
			if _, err := insns[0].Marshal(&code, binary.LittleEndian); err != nil {
				t.Error(err)
			}
		}
		if !hasPattern(fmt.Sprintf("%x", code.Bytes()), tt.want) {
			t.Errorf("%s: no %s in %x", tt.name, tt.want, code.Bytes())
		}
	}
}

// hasPattern looks for want at the start of an instruction of 16 digits; X
// stands for any register.
func hasPattern(code, want string) bool {
	for i := 0; i+len(want) <= len(code); i += 16 {
		ok := true
		for k := range want {
			ok = ok && (want[k] == 'X' || want[k] == code[i+k])
		}
		if ok {
			return true
		}
	}
	return false
}

// TestMarks: the first instruction has the symbol, map loads the names of
// their maps.
func TestMarks(t *testing.T) {
	insns, _ := emitted(t, parse(t, "func \"prog\" {\nb0:\n v1 = map \"ring\"\n v2 = call 1 v1\n ret\n}\n"))
	if insns[0].Symbol() != "prog" || insns[0].Reference() != "ring" || !insns[0].IsLoadFromMap() {
		t.Errorf("first instruction %v, symbol %q, reference %q", insns[0], insns[0].Symbol(), insns[0].Reference())
	}
}

func TestDistance(t *testing.T) {
	var s strings.Builder
	s.WriteString("func \"far\" {\nb0:\n v1 = ctx\n v2 = load64 v1 +0\n br eq v2, 0 -> b1, b2 likely @a.star:7:8\n" +
		"b2:\n")
	for range 33000 {
		s.WriteString(" store64 v1, v2 +0\n")
	}
	s.WriteString(" ret\nb1:\n ret v2\n}\n")
	f := parse(t, s.String())
	a, err := regalloc.Allocate(f)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Emit(f, a)
	var far *DistanceError
	if !errors.As(err, &far) {
		t.Fatalf("error %v, want a DistanceError", err)
	}
	if far.From != 1 || far.Distance < 33000 || far.Pos.Line != 7 {
		t.Errorf("%+v", far)
	}
}

// TestDistancePatched: what the kernel makes longer counts with its length then.
func TestDistancePatched(t *testing.T) {
	for n, fits := range map[int]bool{3000: true, 4000: false} {
		f := parse(t, "func \"far\" {\nb0:\n v1 = ctx\n v2 = load64 v1 +0\n br eq v2, 0 -> b1, b2 likely\nb2:\n"+
			strings.Repeat(" call 5\n", n)+" ret\nb1:\n ret v2\n}\n")
		a, err := regalloc.Allocate(f)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Emit(f, a)
		var far *DistanceError
		if errors.As(err, &far) == fits {
			t.Errorf("%d calls: error %v", n, err)
		}
	}
}

func TestOffsetTooFar(t *testing.T) {
	f := parse(t, "func \"f\" {\n slot s0 8\nb0:\n v1 = slot s0 +0\n v2 = load64 v1 -32768\n ret v2\n}\n")
	a, err := regalloc.Allocate(f)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Emit(f, a); err == nil || !strings.Contains(err.Error(), "does not fit 16 bits") {
		t.Errorf("error %v", err)
	}
}
