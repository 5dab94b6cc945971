package cfi_test

import (
	"bytes"
	"debug/elf"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/startrace/startrace/internal/cfi"
	"github.com/startrace/startrace/internal/elffile"
	"github.com/startrace/startrace/test/need"
)

// orderly checks what holds of all rows: they are by address, no two neighbours alike.
func orderly(t *testing.T, rows []cfi.Row, stats cfi.Stats) {
	t.Helper()
	for i := range rows[:max(len(rows)-1, 0)] {
		if rows[i].Addr >= rows[i+1].Addr || rows[i].Rule == rows[i+1].Rule {
			t.Fatalf("rows %d and %d of %d: %+v, %+v", i, i+1, len(rows), rows[i], rows[i+1])
		}
	}
	if stats.Rows != len(rows) {
		t.Fatalf("%d rows, and %+v", len(rows), stats)
	}
}

// small is a C program of a few functions.
const small = `static int add(int a, int b) { return a + b; }
int main(int argc, char **argv) { char s[argc]; s[0] = add(argc, 7); return s[0] ? main(argc - 1, argv) : 0; }
`

// smallPrograms gives some, each with the name of its command.
func smallPrograms(tb testing.TB) (out [][]byte) {
	tb.Helper()
	for _, command := range []string{"gcc -O1", "gcc -g -O2 -fno-asynchronous-unwind-tables", "clang -O2",
		"aarch64-linux-gnu-gcc -O0", "aarch64-linux-gnu-gcc -O2 -g -fno-asynchronous-unwind-tables -gz=zlib"} {
		path := built(tb, command)
		if path == "" {
			continue
		}
		b, err := os.ReadFile(path)
		if err != nil {
			tb.Fatal(err)
		}
		out = append(out, b)
	}
	return out
}

// built makes a program, or gives nothing where there is no such compiler.
func built(tb testing.TB, command string) string {
	tb.Helper()
	compiler, _, _ := strings.Cut(command, " ")
	if _, err := exec.LookPath(compiler); err != nil {
		return ""
	}
	return need.Built(tb, command, "small.c", small)
}

// FuzzRows: no bytes of the two sections make anything panic, or rows that are not in order.
func FuzzRows(f *testing.F) {
	for _, b := range smallPrograms(f) {
		file, err := elf.NewFile(bytes.NewReader(b))
		if err != nil {
			f.Fatal(err)
		}
		exceptions, debug := data(f, file, ".eh_frame"), data(f, file, ".debug_frame")
		f.Add(file.Machine == elf.EM_AARCH64, exceptions, debug, file.Section(".eh_frame").Addr)
	}
	f.Add(false, function(amd64CIE+amd64At, "0a 41 0e10 86 02 42 0c0608 0b 0f 03 7678 06"), []byte{}, uint64(sectionAt))
	f.Add(true, function(arm64CIE+arm64At, "0e20 9d04 9e03 2d"), []byte{}, uint64(sectionAt))
	f.Add(false, []byte{}, debugFunction(0x1000, 0x100, "0e20"), uint64(0))
	f.Fuzz(func(t *testing.T, arm64 bool, exceptions, debug []byte, addr uint64) {
		machine := elf.EM_X86_64
		if arm64 {
			machine = elf.EM_AARCH64
		}
		rows, stats := cfi.FrameRows(machine, exceptions, debug, addr,
			elffile.CodeSection{Name: ".text", Addr: 1, Size: ^uint64(0) - 1})
		orderly(t, rows, stats)
		if len(rows) > 2+len(exceptions)+len(debug) {
			t.Errorf("%d rows of %d and %d bytes", len(rows), len(exceptions), len(debug))
		}
	})
}

func data(tb testing.TB, file *elf.File, name string) []byte {
	tb.Helper()
	s := file.Section(name)
	if s == nil {
		return nil
	}
	b, err := s.Data()
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// readMutated gives the rows of a file that may be damaged.
func readMutated(t *testing.T, b []byte) bool {
	t.Helper()
	f, err := elffile.Read("mutated", bytes.NewReader(b), int64(len(b)), elffile.Options{})
	if err != nil {
		return false
	}
	rows, err := cfi.Rows(f)
	if err != nil {
		return false
	}
	stats, err := cfi.Inspect(f)
	if err != nil {
		t.Fatal(err)
	}
	orderly(t, rows, stats)
	return len(rows) > 0
}

// FuzzFile does the same with whole files.
func FuzzFile(f *testing.F) {
	for _, b := range smallPrograms(f) {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) { readMutated(t, b) })
}

// TestMutated changes bytes of programs by chance, most of them where the file tells of frames and sections.
func TestMutated(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	programs := smallPrograms(t)
	if len(programs) == 0 {
		t.Skip("needs a C compiler (Debian's package gcc)")
	}
	for _, good := range programs {
		if !readMutated(t, good) {
			t.Error("no rows")
		}
		ranges := interesting(t, good)
		read := 0
		for range 2000 {
			b := bytes.Clone(good)
			for range 1 + r.IntN(4) {
				part := ranges[r.IntN(len(ranges))]
				b[part[0]+r.IntN(part[1]-part[0])] = byte(r.IntN(256))
			}
			if readMutated(t, b) {
				read++
			}
		}
		if read < 200 {
			t.Errorf("only %d of 2000 files were read", read)
		}
	}
}

// interesting are the parts of a file: its header, its sections of frames, the headers of its sections.
func interesting(t *testing.T, b []byte) (out [][2]int) {
	t.Helper()
	file, err := elf.NewFile(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".eh_frame", ".debug_frame"} {
		if s := file.Section(name); s != nil {
			out = append(out, [2]int{int(s.Offset), int(s.Offset + s.FileSize)})
		}
	}
	headers := len(b) - 64*len(file.Sections)
	return append(out, [2]int{0, 64}, [2]int{headers, len(b)})
}
