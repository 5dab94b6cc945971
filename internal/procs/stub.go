package procs

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// The program that a child is until it becomes the command.

// The stub is the program that a child is until it becomes the command. It is
// not this executable, because a Go program has threads before its main runs,
// and their system calls would be taken for the command's. It has one thread,
// no library and nothing to set up:
//
//	prctl   the name by which programs see the child
//	fcntl   its descriptors close by exec
//	bpf     in a pid namespace of its own: find its number in the initial one
//	write   report that number, or 0, and so that it is ready
//	read    wait for the parent's byte; end if the parent has gone
//	execve  become the command
//	write   report what kept it from that
//
// It is written in stub_*.s, and runs from a file in memory:
//
//	0x400000  header of the file, and of the one segment
//	0x400078  params
//	0x4000a0  code
const (
	imageBase = 0x400000
	codeAt    = 0xa0
	stubSize  = 512 // more than the code has; what follows it is never reached
)

// params are the numbers of the stub's descriptors; see inherited.
type params struct {
	start  int32 // one byte: become the command
	report int32 // what there is to say; closed by exec
	image  int32 // the stub itself
	whoami int32 // see loadWhoami; -1 in the initial namespace
}

// stubName is the name of the child in events until it is the command.
const stubName = "startrace"

// stubCode is where the code is in this program's text.
func stubCode() *[stubSize]byte

var machines = map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}

// image lays out the file.
func image(p params) []byte {
	const size = codeAt + stubSize
	header := elf.Header64{
		Ident: [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB),
			byte(elf.EV_CURRENT)},
		Type: uint16(elf.ET_EXEC), Machine: uint16(machines[runtime.GOARCH]), Version: uint32(elf.EV_CURRENT),
		Entry: imageBase + codeAt, Phoff: 64, Ehsize: 64, Phentsize: 56, Phnum: 1,
	}
	segment := elf.Prog64{
		Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_X),
		Vaddr: imageBase, Paddr: imageBase, Filesz: size, Memsz: size, Align: 1 << 16, // the largest page
	}
	var name [16]byte
	copy(name[:], stubName)
	var b bytes.Buffer
	for _, part := range []any{header, segment, [4]int32{p.start, p.report, p.image, p.whoami}, name} {
		// Writing to a buffer cannot fail, and all sizes are fixed.
		_ = binary.Write(&b, binary.LittleEndian, part)
	}
	b.Write(make([]byte, codeAt-b.Len()))
	b.Write(stubCode()[:])
	return b.Bytes()
}

// newImage makes the empty file. Since 6.3 it has to be asked to be
// executable, and may be refused (vm.memfd_noexec, man 5 proc).
func newImage() (*os.File, error) {
	fd, err := unix.MemfdCreate(stubName, unix.MFD_CLOEXEC|unix.MFD_EXEC)
	if errors.Is(err, unix.EINVAL) {
		fd, err = unix.MemfdCreate(stubName, unix.MFD_CLOEXEC)
	}
	if err != nil {
		return nil, fmt.Errorf("file in memory: %w", err)
	}
	return os.NewFile(uintptr(fd), stubName), nil
}
