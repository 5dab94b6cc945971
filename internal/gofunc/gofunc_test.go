package gofunc

import (
	"bytes"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// program has a function of each form; testdata cannot hold it, since go vet
// would want it to be a package of this module.
const program = `package main

import "math"

//go:noinline
func small(a, b int) int { if a > b { return leaf(a) }; return other(b) + 1 }
//go:noinline
func other(a int) int { print(a); return a }
//go:noinline
func leaf(a int) int { return a + 1 }
//go:noinline
func large(a, b int) int {
	var buf [100]int; for i := range buf { buf[i] = other(a) * i };
	if a > 3 { return buf[b&63] }; return small(a, b) + buf[(b+1)&63] }
//go:noinline
func huge(a int) int { var big [12000]int; for i := range big { big[i] = a + i }; return other(big[a&63]) }
//go:noinline
func many(a, b, c, d, e, f, g, h, i, j, k int, x, y float64, s string) (int, error) {
	print(a, b, c, d, e, f, g, h, i, j, k, x, y, s); return a, nil }
//go:noinline
func never(a int) { print(a); panic(a) }
//go:noinline
func fma(x, y, z float64, n uint) float64 { return math.FMA(x, y, z) + float64(n<<(n&7)) }
//go:noinline
func deferred(a int) (r int) { defer func() { r += other(a) }(); return small(a, 2) }
func main() {
	print(small(1, 2), large(1, 2), huge(3), fma(1, 2, 3, 4), deferred(3));
	many(1,2,3,4,5,6,7,8,9,10,11,1,2,""); never(0) }
`

var built = map[string]*elf.File{}

// build builds the program once for each architecture.
func build(t *testing.T, arch string) *elf.File {
	t.Helper()
	if f := built[arch]; f != nil {
		return f
	}
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("needs the Go command:", err)
	}
	dir, err := os.MkdirTemp("", "gofunc")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	source, out := filepath.Join(dir, "main.go"), filepath.Join(dir, "program")
	if err := os.WriteFile(source, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(tool, "build", "-o", out, source)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOARCH="+arch, "GOOS=linux", "CGO_ENABLED=0", "GOFLAGS=",
		"GO111MODULE=off")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	f, err := elf.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	built[arch] = f // open until the tests end: its file is gone by then
	return f
}

func functionCode(t *testing.T, f *elf.File, name string) []byte {
	t.Helper()
	list, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range list {
		if s.Name == name {
			return symbolCode(t, f, s)
		}
	}
	t.Fatalf("no function %s", name)
	return nil
}

// What must stand right before the place and at it, and how many returns.
func TestAMD64(t *testing.T) {
	f := build(t, "amd64")
	push := []byte{0x55} // PUSHQ BP
	for _, c := range []struct {
		name    string
		checked bool
		returns int
	}{
		{"main.small", true, 2}, {"main.large", true, 2}, {"main.huge", true, 1}, {"main.leaf", false, 1},
		{"main.many", true, 1}, {"main.never", true, 0}, {"main.deferred", true, 2},
	} {
		code := functionCode(t, f, c.name)
		entry, err := Entry("amd64", code)
		if err != nil {
			t.Fatal(err)
		}
		if (entry > 0) != c.checked || c.checked && !bytes.HasPrefix(code[entry:], push) {
			t.Errorf("%s: the entry is +%#x: % x", c.name, entry, code[:min(len(code), 48)])
		}
		got, err := FindReturns("amd64", code)
		if err != nil {
			t.Fatal(err)
		}
		if len(got.At) != c.returns || len(got.Tail) != 0 {
			t.Errorf("%s: got %+v, want %d returns", c.name, got, c.returns)
		}
		for _, at := range got.At {
			if code[at] != 0xc3 {
				t.Errorf("%s+%#x: %#x is no RET", c.name, at, code[at])
			}
		}
	}
}

func TestARM64(t *testing.T) {
	f := build(t, "arm64")
	for _, c := range []struct {
		name    string
		checked bool
		returns int
	}{
		{"main.small", true, 2}, {"main.large", true, 2}, {"main.huge", true, 1}, {"main.leaf", false, 1},
		{"main.many", true, 1}, {"main.never", true, 0}, {"main.deferred", true, 2}, {"main.fma", false, 1},
	} {
		code := functionCode(t, f, c.name)
		entry, err := Entry("arm64", code)
		if err != nil {
			t.Fatal(err)
		}
		if (entry > 0) != c.checked || c.checked && code[entry-1] != 0x54 { // behind a B.cond
			t.Errorf("%s: the entry is +%#x: % x", c.name, entry, code[:min(len(code), 48)])
		}
		got, err := FindReturns("arm64", code)
		if err != nil {
			t.Fatal(err)
		}
		if len(got.At) != c.returns {
			t.Errorf("%s: got %+v, want %d returns", c.name, got, c.returns)
		}
		for _, at := range got.At {
			if !bytes.Equal(code[at:at+4], []byte{0xc0, 0x03, 0x5f, 0xd6}) {
				t.Errorf("%s+%#x: % x is no RET", c.name, at, code[at:at+4])
			}
		}
	}
}

// All that the linker put into programs can be decoded, AVX in the runtime's
// assembly included.
func TestWholeProgram(t *testing.T) {
	for _, arch := range []string{"amd64", "arm64"} {
		f := build(t, arch)
		list, err := f.Symbols()
		if err != nil {
			t.Fatal(err)
		}
		decoded, checked, returning := 0, 0, 0
		for _, s := range list {
			if elf.ST_TYPE(s.Info) != elf.STT_FUNC || s.Size == 0 ||
				strings.HasPrefix(s.Name, "go:") { // go: marks places
				continue
			}
			code := symbolCode(t, f, s)
			got, err := FindReturns(arch, code)
			if err != nil {
				t.Errorf("%s %s: %v", arch, s.Name, err)
				continue
			}
			decoded++
			returning += min(1, len(got.At))
			if at, err := Entry(arch, code); err != nil || at >= len(code) {
				t.Errorf("%s %s: entry +%#x, %v", arch, s.Name, at, err)
			} else if at > 0 {
				checked++
			}
		}
		t.Logf("%s: %d functions, %d check the stack, %d return", arch, decoded, checked, returning)
		if decoded < 500 || checked < decoded/2 || returning < decoded*3/4 {
			t.Errorf("%s: %d functions, %d check the stack, %d return", arch, decoded, checked, returning)
		}
	}
}

func symbolCode(t *testing.T, f *elf.File, s elf.Symbol) []byte {
	t.Helper()
	code := make([]byte, s.Size)
	section := f.Sections[s.Section]
	if _, err := section.ReadAt(code, int64(s.Value-section.Addr)); err != nil {
		t.Fatal(err)
	}
	return code
}

// Forms that today's compiler does not make.
func TestEntryForms(t *testing.T) {
	for _, c := range []struct {
		name string
		code []byte
		want int
	}{
		{"Go 1.16, g in thread storage", []byte{
			0x64, 0x48, 0x8b, 0x0c, 0x25, 0xf8, 0xff, 0xff, 0xff, // MOVQ FS:-8, CX
			0x48, 0x3b, 0x61, 0x10, // CMPQ SP, 16(CX)
			0x76, 0x06, // JLS grow
			0x48, 0x83, 0xec, 0x18, // SUBQ $24, SP
			0xc3, 0x90, // RET, NOP
			0xe8, 0, 0, 0, 0, // grow: CALL
			0xeb, 0xe4, // JMP entry
		}, 15},
		{"a loop from the entry of a leaf", []byte{
			0x48, 0xff, 0xc8, // DECQ AX
			0x74, 0x02, // JEQ
			0xeb, 0xf9, // JMP entry
			0xc3,
		}, 0},
		{"a branch to a block that ends elsewhere", []byte{
			0x48, 0x3b, 0x61, 0x10, 0x76, 0x01, 0xc3, 0xe8, 0, 0, 0, 0, 0xeb, 0xf9,
		}, 0},
		{"cut", []byte{0x48, 0x3b, 0x61, 0x10, 0x76, 0x06}, 0},
		{"empty", nil, 0},
	} {
		if got, err := Entry("amd64", c.code); err != nil || got != c.want {
			t.Errorf("%s: got %d, %v, want %d", c.name, got, err, c.want)
		}
	}
}

// The byte of RET inside of other instructions, jumps out, constants.
func TestFindReturnsForms(t *testing.T) {
	for _, c := range []struct {
		name, arch string
		code       []byte
		at, tail   []int
	}{
		{"in an immediate", "amd64", []byte{0xb8, 0xc3, 0xc3, 0xc3, 0xc3, 0xc3}, []int{5}, nil},
		{"tail call", "amd64", []byte{0xe9, 0x10, 0, 0, 0}, nil, []int{0}},
		{"AVX", "amd64", []byte{0xc5, 0xf8, 0x77, 0xc4, 0xe2, 0xf1, 0xb9, 0xc2, 0xc3}, []int{8}, nil},
		// VZEROUPPER; VFMADD231SD
		{"ADX", "amd64", []byte{0xf3, 0x4c, 0x0f, 0x38, 0xf6, 0xc3, 0x66, 0x0f, 0x38, 0xf6, 0x44, 0x24, 0xc3, 0xc3},
			[]int{13}, nil}, // ADOXQ BX, R8; ADCXL -61(SP), AX
		{"EVEX with SIB and displacement", "amd64", []byte{0x62, 0xf1, 0xfe, 0x48, 0x6f, 0x44, 0x24, 0xc3, 0xc3},
			[]int{8}, nil},
		{"hints", "amd64", []byte{0xf3, 0x0f, 0x1e, 0xfa, 0xf3, 0x48, 0x0f, 0x1e, 0xc8, 0xc3}, []int{9}, nil},
		// ENDBR64; RDSSPQ RAX
		{"with an immediate", "amd64", []byte{0x66, 0x0f, 0x3a, 0x0f, 0xc1, 0xc3, 0x0f, 0x38, 0xc8, 0xc3, 0xc3},
			[]int{10}, nil}, // PALIGNR; SHA1NEXTE
		{"a method", "amd64", []byte{0xff, 0x60, 0x10}, nil, []int{0}},
		// JMP 16(RAX)
		{"a switch", "amd64", []byte{0xff, 0x24, 0xc5, 0, 0, 0, 0, 0x3e, 0xff, 0xe0, 0xc3}, []int{10}, nil},
		// JMP table(, RAX, 8); JMP RAX
		{"a constant that looks like RET", "arm64", []byte{
			0x41, 0, 0, 0x58, // LDR X1, +8
			0xc0, 0x03, 0x5f, 0xd6, // RET
			0xc0, 0x03, 0x5f, 0xd6, 0xc0, 0x03, 0x5f, 0xd6,
		}, []int{4}, nil},
		{"signed returns", "arm64", []byte{0xff, 0x0b, 0x5f, 0xd6, 0xff, 0x0f, 0x5f, 0xd6, 0x1f, 0x08, 0x1f, 0xd6},
			[]int{0, 4}, nil}, // RETAA; RETAB; BRAAZ X0
		{"a method", "arm64", []byte{
			0x01, 0x00, 0x40, 0xf9, 0x21, 0x08, 0x40, 0xf9, 0xf0, 0x03, 0x01, 0xaa,
			// LDR X1, [X0]; LDR X1, [X1, 16]; MOV X16, X1
			0xfd, 0x7b, 0xc1, 0xa8, 0x00, 0x02, 0x1f, 0xd6, // LDP X29, X30, [SP], 16; BR X16
		}, nil, []int{16}},
		{"a switch", "arm64", []byte{
			0x63, 0x7b, 0x60, 0xf8, 0x60, 0x00, 0x1f, 0xd6, // LDR X3, [X27, X0, LSL 3]; BR X3
			0x01, 0x00, 0x40, 0xf9, 0x21, 0x00, 0x00, 0x8b, 0x20, 0x00, 0x1f, 0xd6,
			// LDR X1, [X0]; ADD X1, X1, X0; BR X1
			0x01, 0x00, 0x40, 0xf9, 0x01, 0x00, 0x00, 0x94, 0x20, 0x00, 0x1f, 0xd6, 0xc0, 0x03, 0x5f, 0xd6,
			// LDR X1, [X0]; BL; BR X1; RET
		}, []int{32}, nil},
		{"tail call", "arm64", []byte{0x00, 0x01, 0, 0x14}, nil, []int{0}},
	} {
		got, err := FindReturns(c.arch, c.code)
		if err != nil || !slices.Equal(got.At, c.at) || !slices.Equal(got.Tail, c.tail) {
			t.Errorf("%s: %s: got %+v, %v", c.arch, c.name, got, err)
		}
	}
	if _, err := FindReturns("riscv64", nil); err == nil {
		t.Error("riscv64 is not known")
	}
}

func TestABI(t *testing.T) {
	amd64, arm64 := RegisterABI("amd64"), RegisterABI("arm64")
	for i, c := range []struct{ got, want Place }{
		{amd64.Argument(0), Place{Register: "ax"}}, {amd64.Argument(3), Place{Register: "di"}},
		{amd64.Argument(8), Place{Register: "r11"}},
		{amd64.Argument(9), Place{Offset: 8}}, {amd64.Argument(10), Place{Offset: 16}},
		{arm64.Argument(15), Place{Register: "x15"}}, {arm64.Argument(16), Place{Offset: 8}},
		{amd64.Result(1, 0), Place{Register: "bx"}}, {StackABI("amd64").Argument(1), Place{Offset: 16}},
		{StackABI("amd64").Result(0, 2), Place{Offset: 24}}, {StackABI("arm64").Result(1, 3), Place{Offset: 40}},
	} {
		if c.got != c.want {
			t.Errorf("%d: got %+v, want %+v", i, c.got, c.want)
		}
	}
	if RegisterABI("riscv64") != nil || StackABI("riscv64") != nil {
		t.Error("riscv64 is not known")
	}
}

func FuzzCode(f *testing.F) {
	f.Add([]byte{0x48, 0x3b, 0x61, 0x10, 0x76, 0x06, 0xc3})
	f.Add([]byte{0x62, 0xf1, 0xfe, 0x48, 0x6f, 0x44, 0x24, 0xc3, 0xc3})
	f.Add([]byte{0x41, 0, 0, 0x58, 0xc0, 0x03, 0x5f, 0xd6})
	f.Fuzz(func(t *testing.T, code []byte) {
		for _, arch := range []string{"amd64", "arm64"} {
			at, err := Entry(arch, code)
			if err != nil || at < 0 || at > len(code) {
				t.Errorf("%s: entry %d, %v", arch, at, err)
			}
			got, err := FindReturns(arch, code)
			if err != nil {
				continue
			}
			for _, at := range got.At {
				if at < 0 || at >= len(code) {
					t.Errorf("%s: %+v", arch, got)
				}
			}
		}
	})
}
