package accept

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"testing"
)

// A call32 is a system call of a program of 32 bits: its number on i386 and on arm, and its arguments there. Where a
// value of 64 bits takes two registers, those of arm are even and odd: arm has its own arguments then.
type call32 struct {
	i386, arm uint32
	args      []uint32
	armArgs   []uint32
	// sameFd: the first argument is the result of the call before.
	sameFd bool
}

// A program32 is made of calls, and of data that they point to.
type program32 struct {
	data  bytes.Buffer
	calls []call32
}

const (
	base32 = 0x400000
	head32 = 0x1000 // where the data begins in the file; the code follows at the next page
)

// put gives the address of data that the program has.
func (p *program32) put(data string) uint32 {
	for p.data.Len()%8 != 0 {
		p.data.WriteByte(0)
	}
	p.data.WriteString(data)
	return base32 + head32 + uint32(p.data.Len()-len(data))
}

func (p *program32) text(s string) uint32 { return p.put(s + "\x00") }

// words gives the address of words of 32 bits.
func (p *program32) words(list ...uint32) uint32 {
	var b []byte
	for _, w := range list {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	return p.put(string(b))
}

func (p *program32) call(i386, arm uint32, args ...uint32) {
	p.calls = append(p.calls, call32{i386: i386, arm: arm, args: args})
}

// onResult is call, with the result of the call before as the first argument.
func (p *program32) onResult(i386, arm uint32, args ...uint32) {
	p.calls = append(p.calls, call32{i386: i386, arm: arm, args: append([]uint32{0}, args...), sameFd: true})
}

// pairs gives the last call other arguments on arm.
func (p *program32) pairs(args ...uint32) { p.calls[len(p.calls)-1].armArgs = args }

// An entry32 is a way to make the calls.
type entry32 struct {
	name    string
	class   elf.Class
	machine elf.Machine
	code    func(call32) []byte
}

// entries32 are those of this machine: a program of 32 bits, and on amd64 also one of 64 bits that makes the same
// calls.
func entries32() []entry32 {
	if runtime.GOARCH == "arm64" {
		return []entry32{{"aarch32", elf.ELFCLASS32, elf.EM_ARM, codeARM}}
	}
	return []entry32{{"i386", elf.ELFCLASS32, elf.EM_386, code386}, {"int80", elf.ELFCLASS64, elf.EM_X86_64, code386}}
}

// code386 is the call in instructions that are the same in programs of 32 and of 64 bits.
func code386(c call32) (code []byte) {
	for i, reg := range []byte{0xbb, 0xb9, 0xba, 0xbe, 0xbf,
		0xbd}[:len(c.args)] { // mov ebx ecx edx esi edi ebp, immediate
		if i == 0 && c.sameFd {
			code = append(code, 0x89, 0xc3) // mov ebx, eax
			continue
		}
		code = binary.LittleEndian.AppendUint32(append(code, reg), c.args[i])
	}
	code = binary.LittleEndian.AppendUint32(append(code, 0xb8), c.i386) // mov eax, number
	return append(code, 0xcd, 0x80)                                     // int 0x80
}

// codeX32 makes a call of x32: one of 64 bits with a bit in its number.
func codeX32(c call32) (code []byte) {
	for i, reg := range []string{"\xbf", "\xbe", "\xba", "\x41\xba", "\x41\xb8",
		"\x41\xb9"}[:len(c.args)] { // mov edi esi edx r10d r8d r9d
		code = binary.LittleEndian.AppendUint32(append(code, reg...), c.args[i])
	}
	code = binary.LittleEndian.AppendUint32(append(code, 0xb8), c.i386|1<<30)
	return append(code, 0x0f, 0x05) // syscall
}

func codeARM(c call32) (code []byte) {
	args := c.args
	if c.armArgs != nil {
		args = c.armArgs
	}
	move := func(reg, value uint32) { // movw, movt
		low, high := value&0xffff, value>>16
		code = binary.LittleEndian.AppendUint32(code, 0xe3000000|low>>12<<16|reg<<12|low&0xfff)
		code = binary.LittleEndian.AppendUint32(code, 0xe3400000|high>>12<<16|reg<<12|high&0xfff)
	}
	for i, v := range args {
		if i > 0 || !c.sameFd {
			move(uint32(i), v)
		}
	}
	move(7, c.arm)
	return binary.LittleEndian.AppendUint32(code, 0xef000000) // svc 0
}

// file writes the program as an ELF file of its own and returns its name. It exits with 0 at the end.
func (p *program32) file(t *testing.T, e entry32) string {
	t.Helper()
	code := bytes.Repeat([]byte{0}, (head32-p.data.Len()%head32)%head32)
	entry := base32 + head32 + uint32(p.data.Len()+len(code))
	for _, c := range p.calls {
		code = append(code, e.code(c)...)
	}
	exit := e.code
	if e.name == "x32" { // which the kernel may lack
		exit = code386
	}
	code = append(code, exit(call32{i386: 1, arm: 1, args: []uint32{0}})...)
	body := slices.Concat(p.data.Bytes(), code)
	var b bytes.Buffer
	for _, part := range headers32(e, entry, uint32(head32+len(body))) {
		if err := binary.Write(&b, binary.LittleEndian, part); err != nil {
			t.Fatal(err)
		}
	}
	b.Write(make([]byte, head32-b.Len()))
	b.Write(body)
	file := filepath.Join(t.TempDir(), e.name)
	if err := os.WriteFile(file, b.Bytes(), 0o755); err != nil {
		t.Fatal(err)
	}
	return file
}

func headers32(e entry32, entry, size uint32) []any {
	ident := [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(e.class), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)}
	flags := uint32(elf.PF_R | elf.PF_W | elf.PF_X)
	if e.class == elf.ELFCLASS32 {
		h := elf.Header32{Ident: ident, Type: uint16(elf.ET_EXEC), Machine: uint16(e.machine), Version: 1, Entry: entry,
			Phoff: 52, Ehsize: 52, Phentsize: 32, Phnum: 1}
		if e.machine == elf.EM_ARM {
			h.Flags = 0x5000000 // EABI 5
		}
		return []any{h, elf.Prog32{Type: uint32(elf.PT_LOAD), Flags: flags, Vaddr: base32, Paddr: base32, Filesz: size,
			Memsz: size, Align: 1 << 16}}
	}
	return []any{
		elf.Header64{Ident: ident, Type: uint16(elf.ET_EXEC), Machine: uint16(e.machine), Version: 1,
			Entry: uint64(entry), Phoff: 64, Ehsize: 64, Phentsize: 56, Phnum: 1},
		elf.Prog64{Type: uint32(elf.PT_LOAD), Flags: flags, Vaddr: base32, Paddr: base32, Filesz: uint64(size),
			Memsz: uint64(size), Align: 1 << 16},
	}
}

// need32 skips the test where the kernel or the CPU does not run such programs.
func need32(t *testing.T, file string) {
	t.Helper()
	err := exec.Command(file).Run()
	var exit *exec.ExitError
	switch {
	case errors.Is(err, syscall.ENOEXEC), errors.As(err, &exit) && !exit.Exited():
		t.Skipf("needs a kernel and a CPU for programs of 32 bits (CONFIG_IA32_EMULATION, CONFIG_COMPAT): %v", err)
	case err != nil:
		t.Fatalf("%s: %v", file, err)
	}
}
