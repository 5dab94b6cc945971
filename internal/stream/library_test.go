package stream

import (
	"errors"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/ringbuf"
)

// BenchmarkRing is why the ring is not read by cilium/ebpf/ringbuf: what a record costs its reader, and how much of the
// ring counts as the process's memory. docs/rationale.md has the numbers.
func BenchmarkRing(b *testing.B) {
	const size = 1 << 20
	for _, way := range []struct {
		name string
		open func(b *testing.B, ring *ebpf.Map) (drain func() int)
	}{{"own", ownRing}, {"library", libraryRing}} {
		b.Run(way.name, func(b *testing.B) {
			ring, prog := sender(b, size)
			before := residentPages(b)
			drain := way.open(b, ring)
			n, took := 0, time.Duration(0)
			for b.Loop() {
				for range 20 {
					send(b, prog, 1, noWakeup, 1000)
				}
				began := time.Now()
				n += drain()
				took += time.Since(began)
			}
			b.ReportMetric(float64(took.Nanoseconds())/float64(n), "ns/record")
			b.ReportMetric(float64(residentPages(b)-before)*float64(os.Getpagesize())/1e6, "MB-mapped")
		})
	}
}

func ownRing(b *testing.B, ring *ebpf.Map) func() int {
	r, err := NewReader(ring)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { r.Close() })
	return func() int {
		n, err := r.Drain(math.MaxInt, func([]byte) {})
		if err != nil {
			b.Fatal(err)
		}
		return n
	}
}

// libraryRing reads until a deadline, which is how it finds records that wake nobody.
func libraryRing(b *testing.B, ring *ebpf.Map) func() int {
	r, err := ringbuf.NewReader(ring)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { r.Close() })
	var rec ringbuf.Record
	return func() (n int) {
		r.SetDeadline(time.Now())
		for {
			err := r.ReadInto(&rec)
			if errors.Is(err, os.ErrDeadlineExceeded) {
				return n
			}
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
	}
}

// residentPages are the pages of mappings that this process shares with others or the kernel: RssShmem and RssFile.
func residentPages(b *testing.B) (n int) {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		b.Fatal(err)
	}
	shared, err := strconv.Atoi(strings.Fields(string(text))[2])
	if err != nil {
		b.Fatal(err)
	}
	return shared
}
