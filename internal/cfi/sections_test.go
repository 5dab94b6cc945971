package cfi_test

import (
	"debug/elf"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/startrace/startrace/internal/cfi"
)

const augmentedCIE = "01 7a5200 01 78 10 01" // version 1, zR, and one byte for R: how addresses are written

// TestAddresses: the ways to write where a function lies.
func TestAddresses(t *testing.T) {
	const whole = "1000 rsp+8 u c-8 | 1100 none"
	at := sectionAt + 4 + len(octets(augmentedCIE+"00"+amd64At)) + 4 + 8 // of the first address, without padding
	relative := word32(0x1000 - at)
	for _, c := range []struct {
		name, encoding string
		begin, size    []byte
		want           string
	}{
		{"absptr", "00", word64(0x1000), word64(0x100), whole},
		{"uleb128", "01", octets("8020"), octets("8002"), whole},
		{"udata2", "02", octets("0010"), octets("0001"), whole},
		{"udata4", "03", word32(0x1000), word32(0x100), whole},
		{"udata8", "04", word64(0x1000), word64(0x100), whole},
		{"signed", "08", word64(0x1000), word64(0x100), whole},
		{"sleb128", "09", octets("8020"), octets("8002"), whole},
		{"sdata2", "0a", octets("0010"), octets("0001"), whole},
		{"sdata4", "0b", word32(0x1000), word32(0x100), whole},
		{"sdata8", "0c", word64(0x1000), word64(0x100), whole},
		{"pcrel sdata4", "1b", relative, word32(0x100), whole},
		{"pcrel sdata8", "1c", word64(uint64(0x1000 - at)), word64(0x100), whole},
		{"pcrel sdata2", "1a", binary.LittleEndian.AppendUint16(nil, uint16(0x1000-at)), octets("0001"), whole},
		{"no form", "05", word32(0x1000), word32(0x100), ""},
		{"textrel", "2b", word32(0x1000), word32(0x100), ""},
		{"datarel", "3b", word32(0x1000), word32(0x100), ""},
		{"funcrel", "4b", word32(0x1000), word32(0x100), ""},
		{"aligned", "50", word64(0x1000), word64(0x100), ""},
		{"indirect", "9b", relative, word32(0x100), ""},
		{"left out", "ff", nil, nil, ""},
		{"a size of 0", "03", word32(0x1000), word32(0), ""},
		{"behind the last address", "00", word64(0x1000), word64(^uint64(0)), ""},
		{"cut off", "00", word64(0x1000), word32(0x100), ""},
	} {
		cie := record(word32(0), octets(augmentedCIE+c.encoding+amd64At))
		data := append(cie, record(word32(len(cie)+4), c.begin, c.size, octets("00"))...)
		rows, stats := cfi.FrameRows(elf.EM_X86_64, data, nil, sectionAt, codeAt)
		got := shown(elf.EM_X86_64, rows)
		if got != c.want || (stats.Damaged == 0) != (c.want != "") {
			t.Errorf("%s: got %s, want %s; %+v", c.name, got, c.want, stats)
		}
	}
}

// TestCIE: versions and augmentations.
func TestCIE(t *testing.T) {
	const whole = "1000 rsp+8 u c-8 | 1100 none"
	for _, c := range []struct{ name, cie, want string }{
		{"version 1", "01 00 01 78 10" + amd64At, whole},
		{"version 3", "03 00 01 78 10" + amd64At, whole},
		{"version 4", "04 00 08 00 01 78 10" + amd64At, whole},
		{"version 2", "02 00 01 78 10" + amd64At, ""},
		{"version 4, addresses of 4 bytes", "04 00 04 00 01 78 10" + amd64At, ""},
		{"version 4, segments", "04 00 08 01 01 78 10" + amd64At, ""},
		{"version 3, the register in two bytes", "03 00 01 78 9000" + amd64At, whole},
		{"the return address in a register that is no caller's", "01 00 01 78 05" + amd64At,
			"1000 unfollowed | 1100 none"},
		{"eh", "01 656800 0000000000000000 01 78 10" + amd64At, whole},
		{"not z", "01 5200 01 78 10 00" + amd64At, ""},
		{"a letter that is not known", "01 7a5900 01 78 10 00" + amd64At, ""},
		{"no end of the augmentation", "01 7a7a7a", ""},
		{"code by 65", "01 00 41 78 10" + amd64At, ""},
		{"offsets by -65", "01 00 01 bf7f 10" + amd64At, ""},
		{"instructions that are damaged", "01 00 01 78 10 3f", ""},
		{"instructions that advance", "01 00 01 78 10 41" + amd64At, whole},
		{"no instructions", "01 00 01 78 10", "1000 none"},
		{"nothing", "", ""},
	} {
		rows, stats := cfi.FrameRows(elf.EM_X86_64, function(c.cie, "00"), nil, sectionAt, codeAt)
		got := shown(elf.EM_X86_64, rows)
		if got != c.want || (stats.Damaged == 0) != (c.want != "") {
			t.Errorf("%s: got %s, want %s; %+v", c.name, got, c.want, stats)
		}
	}
}

// TestAugmentation: each letter, with what stands for it in functions.
func TestAugmentation(t *testing.T) {
	const signal = "0f 04 77a001 06 10 10 03 77a801" // CFA is *(rsp + 160), rip is at rsp + 168
	for _, c := range []struct {
		name    string
		machine elf.Machine
		cie     string
		fde     string
		want    string
	}{
		{"z", elf.EM_X86_64, "01 7a00 01 78 10 00" + amd64At, "00 410e10",
			"1000 rsp+8 u c-8 | 1001 rsp+16 u c-8 | 1100 none"},
		{"P L R", elf.EM_X86_64, "01 7a504c5200 01 78 10 07 9b00000000 1b 00" + amd64At, "04 ffffffff 410e10",
			"1000 rsp+8 u c-8 | 1001 rsp+16 u c-8 | 1100 none"},
		{"P of 8 bytes", elf.EM_X86_64, "01 7a5000 01 78 10 09 80 0000000000000000" + amd64At, "00",
			"1000 rsp+8 u c-8 | 1100 none"},
		{"P of a form that is none", elf.EM_X86_64, "01 7a5000 01 78 10 02 06 00" + amd64At, "00", ""},
		{"P cut off", elf.EM_X86_64, "01 7a5000 01 78 10 02 03 00" + amd64At, "00", ""},
		{"longer than the function", elf.EM_X86_64, "01 7a00 01 78 10 00" + amd64At, "05 00", ""},
		{"S", elf.EM_X86_64, "01 7a5300 01 78 10 00" + amd64At, "00" + signal, "1000 signal | 1100 none"},
		{"without S", elf.EM_X86_64, "01 7a00 01 78 10 00" + amd64At, "00" + signal,
			"1000 unfollowed | 1100 none"},
		{"S, of a frame like others", elf.EM_X86_64, "01 7a5300 01 78 10 00" + amd64At, "00",
			"1000 rsp+8 u c-8 | 1100 none"},
		{"S of arm64", elf.EM_AARCH64, "01 7a5300 04 78 1e 00" + arm64At, "00", "1000 signal | 1100 none"},
		{"B", elf.EM_AARCH64, "01 7a4200 04 78 1e 00" + arm64At, "00 2d", "1000 sp+0 u u | 1100 none"},
		{"G", elf.EM_AARCH64, "01 7a4700 04 78 1e 00" + arm64At, "00", "1000 sp+0 u u | 1100 none"},
	} {
		rows, stats := cfi.FrameRows(c.machine, function(c.cie, c.fde), nil, sectionAt, codeAt)
		got := shown(c.machine, rows)
		if got != c.want || (stats.Damaged == 0) != (c.want != "") {
			t.Errorf("%s: got %s, want %s; %+v", c.name, got, c.want, stats)
		}
	}
}

// The functions of the tests below, by the word that their CFA is above rsp.
func one(back int, begin, size uint64, words string) []byte {
	return fde(back, begin, size, "0e"+words)
}

// TestFunctions: their order, overlaps and gaps.
func TestFunctions(t *testing.T) {
	cie := record(word32(0), octets(amd64CIE+amd64At))
	type fn struct {
		begin, size uint64
		cfa         string
	}
	for _, c := range []struct {
		name string
		list []fn
		want string
	}{
		{"not in order", []fn{{0x1100, 0x10, "10"}, {0x1000, 0x10, "18"}},
			"1000 rsp+24 u c-8 | 1010 none | 1100 rsp+16 u c-8 | 1110 none"},
		{"padding", []fn{{0x1000, 0x10, "10"}, {0x1020, 0x10, "18"}},
			"1000 rsp+16 u c-8 | 1020 rsp+24 u c-8 | 1030 none"},
		{"more than padding", []fn{{0x1000, 0xf, "10"}, {0x1020, 0x10, "18"}},
			"1000 rsp+16 u c-8 | 100f none | 1020 rsp+24 u c-8 | 1030 none"},
		{"neighbours alike", []fn{{0x1000, 0x10, "10"}, {0x1010, 0x10, "10"}}, "1000 rsp+16 u c-8 | 1020 none"},
		{"twice", []fn{{0x1000, 0x10, "10"}, {0x1000, 0x20, "18"}}, "1000 rsp+16 u c-8 | 1010 none"},
		{"one reaches into the next", []fn{{0x1000, 0x40, "10"}, {0x1010, 0x10, "18"}},
			"1000 rsp+16 u c-8 | 1010 rsp+24 u c-8 | 1020 none"},
		{"removed by the linker", []fn{{0, 0x1080, "10"}, {0x1000, 0x10, "18"}}, "1000 rsp+24 u c-8 | 1010 none"},
		{"behind the code", []fn{{0x1000, 0x10, "10"}, {0x2000, 0x10, "18"}}, "1000 rsp+16 u c-8 | 1010 none"},
		{"out of the code", []fn{{0x1ff0, 0x100, "10"}}, "1ff0 rsp+16 u c-8 | 2000 none"},
		{"no rule that is followed, and then nothing", []fn{{0x1000, 0x10, "11"}}, "1000 unfollowed | 1010 none"},
	} {
		data := slices.Clone(cie)
		for _, f := range c.list {
			data = append(data, one(len(data), f.begin, f.size, f.cfa)...)
		}
		rows, _ := cfi.FrameRows(elf.EM_X86_64, data, nil, sectionAt, codeAt)
		if got := shown(elf.EM_X86_64, rows); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

// debugFunction is .debug_frame with a CIE and one function; the CIE comes last.
func debugFunction(begin, size uint64, instructions string) []byte {
	fde := record(word32(4+4+8+8+len(octets(instructions))), word64(begin), word64(size), octets(instructions))
	return append(fde, record(word32(-1), octets(amd64CIE+amd64At))...)
}

// TestBothSections: where both have a function, .eh_frame counts.
func TestBothSections(t *testing.T) {
	exceptions := function(amd64CIE+amd64At, "0e10") // 1000 to 1100
	for _, c := range []struct {
		name string
		eh   []byte
		// begin and size of a function of .debug_frame
		begin, size uint64
		want        string
	}{
		{"only debug", nil, 0x1000, 0x10, "1000 rsp+32 u c-8 | 1010 none"},
		{"the same", exceptions, 0x1000, 0x100, "1000 rsp+16 u c-8 | 1100 none"},
		{"within", exceptions, 0x1010, 0x10, "1000 rsp+16 u c-8 | 1100 none"},
		{"more", exceptions, 0x1000, 0x200, "1000 rsp+16 u c-8 | 1100 rsp+32 u c-8 | 1200 none"},
		{"behind", exceptions, 0x1108, 0x10, "1000 rsp+16 u c-8 | 1108 rsp+32 u c-8 | 1118 none"},
		{"far behind", exceptions, 0x1200, 0x10, "1000 rsp+16 u c-8 | 1100 none | 1200 rsp+32 u c-8 | 1210 none"},
		{"a rule that is not followed counts", function(amd64CIE+amd64At, "0e11"), 0x1000, 0x100,
			"1000 unfollowed | 1100 none"},
	} {
		debug := debugFunction(c.begin, c.size, "0e20")
		rows, stats := cfi.FrameRows(elf.EM_X86_64, c.eh, debug, sectionAt, codeAt)
		if got := shown(elf.EM_X86_64, rows); got != c.want || stats.Damaged != 0 {
			t.Errorf("%s: got %s, want %s; %+v", c.name, got, c.want, stats)
		}
	}
}

// TestGoLinker: Go's linker writes offsets by -4, and not where frame pointers are.
func TestGoLinker(t *testing.T) {
	for _, c := range []struct {
		machine   elf.Machine
		cie, code string
		want      string
	}{
		{elf.EM_X86_64, "03 00 01 7c 10 0c0708 051002", "41 137c 44 137e 41 0603",
			"1000 rsp+8 u c-8 | 1001 rsp+16 c-16 c-8 | 1005 rsp+8 u c-8 | 1010 none"},
		{elf.EM_AARCH64, "03 00 01 7c 1e 0c1f00 081e", "44 1378 111e08 44 1300 081e",
			"1000 sp+0 u u | 1004 sp+32 c-40 c-32 | 1008 sp+0 u u | 1010 none"},
		{elf.EM_AARCH64, "03 00 01 7c 1e 0c1f00", "13 8060 111e fe1f", "1000 sp+16384 u c-16376 | 1010 none"},
	} {
		debug := append(record(word32(-1), octets(c.cie)),
			record(word32(0), word64(0x1000), word64(0x10), octets(c.code))...)
		rows, _ := cfi.FrameRows(c.machine, nil, debug, 0, codeAt)
		if got := shown(c.machine, rows); got != c.want {
			t.Errorf("%s: got %s, want %s", c.code, got, c.want)
		}
	}
}

// wide is a record whose length has 64 bits.
func wide(parts ...[]byte) []byte {
	b := slices.Concat(parts...)
	return slices.Concat(word32(-1), word64(uint64(len(b))), b)
}

// TestRecords: lengths, ends, and places of CIEs.
func TestRecords(t *testing.T) {
	const whole = "1000 rsp+8 u c-8 | 1100 none"
	cie := octets(amd64CIE + amd64At)
	good := function(amd64CIE+amd64At, "00")
	body := slices.Concat(word64(0x1000), word64(0x100))
	debugCIE := record(word32(-1), cie)
	for _, c := range []struct {
		name      string
		eh, debug []byte
		damaged   int
		want      string
	}{
		{name: "nothing"},
		{name: "an end between", eh: slices.Concat(word32(0), good, word32(0)), want: whole},
		{name: "64 bits", eh: append(wide(word32(0), cie), wide(word32(len(cie)+28), body)...), want: whole},
		{name: "64 bits, debug", debug: append(wide(word64(^uint64(0)), cie), wide(word64(0), body)...), want: whole},
		{name: "64 bits after 32", debug: append(record(word32(-1), cie), wide(word64(0), body)...), want: whole},
		{name: "the CIE is none", eh: append(good, record(word32(4), body)...), damaged: 1, want: whole},
		{name: "the CIE is before the section", eh: record(word32(100), body), damaged: 1},
		{name: "the CIE is behind the section", debug: append(debugCIE, record(word32(1000), body)...), damaged: 1},
		{name: "behind the end", eh: append(good, 0xff, 0, 0, 0), damaged: 1, want: whole},
		{name: "half a length", eh: append(good, 1, 0), damaged: 1, want: whole},
		{name: "no id", eh: append(good, record([]byte{1, 2})...), want: whole},
		{name: "a length of all bits", eh: append(good, slices.Concat(word32(-1), word64(^uint64(0)))...), damaged: 1,
			want: whole},
	} {
		rows, stats := cfi.FrameRows(elf.EM_X86_64, c.eh, c.debug, sectionAt, codeAt)
		if got := shown(elf.EM_X86_64, rows); got != c.want || stats.Damaged != c.damaged {
			t.Errorf("%s: got %s, want %s; %+v", c.name, got, c.want, stats)
		}
	}
}
