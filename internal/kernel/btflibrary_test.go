package kernel

import (
	"runtime"
	"testing"

	"github.com/cilium/ebpf/btf"
)

// BenchmarkFirstField is why the kernel's types are not read by cilium/ebpf/btf: what a script's first field costs,
// from nothing, and how much memory stays in use for the fields that follow. docs/rationale.md has the numbers.
func BenchmarkFirstField(b *testing.B) {
	kernelBTF(b)
	for _, way := range []struct {
		name string
		open func(b *testing.B) any
	}{
		{"own", func(b *testing.B) any {
			k, err := OpenBTF()
			if err != nil {
				b.Fatal(err)
			}
			benchField(b, k)
			return k
		}},
		{"library", func(b *testing.B) any {
			spec, err := btf.LoadKernelSpec()
			if err != nil {
				b.Fatal(err)
			}
			var task *btf.Struct
			if err := spec.TypeByName("task_struct", &task); err != nil {
				b.Fatal(err)
			}
			return spec
		}},
	} {
		b.Run(way.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				way.open(b)
			}
			b.ReportMetric(float64(retained(func() any { return way.open(b) }))/1e6, "MB-kept")
		})
	}
}

// retained is how much of the heap is in use for what f gives.
func retained(f func() any) uint64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.GC() // what the first one finalised
	runtime.ReadMemStats(&before)
	kept := f()
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(kept)
	return after.HeapAlloc - min(before.HeapAlloc, after.HeapAlloc)
}
