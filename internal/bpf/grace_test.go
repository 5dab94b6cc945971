package bpf

import (
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"
)

// slowProgram counts its begins in the first word of a mapped array and its
// ends in the second.
func slowProgram(t *testing.T) (prog *ebpf.Program, begun, ended *uint64) {
	t.Helper()
	rawTracepoint(t, asm.Mov.Imm(asm.R0, 0), asm.Return()) // skips without rights
	m, err := ebpf.NewMap(&ebpf.MapSpec{Type: ebpf.Array, KeySize: 4, ValueSize: 16, MaxEntries: 1,
		Flags: unix.BPF_F_MMAPABLE})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	mem, err := unix.Mmap(m.FD(), 0, 16, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Munmap(mem) })
	load := asm.LoadMapValue(asm.R6, 0, 0).WithReference("counters")
	if err := load.AssociateMap(m); err != nil {
		t.Fatal(err)
	}
	prog = rawTracepoint(t,
		load,
		asm.Mov.Imm(asm.R1, 1), asm.AddAtomic.Mem(asm.R6, asm.R1, asm.DWord, 0),
		asm.Mov.Imm(asm.R7, 0),
		asm.Add.Imm(asm.R7, 1).WithSymbol("loop"), asm.JLT.Imm(asm.R7, 20_000, "loop"),
		asm.Mov.Imm(asm.R1, 1), asm.AddAtomic.Mem(asm.R6, asm.R1, asm.DWord, 8),
		asm.Mov.Imm(asm.R0, 0), asm.Return())
	return prog, (*uint64)(unsafe.Pointer(&mem[0])), (*uint64)(unsafe.Pointer(&mem[8]))
}

// Whatever had begun before the wait has ended after it, either way.
func TestWaitForPrograms(t *testing.T) {
	prog, begun, ended := slowProgram(t)
	var stop atomic.Bool
	var threads sync.WaitGroup
	for range 4 {
		threads.Go(func() {
			for !stop.Load() {
				if _, err := Run(prog, nil); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for name, wait := range map[string]func() error{"membarrier": WaitForPrograms, "map": waitByMap} {
		for range 20 {
			before := atomic.LoadUint64(begun)
			if err := wait(); err != nil {
				t.Fatal(name, err)
			}
			if after := atomic.LoadUint64(ended); after < before {
				t.Fatalf("%s: of %d runs only %d have ended", name, before, after)
			}
		}
	}
	stop.Store(true)
	threads.Wait()
	if n := atomic.LoadUint64(begun); n < 100 {
		t.Errorf("only %d runs", n)
	}
}
