package memory

import (
	"fmt"
	"runtime/debug"
)

// What takes much memory for a while, as reading names, goes one by one.

// spare is what is left for the rest of the run where something takes much for a while: to print a thousand stacks
// takes 3 MB.
const spare = 5 << 20

// Enter lets in who takes n bytes for a while beside the events, as what reads the names of a program. Where little is
// left in the control group of this process, one enters after another, and it is an error where there is no room even
// so: the kernel would end the run without a word. leave is called behind that. Any goroutine may call it.
func (b *Budget) Enter(n uint64) (leave func(), err error) {
	if b == nil {
		return func() {}, nil
	}
	if InGroup() >= tight {
		return b.in(n, func() {}), nil
	}
	b.narrow.Lock()
	if InGroup() < n+spare {
		debug.FreeOSMemory()
	}
	if left := InGroup(); left < n+spare {
		b.narrow.Unlock()
		return nil, fmt.Errorf("the control group (cgroup) of startrace leaves %s of memory, and that wants %s: raise "+
			"its limit", inMB(left), inMB(n+spare+1<<20-1))
	}
	b.keep()
	return b.in(n, b.narrow.Unlock), nil
}

// keep makes the collector keep to half of what the control group leaves, where that is less than it may have so far:
// the kernel takes of the same memory.
func (b *Budget) keep() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if soft := max(least, taken()+InGroup()/2); soft < b.soft && !b.closed.Load() {
		b.soft = soft
		debug.SetMemoryLimit(int64(soft))
	}
}

// taken is what the runtime has of the machine.
func taken() uint64 {
	return read("memory/classes/total:bytes") - read("memory/classes/heap/released:bytes")
}

// mostInGroup is what the runtime may have at most in this control group.
func mostInGroup() uint64 {
	left := InGroup()
	return taken() + left - min(left, spare)
}

// in notes that somebody takes n bytes, until what it gives is called, which calls left.
func (b *Budget) in(n uint64, left func()) (leave func()) {
	b.inside.Add(int64(n))
	return func() {
		b.inside.Add(-int64(n))
		left()
	}
}
