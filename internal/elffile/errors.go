package elffile

import (
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Messages about files that are no ELF, empty, a script, cut, not readable, or for another machine.

// The kinds of trouble with a file; use errors.Is. A missing file is
// fs.ErrNotExist, a closed one fs.ErrPermission.
var (
	ErrNotRegular = errors.New("not a regular file")
	ErrNotELF     = errors.New("not an ELF file")
	ErrTruncated  = errors.New("a truncated ELF file")
	ErrMalformed  = errors.New("a malformed ELF file")
	ErrStripped   = errors.New("no symbols")
	ErrNoFunction = errors.New("no such function")
	ErrNotCode    = errors.New("not in the file's code")
	errHole       = errors.New("it claims what it does not hold: there is a hole")
)

// An ArchError says that a file is for another machine: that at Path is for Have, and Want was asked for.
type ArchError struct {
	Path       string
	Have, Want elf.Machine
}

func (e *ArchError) Error() string {
	return fmt.Sprintf("%s is for %s, this machine runs %s: give the file of this machine", e.Path, machineName(e.Have),
		machineName(e.Want))
}

var machineNames = map[elf.Machine]string{
	elf.EM_X86_64: "amd64 (x86-64)", elf.EM_386: "386 (32-bit x86)", elf.EM_AARCH64: "arm64 (aarch64)",
	elf.EM_ARM:   "arm (32 bits)",
	elf.EM_RISCV: "RISC-V", elf.EM_PPC64: "ppc64", elf.EM_S390: "s390x", elf.EM_BPF: "BPF",
}

func machineName(m elf.Machine) string {
	if name := machineNames[m]; name != "" {
		return name
	}
	return m.String()
}

// Machine gives the ELF machine of a GOARCH; EM_NONE for one that is not
// known.
func Machine(arch string) elf.Machine {
	switch arch {
	case "amd64":
		return elf.EM_X86_64
	case "arm64":
		return elf.EM_AARCH64
	}
	return elf.EM_NONE
}

func openError(path string, err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("%w: run as root, or give yourself read permission", err)
	}
	return fmt.Errorf("open the program %s: %w", path, errors.Unwrap(err))
}

// notELF explains a file without ELF's first bytes by what it is.
func notELF(path string, first []byte) error {
	switch what := string(first); {
	case len(what) == 0:
		return fmt.Errorf("%s is empty, %w: copy or build it anew", path, ErrNotELF)
	case what[0] == '#' && len(what) > 1 && what[1] == '!':
		return fmt.Errorf("%s is a script, %w: probe the interpreter that its first line names", path, ErrNotELF)
	case what[0] == '/' && len(what) > 1 && what[1] == '*':
		return fmt.Errorf("%s is a linker script, %w: give the shared library that it names", path, ErrNotELF)
	case len(what) < len(elf.ELFMAG) && elf.ELFMAG[:len(what)] == what:
		return fmt.Errorf("%s has only %d bytes, %w: copy or build it anew", path, len(what), ErrTruncated)
	}
	return fmt.Errorf("%s is %w (it begins with %q): give a program or a shared library", path, ErrNotELF, first)
}

// formatError tells a file that ends too early from one that is wrong.
func formatError(path string, err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%s is %w: it ends before its tables do; copy or build it anew", path, ErrTruncated)
	}
	return fmt.Errorf("%s is %w: %v; copy or build it anew", path, ErrMalformed, err)
}

// regular opens a file for reading. A device or pipe under that name is
// refused before it is opened, since opening it can have effects or block.
func regular(path string) (*os.File, int64, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, 0, openError(path, err)
	}
	if !st.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("%s is %s, %w: give a program or a shared library", path, kindName(st.Mode()),
			ErrNotRegular)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, openError(path, err)
	}
	return f, st.Size(), nil
}

func kindName(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a folder"
	case mode&fs.ModeNamedPipe != 0:
		return "a pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	}
	return "a device"
}
