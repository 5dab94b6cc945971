package stream

import (
	"errors"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/internal/bpf"
	"github.com/startrace/startrace/internal/wire"
	"github.com/startrace/startrace/test/need"
)

const (
	noWakeup    = 1 // BPF_RB_NO_WAKEUP
	forceWakeup = 2 // BPF_RB_FORCE_WAKEUP
)

// sender loads a program that sends a record of its time and its first
// argument with its second one as flags, args[2] times, and returns how many
// found no room.
func sender(tb testing.TB, size uint32) (ring *ebpf.Map, prog *ebpf.Program) {
	tb.Helper()
	need.BPF(tb)
	ring, err := ebpf.NewMap(&ebpf.MapSpec{Type: ebpf.RingBuf, MaxEntries: size})
	if errors.Is(err, unix.EPERM) || errors.Is(err, ebpf.ErrNotSupported) {
		tb.Skip("needs root or CAP_BPF, to create maps:", err)
	}
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { ring.Close() })
	prog, err = bpf.Load(&bpf.Program{Name: "sender", Type: ebpf.RawTracepoint, Instructions: senderCode(tb, ring)},
		nil)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { prog.Close() })
	return ring, prog
}

func senderCode(tb testing.TB, ring *ebpf.Map) asm.Instructions {
	load := asm.LoadMapPtr(asm.R1, 0).WithReference("ring")
	if err := load.AssociateMap(ring); err != nil {
		tb.Fatal(err)
	}
	const record = -32
	return asm.Instructions{
		asm.LoadMem(asm.R6, asm.R1, 0, asm.DWord),
		asm.LoadMem(asm.R7, asm.R1, 8, asm.DWord),
		asm.LoadMem(asm.R8, asm.R1, 16, asm.DWord),
		asm.Mov.Imm(asm.R9, 0),
		asm.LoadMem(asm.R1, asm.R1, 24, asm.DWord), // 0, which the verifier must not know
		asm.StoreMem(asm.RFP, -8, asm.R1, asm.DWord),
		asm.Mov.Imm(asm.R1, 0),
		asm.StoreMem(asm.RFP, record, asm.R1, asm.DWord),
		asm.StoreMem(asm.RFP, record+wire.HeaderSize, asm.R6, asm.DWord),
		asm.FnKtimeGetNs.Call().WithSymbol("next"),
		asm.StoreMem(asm.RFP, record+wire.HeaderTime, asm.R0, asm.DWord),
		load, asm.Mov.Reg(asm.R2, asm.RFP), asm.Add.Imm(asm.R2, record), asm.Mov.Imm(asm.R3, 24),
		asm.Mov.Reg(asm.R4, asm.R7),
		asm.FnRingbufOutput.Call(),
		asm.JEq.Imm(asm.R0, 0, "sent"),
		asm.LoadMem(asm.R1, asm.RFP, -8, asm.DWord), asm.Add.Imm(asm.R1, 1),
		asm.StoreMem(asm.RFP, -8, asm.R1, asm.DWord),
		asm.Add.Imm(asm.R9, 1).WithSymbol("sent"),
		asm.JGE.Imm(asm.R9, 1000, "end"), asm.JLT.Reg(asm.R9, asm.R8, "next"),
		asm.LoadMem(asm.R0, asm.RFP, -8, asm.DWord).WithSymbol("end"), asm.Return(),
	}
}

func send(tb testing.TB, prog *ebpf.Program, serial, flags, times uint64) (lost uint32) {
	tb.Helper()
	lost, err := bpf.Run(prog, []uint64{serial, flags, times, 0})
	if err != nil {
		tb.Fatal(err)
	}
	return lost
}

// stream is a Reader with a Merger, driven as package stream describes.
type stream struct {
	*Reader
	Merger
	settled uint64
}

func open(tb testing.TB, ring *ebpf.Map) *stream {
	tb.Helper()
	r, err := NewReader(ring)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := r.Close(); err != nil {
			tb.Error(err)
		}
	})
	return &stream{Reader: r}
}

// turn drains once and delivers what is settled.
func (s *stream) turn(tb testing.TB, f func(rec []byte) bool) {
	tb.Helper()
	begin := Now()
	if _, err := s.Drain(math.MaxInt, func(rec []byte) {
		if !s.Push(rec) {
			tb.Errorf("refused %x", rec)
		}
	}); err != nil {
		tb.Fatal(err)
	}
	s.Flush(s.settled, f)
	s.settled = begin
}

// finish delivers all.
func (s *stream) finish(tb testing.TB, f func(rec []byte) bool) {
	tb.Helper()
	s.turn(tb, f)
	s.Flush(math.MaxUint64, f)
	if !s.Empty() {
		tb.Error("the ring is not empty")
	}
}

func TestKernelRingExact(t *testing.T) {
	ring, prog := sender(t, 1<<16)
	s := open(t, ring)
	const threads, rounds, batch = 4, 200, 50
	var lost [threads]uint32
	var wg sync.WaitGroup
	for i := range threads {
		wg.Go(func() {
			for range rounds {
				lost[i] += send(t, prog, uint64(i), noWakeup, batch)
				time.Sleep(50 * time.Microsecond)
			}
		})
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	got, last := 0, uint64(0)
	deliver := func(rec []byte) bool {
		if len(rec) != 24 {
			t.Fatalf("record of %d bytes", len(rec))
		}
		if timeOf(rec) < last && s.Late() == 0 {
			t.Fatal("out of order and not counted as late")
		}
		last = timeOf(rec)
		got++
		return true
	}
	for running := true; running; {
		s.turn(t, deliver)
		if err := s.Wait(time.Millisecond); err != nil {
			t.Fatal(err)
		}
		select {
		case <-done:
			running = false
		default:
		}
	}
	s.finish(t, deliver)
	total := got
	for _, n := range lost {
		total += int(n)
	}
	if total != threads*rounds*batch {
		t.Errorf("got %d and lost %d of %d", got, lost, threads*rounds*batch)
	}
}

func TestKernelRingFullIsCounted(t *testing.T) {
	ring, prog := sender(t, 4096)
	s := open(t, ring)
	lost := send(t, prog, 1, noWakeup, 1000)
	got := 0
	s.finish(t, func([]byte) bool { got++; return true })
	if lost == 0 || got+int(lost) != 1000 {
		t.Errorf("got %d, lost %d of 1000", got, lost)
	}
	if lost := send(t, prog, 1, noWakeup, 100); lost != 0 {
		t.Errorf("lost %d after the ring was drained", lost)
	}
}

// reasons is how many reasons there are to end a Wait.
func reasons(t *testing.T, s *stream, ms int) int {
	t.Helper()
	n, err := s.poll.poll(ms)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// woken returns when there was a reason to end a Wait; without one the test
// never ends.
func woken(t *testing.T, s *stream) {
	t.Helper()
	const hour = 3_600_000
	for reasons(t, s, hour) == 0 { // a signal
	}
}

func TestWaitEndsOnlyWhenForced(t *testing.T) {
	ring, prog := sender(t, 4096)
	s := open(t, ring)
	send(t, prog, 1, noWakeup, 3)
	if reasons(t, s, 0) != 0 {
		t.Error("records alone end the wait")
	}
	if err := s.Wait(time.Millisecond); err != nil {
		t.Fatal(err)
	}
	var calls sync.WaitGroup
	calls.Go(func() { send(t, prog, 1, forceWakeup, 1) })
	woken(t, s)
	calls.Go(func() { wake(t, s) })
	woken(t, s)
	calls.Wait()
	wake(t, s)
	woken(t, s) // a Wake before the Wait is not forgotten
	if reasons(t, s, 0) != 0 {
		t.Error("one Wake ends two waits")
	}
}

func wake(t *testing.T, s *stream) {
	if err := s.Wake(); err != nil {
		t.Error(err)
	}
}

func BenchmarkKernelRing(b *testing.B) {
	ring, prog := sender(b, 1<<20)
	s := open(b, ring)
	n := 0
	deliver := func([]byte) bool { n++; return true }
	for n < b.N {
		b.StopTimer()
		for range 20 {
			send(b, prog, 1, noWakeup, 1000)
		}
		b.StartTimer()
		s.turn(b, deliver)
	}
}
