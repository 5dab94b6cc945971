package diff

import (
	"encoding/binary"
	"fmt"
	"sync"
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"
)

const pageSize = 4096

// theMemory is what all units share.
var theMemory = sync.OnceValues(newMemory)

// memory is what the arguments of events point to: strings and nodes of this process, and nodes of the kernel, which
// lie in a map.
type memory struct {
	own    []byte // two pages for the string arguments, one that cannot be read, two for the rest
	used   int    // of the rest
	kernel *ebpf.Map
	base   uint64 // where the map's value lies
	block  []byte // the map's value, mapped
}

func newMemory() (*memory, error) {
	m := &memory{}
	var err error
	if m.own, err = unix.Mmap(-1, 0, 5*pageSize, unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_PRIVATE|unix.MAP_ANON); err != nil {
		return nil, err
	}
	if err = unix.Mprotect(m.own[2*pageSize:3*pageSize], unix.PROT_NONE); err == nil {
		err = m.openKernel()
	}
	if err != nil {
		m.close()
	}
	return m, err
}

func (m *memory) close() {
	_ = unix.Munmap(m.own)
	if m.block != nil {
		_ = unix.Munmap(m.block)
	}
	if m.kernel != nil {
		m.kernel.Close()
	}
}

// openKernel makes the map. A program writes the address of its value into it.
func (m *memory) openKernel() (err error) {
	spec := &ebpf.MapSpec{Type: ebpf.Array, KeySize: 4, ValueSize: pageSize, MaxEntries: 1, Flags: unix.BPF_F_MMAPABLE}
	if m.kernel, err = ebpf.NewMap(spec); err != nil {
		return err
	}
	if m.block, err = unix.Mmap(m.kernel.FD(), 0, pageSize, unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_SHARED); err != nil {
		return fmt.Errorf("map the memory of an array: %w", err)
	}
	p, err := ebpf.NewProgram(&ebpf.ProgramSpec{Type: ebpf.RawTracepoint, License: "GPL",
		Instructions: asm.Instructions{
			asm.LoadMapValue(asm.R1, m.kernel.FD(), 0),
			asm.StoreMem(asm.R1, 0, asm.R1, asm.DWord),
			asm.Mov.Imm(asm.R0, 0),
			asm.Return(),
		}})
	if err != nil {
		return fmt.Errorf("a program that finds the address of a map: %w", err)
	}
	defer p.Close()
	if _, err := p.Run(&ebpf.RunOptions{Context: make([]uint64, 12)}); err != nil {
		return err
	}
	m.base = binary.NativeEndian.Uint64(m.block)
	return nil
}

// context writes what an input points to and gives the words of the tracepoint. The first string lies at the end of its
// page, before memory that cannot be read.
func (m *memory) context(in Input) []uint64 {
	ctx := in.Words
	at := 2 * pageSize
	m.used = 3 * pageSize
	for i, f := range Fields {
		switch {
		case f.Ptr:
			ctx[i] = m.nodeAddr(in.P)
		case f.Bits == 0 && in.Texts[i].Fault:
			ctx[i] = 8
		case f.Bits == 0:
			s := in.Texts[i].S
			at -= len(s) + 1
			ctx[i] = m.put(at, s+"\x00")
			at = pageSize // the second lies at the end of its page, too
		}
	}
	if in.Leads {
		ctx[3] = ctx[10]
	}
	for i := range in.Nodes {
		m.writeNode(i, &in.Nodes[i])
	}
	return ctx[:len(Fields)]
}

// put writes bytes at an offset of this process's memory and gives their address.
func (m *memory) put(at int, b string) uint64 {
	copy(m.own[at:], b)
	return uint64(uintptr(unsafe.Pointer(&m.own[at])))
}

// add writes bytes behind those that were added before.
func (m *memory) add(b string) uint64 {
	at := (m.used + 7) &^ 7
	m.used = at + len(b)
	return m.put(at, b)
}

func (m *memory) text(t Text) uint64 {
	if t.Fault {
		return 8
	}
	return m.add(t.S + "\x00")
}

// nodeAddr is where a node lies. The last 2 KB of the page beyond the strings are for those of the process.
func (m *memory) nodeAddr(i int) uint64 {
	switch {
	case i == Null:
		return 0
	case i == Nowhere:
		return 16
	case i < KernelNodes:
		return m.base + uint64(i*NodeSize)
	}
	return uint64(uintptr(unsafe.Pointer(&m.own[nodeOffset(i)])))
}

func nodeOffset(i int) int { return 5*pageSize - (i-KernelNodes+1)*NodeSize }

func (m *memory) writeNode(i int, n *Node) {
	raw := n.Raw
	word := func(off int, v uint64) { binary.NativeEndian.PutUint64(raw[off:], v) }
	list := ""
	for _, s := range n.list() {
		list += string(binary.NativeEndian.AppendUint64(nil, m.text(s)))
	}
	word(64, m.text(n.Str))
	word(72, m.add(list+string(make([]byte, 8))))
	word(80, m.nodeAddr(n.Next))
	word(88+16, m.nodeAddr(n.Link))
	if i < KernelNodes {
		copy(m.block[i*NodeSize:], raw[:])
		return
	}
	copy(m.own[nodeOffset(i):], raw[:])
}
