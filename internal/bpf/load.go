package bpf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/btf"
	"golang.org/x/sys/unix"
)

// BPF_PROG_LOAD by an own call, with types of functions and the verifier's log.

// A Program is what Load hands to the kernel. Instructions that load a map
// have it associated.
type Program struct {
	Name string // shown by bpftool; cut to 15 characters
	// Type and AttachType are the kernel's words for what the program is for; AttachType is 0 for most.
	Type       ebpf.ProgramType
	AttachType ebpf.AttachType
	// Flags are BPF_F_*; 0 for most.
	Flags     uint32
	AttachBTF uint32 // Tracing: the function of the kernel's BTF, 0 for none
	// AttachTo is whose function it is, where not the kernel's: the descriptor of a
	// module's BTF (5.11), or of a program. It is needed during the load only.
	AttachTo int
	// Instructions are the whole program, with its subprograms behind it.
	Instructions asm.Instructions
}

// loadAttr is the part of BPF_PROG_LOAD's attributes that 5.10 knows.
type loadAttr struct {
	// typ is the type of the program, and insnCount how many raw instructions are at insns.
	typ, insnCount uint32
	insns          *byte
	// license is a text of C.
	license *byte
	// logLevel is how much the verifier is to write, into logLen bytes at log; 0: nothing.
	logLevel, logLen uint32
	log              *byte
	// flags are BPF_F_*, name is cut to 15 bytes and a zero.
	_, flags uint32
	name     [unix.BPF_OBJ_NAME_LEN]byte
	// attachType is the kernel's word for where the program will be attached.
	_, attachType uint32
	// btf is the descriptor of the program's own types. In these, funcCount records of funcRec bytes at funcs name its
	// functions, and lineCount records of lineRec bytes at lines its lines.
	btf, funcRec uint32
	funcs        *byte
	funcCount    uint32
	lineRec      uint32
	lines        *byte
	lineCount    uint32
	// attachBTF is the function of the BTF of attachTo at which it will be attached.
	attachBTF uint32
	attachTo  uint32 // attach_prog_fd, or attach_btf_obj_fd
	_         uint32
}

// Load verifies and loads p; closing the program unloads it. The verifier
// writes its log to log, if that is not empty: ENOSPC says that it is too
// short.
//
// Missing in ebpf: NewProgram tests features first, and under lockdown it
// rewrites probe_read_user into probe_read, which the kernel refuses while it
// would accept the original (BenchmarkFirstLoad, TestLockdownLibrary).
func Load(p *Program, log []byte) (*ebpf.Program, error) {
	fd, err := loadDescriptor(p, log)
	if err != nil {
		return nil, err
	}
	loaded, err := ebpf.NewProgramFromFD(fd)
	if err != nil {
		return nil, fmt.Errorf("look at program %s: %w", p.Name, plain(err))
	}
	return loaded, nil
}

func loadDescriptor(p *Program, log []byte) (int, error) {
	attr := loadAttr{
		typ: uint32(p.Type), attachType: uint32(p.AttachType), flags: p.Flags, attachBTF: p.AttachBTF,
		attachTo: uint32(p.AttachTo),
		license:  unsafe.StringData("GPL\x00"),
	}
	setName(&attr.name, p.Name)
	if len(log) > 0 {
		attr.log, attr.logLen, attr.logLevel = unsafe.SliceData(log), uint32(len(log)), 1
	}
	info, err := attr.describe(p.Instructions)
	if err != nil {
		return -1, err
	}
	defer info.Close()
	var code bytes.Buffer
	if err := p.Instructions.Marshal(&code, binary.LittleEndian); err != nil {
		return -1, fmt.Errorf("encode program %s: %w", p.Name, err)
	}
	attr.insns, attr.insnCount = unsafe.SliceData(code.Bytes()), uint32(code.Len()/asm.InstructionSize)
	return load(&attr)
}

// load repeats the call when a signal interrupts the verifier (EAGAIN).
func load(attr *loadAttr) (int, error) {
	for tries := 0; ; tries++ {
		fd, err := call(unix.BPF_PROG_LOAD, unsafe.Pointer(attr), unsafe.Sizeof(*attr))
		if !errors.Is(err, unix.EAGAIN) || tries == 30 {
			return fd, err
		}
	}
}

// describe adds the types of functions, which callbacks need. It returns the
// BTF that must stay open during the load; closing nil is fine.
func (attr *loadAttr) describe(insns asm.Instructions) (*btf.Handle, error) {
	var b btf.Builder
	funcs, lines, err := btf.MarshalExtInfos(insns, &b)
	if err != nil || len(funcs)+len(lines) == 0 {
		return nil, err
	}
	h, err := btf.NewHandle(&b)
	if err != nil {
		return nil, fmt.Errorf("load the types of functions: %w", err)
	}
	attr.btf = uint32(h.FD())
	attr.funcs, attr.funcRec, attr.funcCount = unsafe.SliceData(funcs), btf.FuncInfoSize,
		uint32(len(funcs))/btf.FuncInfoSize
	attr.lines, attr.lineRec, attr.lineCount = unsafe.SliceData(lines), btf.LineInfoSize,
		uint32(len(lines))/btf.LineInfoSize
	return h, nil
}

// setName stores as much of name as fits before the final NUL; the kernel
// takes letters, digits, '_' and '.' (bpf_obj_name_cpy).
func setName(dst *[unix.BPF_OBJ_NAME_LEN]byte, name string) {
	for i := 0; i < len(name) && i < len(dst)-1; i++ {
		dst[i] = '_'
		if c := name[i]; c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c == '.' {
			dst[i] = c
		}
	}
}
