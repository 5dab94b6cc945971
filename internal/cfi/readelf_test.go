package cfi_test

import (
	"bufio"
	"bytes"
	"debug/elf"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/startrace/startrace/internal/cfi"
	"github.com/startrace/startrace/internal/wire"
	"github.com/startrace/startrace/test/need"
)

// block is a CIE or an FDE as readelf shows it, and its lines.
type block struct {
	begin, end uint64 // of an FDE
	elsewhere  bool   // the return address is in a register that calls do not use
	lines      []line
}

type line struct {
	addr uint64
	said said
}

var (
	blockHead = regexp.MustCompile(`^([0-9a-f]+) [0-9a-f]+ [0-9a-f]+ (?:CIE .* ra=(\d+)|FDE cie=([0-9a-f]+) ` +
		`pc=([0-9a-f]+)\.\.([0-9a-f]+))`)
	blockLine = regexp.MustCompile(`^[0-9a-f]{16} `)
	blockCell = regexp.MustCompile(`\S+(?: \(\w+\))?`)
)

// readelf gives the functions of a file as that program interprets them, the columns of the two registers only.
func readelf(t *testing.T, path string, machine elf.Machine) (out []block) {
	t.Helper()
	need.Program(t, "readelf")
	text, err := exec.Command("readelf", "-wFN", path).Output()
	if err != nil {
		t.Fatalf("readelf -wF %s: %v", path, err)
	}
	cies := map[string]block{}
	key, current, columns := "", block{}, []string(nil)
	finish := func() {
		if current.end == 0 && key != "" {
			cies[key] = current
		} else if key != "" {
			out = append(out, current)
		}
		key = ""
	}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		s := lines.Text()
		switch head := blockHead.FindStringSubmatch(s); {
		case strings.HasPrefix(s, "Contents of the "):
			finish()
			cies = map[string]block{}
		case head != nil:
			finish()
			key, current = head[1], block{elsewhere: head[2] != "16" && head[2] != "30"}
			if head[3] != "" {
				current = cies[head[3]].function(address(t, head[4]), address(t, head[5]))
			}
		case strings.HasPrefix(strings.TrimSpace(s), "LOC "):
			columns = strings.Fields(s)
		case blockLine.MatchString(s) && key != "":
			current.add(t, columns, blockCell.FindAllString(s, -1), cpus[machine].fp)
		}
	}
	finish()
	return out
}

// function begins an FDE of a CIE.
func (b block) function(begin, end uint64) block {
	out := block{begin: begin, end: end, elsewhere: b.elsewhere}
	for _, l := range b.lines {
		out.lines = append(out.lines, line{begin, l.said})
	}
	return out
}

// add takes one line; of two at one place the last one counts.
func (b *block) add(t *testing.T, columns, cells []string, fp string) {
	t.Helper()
	l := line{addr: address(t, cells[0]), said: said{cfa: cells[1], fp: "u", pc: "u"}}
	if i := slices.Index(columns, fp); i > 0 {
		l.said.fp = cells[i]
	}
	if i := slices.Index(columns, "ra"); i > 0 {
		l.said.pc = cells[i]
	}
	if b.elsewhere {
		l.said.pc = "elsewhere"
	}
	for _, place := range []*string{&l.said.fp, &l.said.pc} {
		if *place == "s" { // it is said to be where it was
			*place = "u"
		}
	}
	if n := len(b.lines); n > 0 && b.lines[n-1].addr == l.addr {
		b.lines = b.lines[:n-1]
	}
	b.lines = append(b.lines, l)
}

func address(t *testing.T, s string) uint64 {
	t.Helper()
	n, err := strconv.ParseUint(s, 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// ruleAt gives the rule of an address.
func ruleAt(rows []cfi.Row, addr uint64) uint32 {
	i, found := slices.BinarySearchFunc(rows, addr, func(r cfi.Row, addr uint64) int {
		return int(int64(r.Addr - addr))
	})
	if !found {
		i--
	}
	if i < 0 {
		return wire.UnwindNone
	}
	return rows[i].Rule
}

var plain = regexp.MustCompile(`^(r[a-d]x|r[sd]i|r[bs]p|r[0-9]+|sp|x[0-9]+)\+(\d+)$`)

// maxSaved is how far below CFA a rule of arm64 cannot say that something is saved; of Go, it says 8 bytes more.
const maxSaved = 8*wire.UnwindAtStack - 8

// sayable: a rule must say what readelf says. What it says as an expression may be sayable or not.
func sayable(machine elf.Machine, s said) bool {
	m := plain.FindStringSubmatch(s.cfa)
	if m == nil {
		return false
	}
	offset, _ := strconv.Atoi(m[2])
	if offset >= 8<<20 { // functions of Go's runtime that pass on so many bytes of arguments
		return false
	}
	saved, isSaved := strings.CutPrefix(s.fp, "c-")
	below, _ := strconv.Atoi(saved)
	if machine == elf.EM_AARCH64 {
		link, isLink := strings.CutPrefix(s.pc, "c-")
		linkBelow, _ := strconv.Atoi(link)
		if !isSaved {
			return offset%8 == 0 && (s.pc == "u" || m[1] == "sp" && isLink && linkBelow < maxSaved)
		}
		return offset%8 == 0 && below%8 == 0 && below < maxSaved && linkBelow == below-8
	}
	return offset%8 == 0 && s.pc == "c-8" && (s.fp == "u" || isSaved && below%8 == 0 && below < 8*wire.UnwindAtFrame)
}
