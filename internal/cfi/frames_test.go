package cfi_test

import (
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/startrace/startrace/internal/cfi"
	"github.com/startrace/startrace/internal/elffile"
	"github.com/startrace/startrace/internal/wire"
)

// The sections of these tests are loaded at 0x8000, and their code at 0x1000.
const sectionAt = 0x8000

var codeAt = elffile.CodeSection{Name: ".text", Addr: 0x1000, Size: 0x1000}

// octets are bytes as the tests write them, in hex with blanks.
func octets(s string) []byte {
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		panic(err)
	}
	return b
}

func word32(n int) []byte { return binary.LittleEndian.AppendUint32(nil, uint32(n)) }

func word64(n uint64) []byte { return binary.LittleEndian.AppendUint64(nil, n) }

// record puts the length in front.
func record(parts ...[]byte) []byte {
	b := slices.Concat(parts...)
	return append(word32(len(b)), b...)
}

// The records of most tests: version 1, no augmentation, code by 1, offsets by -8; addresses of 8 bytes.
const (
	amd64CIE = "01 00 01 78 10"
	amd64At  = "0c0708 90 01" // CFA is rsp + 8, rip is at CFA - 8
	arm64CIE = "01 00 04 78 1e"
	arm64At  = "0c1f00" // CFA is sp
)

// function is .eh_frame with a CIE and one function, from 0x1000 to 0x1100.
func function(cie, instructions string) []byte {
	return append(record(word32(0), octets(cie)), fde(len(octets(cie))+8, 0x1000, 0x100, instructions)...)
}

// fde is a function whose CIE begins so many bytes before it.
func fde(back int, begin, size uint64, instructions string) []byte {
	return record(word32(back+4), word64(begin), word64(size), octets(instructions))
}

// shown are rows as text: the address, and what the rule says.
func shown(machine elf.Machine, rows []cfi.Row) string {
	var out []string
	for _, r := range rows {
		s := say(machine, r.Rule)
		text := s.cfa + " " + s.fp + " " + s.pc
		switch {
		case r.Rule == wire.UnwindUnfollowed:
			text = "unfollowed"
		case s == said{}:
			text = "none"
		case s.pc == "stop":
			text = "stop"
		case r.Rule == wire.UnwindSignal:
			text = "signal"
		}
		out = append(out, fmt.Sprintf("%x %s", r.Addr, text))
	}
	return strings.Join(out, " | ")
}

// TestInstructions runs each instruction, encoded by hand.
func TestInstructions(t *testing.T) {
	const (
		begins = "1000 rsp+8 u c-8"
		ends   = "1100 none"
	)
	for _, c := range []struct{ name, code, want string }{
		{"none", "", ""},
		{"nop", "00 00 00", ""},
		{"advance_loc, def_cfa_offset, offset", "41 0e10 86 02", "1001 rsp+16 c-16 c-8"},
		{"advance_loc1", "02ff 0e10", "10ff rsp+16 u c-8"},
		{"advance_loc2", "038000 0e10", "1080 rsp+16 u c-8"},
		{"advance_loc4", "0480000000 0e10", "1080 rsp+16 u c-8"},
		{"advance by nothing", "41 0e10 40 0e18", "1001 rsp+24 u c-8"},
		{"set_loc", "01 2010000000000000 0e10", "1020 rsp+16 u c-8"},
		{"set_loc, backwards", "44 01 0210000000000000 0e10", "1004 none"},
		{"behind the function's end", "03 0001 0e10", ""},
		{"far behind it", "04 ffffffff 0e10 04 ffffffff 0e18", ""},
		{"def_cfa", "41 0c0610", "1001 rbp+16 u c-8"},
		{"def_cfa_register", "41 0e10 0d06", "1001 rbp+16 u c-8"},
		{"def_cfa_sf", "41 12077e", "1001 rsp+16 u c-8"},
		{"def_cfa_offset_sf", "41 137d", "1001 rsp+24 u c-8"},
		{"a CFA below the register", "41 1306", "1001 rsp-48 u c-8"},
		{"def_cfa, of another register", "41 0c0a00 42 0c0708", "1001 r10+0 u c-8 | 1003 rsp+8 u c-8"},
		{"def_cfa, register 263, which is none", "41 0c870208", "1001 unfollowed"},
		{"an offset that is no word", "41 0e11", "1001 unfollowed"},
		{"the largest offset", "41 0ef8ffff03", "1001 rsp+8388600 u c-8"},
		{"one that is larger", "41 0e80808004", "1001 unfollowed"},
		{"offset_extended", "41 050602", "1001 rsp+8 c-16 c-8"},
		{"offset_extended_sf", "41 110603", "1001 rsp+8 c-24 c-8"},
		{"above CFA", "41 11067e", "1001 unfollowed"},
		{"GNU_negative_offset_extended", "41 2f0602", "1001 unfollowed"},
		{"GNU_args_size", "41 2e8001", ""},
		{"negate_ra_state", "41 2d 2c", ""},
		{"other registers", "41 8302 8c03 0307 050c04 070d 080e 090f03 10 0301 96", ""},
		{"rbp where rip is", "41 8601", "1001 unfollowed"},
		{"rbp as far away as it can be", "41 86fe01", "1001 rsp+8 c-2032 c-8"},
		{"rbp farther away", "41 86ff01", "1001 unfollowed"},
		{"restore", "41 8602 42 c6", "1001 rsp+8 c-16 c-8 | 1003 rsp+8 u c-8"},
		{"restore_extended", "41 8602 42 0606", "1001 rsp+8 c-16 c-8 | 1003 rsp+8 u c-8"},
		{"restore, to what the CIE says", "41 0710 42 d0", "1001 stop | 1003 rsp+8 u c-8"},
		{"undefined", "41 0706", ""},
		{"undefined, of rip", "41 0710", "1001 stop"},
		{"same_value", "41 8602 42 0806", "1001 rsp+8 c-16 c-8 | 1003 rsp+8 u c-8"},
		{"same_value, of rip", "41 0810", "1001 unfollowed"},
		{"rip elsewhere", "41 9002", "1001 unfollowed"},
		{"register", "41 090607", "1001 unfollowed"},
		{"register, of rip", "41 091005", "1001 rsp+8 u rdi"},
		{"register, of rip, and CFA is rsp", "41 0e00 091005", "1001 rsp+0 u rdi"},
		{"register, of rip, and rbp is saved", "41 8602 091005", "1001 unfollowed"},
		{"register, of rip, which is none", "41 09108702", "1001 unfollowed"},
		{"val_offset", "41 140602", "1001 unfollowed"},
		{"val_offset_sf", "41 150602", "1001 unfollowed"},
		{"val_expression", "41 1606 02 7600", "1001 unfollowed"},
		{"val_offset, of rsp, which is CFA anyway", "41 140700", ""},
		{"remember_state, restore_state", "0a 41 0e10 42 0b", "1001 rsp+16 u c-8 | 1003 rsp+8 u c-8"},
		{"one in another", "0a 41 0e10 0a 42 0e18 41 0b 41 0b",
			"1001 rsp+16 u c-8 | 1003 rsp+24 u c-8 | 1004 rsp+16 u c-8 | 1005 rsp+8 u c-8"},
		{"64 states are remembered", strings.Repeat("0a", 64) + "41 0e10", "1001 rsp+16 u c-8"},
		{"65 are not", "41" + strings.Repeat("0a", 65) + "41 0e10", "1001 none"},
		{"no state is remembered", "41 0b 41 0e10", "1001 none"},
		{"an instruction that is none", "41 0e10 41 3f", "1001 rsp+16 u c-8 | 1002 none"},
		{"no operand", "41 0e10 41 02", "1001 rsp+16 u c-8 | 1002 none"},
		{"no end of an operand", "41 0e10 41 0e80", "1001 rsp+16 u c-8 | 1002 none"},
		{"an operand of many bytes", "41 0e" + strings.Repeat("90", 20) + "00", "1001 unfollowed"},
	} {
		want := begins
		if c.want != "" {
			want += " | " + c.want
		}
		if !strings.HasSuffix(want, "none") {
			want += " | " + ends
		}
		rows, _ := cfi.FrameRows(elf.EM_X86_64, function(amd64CIE+amd64At, c.code), nil, sectionAt, codeAt)
		if got := shown(elf.EM_X86_64, rows); got != want {
			t.Errorf("%s: got %s, want %s", c.name, got, want)
		}
	}
}

// TestExpressions: those of a CFA and of the frame pointer.
func TestExpressions(t *testing.T) {
	for _, c := range []struct{ name, code, want string }{
		{"an entry of the PLT", "0f 0b 7708 8000 3f 1a 3b 2a 33 24 22", "stub 11 u c-8"},
		{"of another length", "0f 0b 7708 8000 3f 1a 3a 2a 33 24 22", "stub 10 u c-8"},
		{"no literal of 4 bits", "0f 0b 7708 8000 3f 1a 42 2a 33 24 22", "unfollowed"},
		{"of programs of 32 bits", "0f 0b 7708 8000 3f 1a 3b 2a 32 24 22", "unfollowed"},
		{"a word in memory", "0f 03 7678 06", "*(rbp-8)+0 u c-8"},
		{"and a number", "0f 06 77a07f 06 2310", "*(rsp-96)+16 u c-8"},
		{"plus", "0f 05 7608 06 38 22", "*(rbp+8)+8 u c-8"},
		{"before the word", "0f 05 38 7608 06 22", "*(rbp+8)+8 u c-8"},
		{"minus", "0f 05 7608 06 38 1c", "*(rbp+8)-8 u c-8"},
		{"a constant", "0f 07 7608 06 0a0001 22", "*(rbp+8)+256 u c-8"},
		{"a register and a number", "0f 02 7708", "rsp+8 u c-8"},
		{"constants of 1 and 2 bytes", "0f 10 7708 0808 22 09f8 22 0a1000 22 0bf0ff 22", "rsp+8 u c-8"},
		{"of 4 bytes", "0f 0e 7708 0c10000000 22 0df8ffffff 22", "rsp+16 u c-8"},
		{"of any length", "0f 08 7708 1020 22 1170 22", "rsp+24 u c-8"},
		{"nop", "0f 03 7708 96", "rsp+8 u c-8"},
		{"far away in memory", "0f 04 76f807 06", "*(rbp+1016)+0 u c-8"},
		{"farther away", "0f 04 768008 06", "unfollowed"},
		{"not at a word", "0f 03 7679 06", "unfollowed"},
		{"a word of a word", "0f 04 7678 06 06", "unfollowed"},
		{"of another register", "0f 03 7078 06", "unfollowed"},
		{"a number", "0f 01 38", "unfollowed"},
		{"nothing", "0f 00", "unfollowed"},
		{"two values", "0f 02 38 38", "unfollowed"},
		{"too many values", "0f 06 38 38 38 38 38 38", "unfollowed"},
		{"no values", "0f 01 22", "unfollowed"},
		{"an operation that is not known", "0f 03 7708 12", "unfollowed"},
		{"an operand is missing", "0f 01 77", "unfollowed"},
		{"longer than the instructions", "0f 05 7708", "none"},
		{"two registers", "0f 05 7708 7708 22", "unfollowed"},
		{"long", "0f 21 7708" + strings.Repeat("96", 31), "unfollowed"},
		{"and then a register, with the offset as it was", "0e10 0f 03 7678 06 41 0d07",
			"*(rbp-8)+0 u c-8 | 1001 rsp+16 u c-8"},
		{"rbp where rbp points to", "10 06 02 7600", "rsp+8 exp c-8"},
		{"rbp elsewhere", "10 06 02 7608", "unfollowed"},
		{"rbp a word in memory", "10 06 03 7600 06", "unfollowed"},
		{"rip at an expression", "10 10 02 7708", "unfollowed"},
	} {
		rows, _ := cfi.FrameRows(elf.EM_X86_64, function(amd64CIE+amd64At, c.code), nil, sectionAt, codeAt)
		want := "1000 " + c.want
		if c.want != "none" {
			want += " | 1100 none"
		}
		if got := shown(elf.EM_X86_64, rows); got != want {
			t.Errorf("%s: got %s, want %s", c.name, got, want)
		}
	}
}

// TestARM64: frame pointer and link register.
func TestARM64(t *testing.T) {
	for _, c := range []struct{ name, code, want string }{
		{"both in registers", "", "sp+0 u u"},
		{"a pair", "0e20 9d04 9e03", "sp+32 c-32 c-24"},
		{"a pair, by x29", "0c1d20 9d04 9e03", "x29+32 c-32 c-24"},
		{"a pair far below", "0e20 9dfe0f 9efd0f", "sp+32 c-16368 c-16360"},
		{"farther below", "0e20 9d8010 9eff0f", "unfollowed"},
		{"as far as cannot be said", "0e20 9dff0f 9efe0f", "unfollowed"},
		{"at the stack pointer, far below", "0e808001 9d8010 9eff0f", "sp+16384 c-16384 c-16376"},
		{"no pair", "0e20 9d04 9e02", "unfollowed"},
		{"a pair at CFA", "9d01 1e 00", "none"},
		{"x30 only", "0e10 9e02", "sp+16 u c-16"},
		{"x30 only, by x29", "0c1d10 9e02", "unfollowed"},
		{"x29 only", "0e10 9d02", "unfollowed"},
		{"x30 undefined", "071e", "stop"},
		{"x30 in another register", "091e0f", "unfollowed"},
		{"x29 in another register", "091d0f", "unfollowed"},
		{"signed", "2d 0e20 9d04 9e03", "sp+32 c-32 c-24"},
		{"signed, of the pc", "2c 0e20 9d04 9e03", "sp+32 c-32 c-24"},
		{"restore", "9d04 9e03 dd de", "sp+0 u u"},
		{"the largest offset", "0e f8ff3f", "sp+1048568 u u"},
		{"larger", "0e 808040", "unfollowed"},
		{"an entry of a PLT of amd64", "0f 0b 7708 8000 3f 1a 3b 2a 33 24 22", "unfollowed"},
		{"a word in memory", "0f 03 8d78 06", "*(x29-8)+0 u u"},
		{"a word in memory, x30 only", "0f 03 8f78 06 9e02", "unfollowed"},
	} {
		rows, _ := cfi.FrameRows(elf.EM_AARCH64, function(arm64CIE+arm64At, c.code), nil, sectionAt, codeAt)
		want := "1000 " + c.want
		if c.want != "none" {
			want += " | 1100 none"
		}
		if got := shown(elf.EM_AARCH64, rows); got != want {
			t.Errorf("%s: got %s, want %s", c.name, got, want)
		}
	}
	rows, _ := cfi.FrameRows(elf.EM_AARCH64, function(arm64CIE+arm64At, "41 0e20"), nil, sectionAt, codeAt)
	if got, want := shown(elf.EM_AARCH64, rows), "1000 sp+0 u u | 1004 sp+32 u u | 1100 none"; got != want {
		t.Errorf("code advances by 4: got %s, want %s", got, want)
	}
}
