package state

import (
	"bytes"
	"encoding/binary"
	"errors"
	"maps"
	"strings"
	"sync"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/bpf"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/wire"
	"github.com/startrace/startrace/test/need"
)

func newMap(tb testing.TB, spec ebpf.MapSpec) *ebpf.Map {
	tb.Helper()
	need.BPF(tb)
	m, err := ebpf.NewMap(&spec)
	if errors.Is(err, unix.EPERM) || errors.Is(err, ebpf.ErrNotSupported) {
		tb.Skip("needs root or CAP_BPF, to create maps:", err)
	}
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { m.Close() })
	return m
}

// hash makes a table of n entries with keys and values of some bytes.
func hash(tb testing.TB, n, keyLen, vLen int) (*table, *ebpf.Map) {
	tb.Helper()
	m := newMap(tb, ebpf.MapSpec{Type: ebpf.Hash, KeySize: uint32(keyLen), ValueSize: uint32(vLen),
		MaxEntries: uint32(n)})
	return bind(tb, m, &wire.Fixed{Size: keyLen}, vLen).(*table), m
}

func bind(tb testing.TB, m *ebpf.Map, key *wire.Fixed, vLen int) Container {
	tb.Helper()
	c := &tree.Container{Container: &plan.Container{Name: "t"}, KeyLayout: key, ValueLayout: &wire.Fixed{Size: vLen}}
	s, err := New(c, m, Options{FuncID: funcID})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	return s
}

// funcID finds a function of the kernel's BTF.
func funcID(name string) (kernel.TypeID, error) {
	b, err := kernel.OpenBTF()
	if err != nil {
		return 0, err
	}
	id, ok := b.Named(kernel.KindFunc, name)
	if !ok {
		return 0, errors.New("no function " + name)
	}
	return id, nil
}

// bytesOf makes n bytes that begin with a number and differ in all words.
func bytesOf(n int, x uint64) []byte {
	out := make([]byte, n)
	for i := 0; i < n; i += 8 {
		binary.NativeEndian.PutUint64(out[i:], x+uint64(i)<<32)
	}
	return out
}

func first(b []byte) uint64 { return binary.NativeEndian.Uint64(b) }

func TestTableOperations(t *testing.T) {
	for _, size := range []struct{ key, val int }{{8, 8}, {24, 40}, {512, 1024}} {
		s, m := hash(t, 4, size.key, size.val)
		key, val, got := bytesOf(size.key, 7), bytesOf(size.val, 9), make([]byte, size.val)
		if ok, err := s.Lookup(key, got); ok || err != nil {
			t.Fatal("found before the update:", ok, err)
		}
		if err := s.Update(key, val); err != nil {
			t.Fatal(err)
		}
		if ok, err := s.Lookup(key, got); !ok || err != nil || !bytes.Equal(got, val) {
			t.Fatalf("%v, %v: %x", ok, err, got)
		}
		var direct = make([]byte, size.val)
		if err := m.Lookup(key, &direct); err != nil || !bytes.Equal(direct, val) {
			t.Fatalf("the map has %x, %v", direct, err)
		}
		if ok, err := s.Delete(key); !ok || err != nil {
			t.Fatal(ok, err)
		}
		if ok, err := s.Delete(key); ok || err != nil {
			t.Fatal("deleted twice:", ok, err)
		}
		if ok, err := s.Lookup(key, got); ok || err != nil {
			t.Fatal(ok, err)
		}
	}
}

func TestAddInt(t *testing.T) {
	s, _ := hash(t, 2, 8, 24)
	val := make([]byte, 24)
	for _, delta := range []int64{5, -8, 1 << 40} {
		if err := s.AddInt(bytesOf(8, 1), 16, delta); err != nil {
			t.Fatal(err)
		}
	}
	if ok, err := s.Lookup(bytesOf(8, 1), val); !ok || err != nil || first(val[16:]) != 1<<40-3 || first(val) != 0 ||
		first(val[8:]) != 0 {
		t.Errorf("%v, %v: %x", ok, err, val)
	}
	for _, off := range []int{-8, 4, 24} {
		if err := s.AddInt(bytesOf(8, 1), off, 1); err == nil {
			t.Errorf("no error at offset %d", off)
		}
	}
}

func TestSwap(t *testing.T) {
	s, _ := hash(t, 2, 8, 24)
	if done, err := s.Swap(bytesOf(8, 1), 16, 0, 5); done && !s.noSwap || err != nil {
		t.Errorf("there is no entry yet: %v, %v", done, err)
	}
	if err := s.Update(bytesOf(8, 1), bytesOf(24, 7)); err != nil {
		t.Fatal(err)
	}
	was := make([]byte, 24)
	if ok, err := s.Lookup(bytesOf(8, 1), was); !ok || err != nil {
		t.Fatal(ok, err)
	}
	old := first(was[16:])
	if done, err := s.Swap(bytesOf(8, 1), 16, old, 1<<63+9); !done || err != nil {
		t.Error(done, err)
	}
	if done, err := s.Swap(bytesOf(8, 1), 16, old, 1); !s.noSwap && (done || err != nil) {
		t.Errorf("the word has changed: %v, %v", done, err)
	}
	got := make([]byte, 24)
	if ok, err := s.Lookup(bytesOf(8, 1), got); !ok || err != nil || !s.noSwap && first(got[16:]) != 1<<63+9 ||
		first(got) != first(was) {
		t.Errorf("%v, %v: %x", ok, err, got)
	}
	if _, err := s.Swap(bytesOf(8, 1), 20, 0, 1); err == nil {
		t.Error("no error at offset 20")
	}
}

func TestFullTable(t *testing.T) {
	s, _ := hash(t, 2, 8, 8)
	for i := range uint64(2) {
		if err := s.AddInt(bytesOf(8, i), 0, 1); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.AddInt(bytesOf(8, 2), 0, 1); !errors.Is(err, unix.E2BIG) {
		t.Errorf("AddInt: got %v, want E2BIG", err)
	}
	if err := s.Update(bytesOf(8, 2), bytesOf(8, 1)); !errors.Is(err, unix.E2BIG) {
		t.Errorf("Update: got %v, want E2BIG", err)
	}
}

// loaded is a program of these instructions that a test runs by itself.
func loaded(t *testing.T, name string, instructions ...any) *ebpf.Program {
	t.Helper()
	p, err := bpf.Load(&bpf.Program{Name: name, Type: ebpf.RawTracepoint, Instructions: code(instructions...)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

// adder loads a program that adds one to the first word of a key's value in
// m, as scripts' programs do, args[1] times.
func adder(t *testing.T, m *ebpf.Map) *ebpf.Program {
	t.Helper()
	insert := func(label string) asm.Instructions {
		return code(mapPtr(asm.R1, m).WithSymbol(label), address(asm.R2, asm.RFP, -8))
	}
	return loaded(t, "adder",
		asm.LoadMem(asm.R6, asm.R1, 0, asm.DWord), asm.StoreMem(asm.RFP, -8, asm.R6, asm.DWord),
		asm.LoadMem(asm.R7, asm.R1, 8, asm.DWord),
		asm.Mov.Imm(asm.R8, 0), asm.StoreMem(asm.RFP, -16, asm.R8, asm.DWord),
		insert("again"), address(asm.R3, asm.RFP, -16), asm.Mov.Imm(asm.R4, int32(ebpf.UpdateNoExist)),
		asm.FnMapUpdateElem.Call(),
		insert("find"), asm.FnMapLookupElem.Call(), asm.JEq.Imm(asm.R0, 0, "end"),
		asm.Mov.Imm(asm.R1, 1), asm.AddAtomic.Mem(asm.R0, asm.R1, asm.DWord, 0),
		asm.Add.Imm(asm.R8, 1), asm.JGE.Imm(asm.R8, 1000, "end"), asm.JLT.Reg(asm.R8, asm.R7, "again"),
		give("end", 0),
	)
}

func TestAddIntBesidePrograms(t *testing.T) {
	s, m := hash(t, 8, 8, 8)
	prog := adder(t, m)
	const runs, batch, adds = 300, 1000, 3000
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for range runs {
				if _, err := bpf.Run(prog, []uint64{5, batch}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range adds {
		if err := s.AddInt(bytesOf(8, 5), 0, 2); err != nil {
			t.Error(err)
		}
	}
	wg.Wait()
	val := make([]byte, 8)
	if ok, err := s.Lookup(bytesOf(8, 5), val); !ok || err != nil || first(val) > 2*runs*batch+2*adds {
		t.Fatal(ok, err, first(val))
	}
	// A run on a CPU where the program is active does nothing; count by misses.
	missed, err := bpf.Misses(prog)
	if err != nil && !errors.Is(err, bpf.ErrNoMisses) {
		t.Fatal(err)
	}
	if want := (2*runs-missed)*batch + 2*adds; first(val) != want {
		t.Errorf("got %d, want %d (missed %d)", first(val), want, missed)
	}
}

// taker loads a program that makes the entry of a key where there is none, and
// otherwise deletes it, args[1] times. It counts both in the words of counts.
func taker(t *testing.T, m, counts *ebpf.Map) *ebpf.Program {
	t.Helper()
	find := func(label string) asm.Instructions {
		return code(mapPtr(asm.R1, m).WithSymbol(label), address(asm.R2, asm.RFP, -8))
	}
	return loaded(t, "taker",
		asm.LoadMem(asm.R6, asm.R1, 0, asm.DWord), asm.StoreMem(asm.RFP, -8, asm.R6, asm.DWord),
		asm.LoadMem(asm.R7, asm.R1, 8, asm.DWord), mapMem(asm.R9, counts), asm.Mov.Imm(asm.R8, 0),
		find("again"), asm.FnMapLookupElem.Call(), asm.JNE.Imm(asm.R0, 0, "take"),
		find("make"), address(asm.R3, asm.RFP, -8), asm.Mov.Imm(asm.R4, int32(ebpf.UpdateNoExist)),
		asm.FnMapUpdateElem.Call(),
		asm.JNE.Imm(asm.R0, 0, "next"), asm.Mov.Imm(asm.R1, 1), asm.AddAtomic.Mem(asm.R9, asm.R1, asm.DWord, 0),
		asm.Ja.Label("next"),
		find("take"), asm.FnMapDeleteElem.Call(),
		asm.JNE.Imm(asm.R0, 0, "next"), asm.Mov.Imm(asm.R1, 1), asm.AddAtomic.Mem(asm.R9, asm.R1, asm.DWord, 8),
		asm.Add.Imm(asm.R8, 1).WithSymbol("next"), asm.JGE.Imm(asm.R8, 500, "end"),
		asm.JLT.Reg(asm.R8, asm.R7, "again"),
		give("end", 0),
	)
}

// Each entry that is made is taken once, by a program or by user space, or is left.
func TestPopBesidePrograms(t *testing.T) {
	s, m := hash(t, 8, 8, 8)
	counts, mem, err := newArea(1, 16)
	if err != nil {
		t.Fatal(err)
	}
	defer closeArea(counts, mem)
	prog := taker(t, m, counts)
	const runs, batch = 300, 500
	var wg sync.WaitGroup
	wg.Go(func() {
		for range runs {
			if _, err := bpf.Run(prog, []uint64{5, batch}); err != nil {
				t.Error(err)
			}
		}
	})
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	popped, val := uint64(0), make([]byte, 8)
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		ok, err := s.Pop(bytesOf(8, 5), val)
		if err != nil {
			t.Fatal(err)
		}
		if ok {
			popped++
		}
	}
	if made, taken := first(mem), first(mem[8:]); made != taken+popped || made == 0 {
		t.Errorf("%d entries were made, %d deleted by programs, %d popped, none is left", made, taken, popped)
	}
}

// An addition goes on when a program deletes the entry that it has just made.
func TestAddIntBesideTakers(t *testing.T) {
	s, m := hash(t, 8, 8, 8)
	counts, mem, err := newArea(1, 16)
	if err != nil {
		t.Fatal(err)
	}
	defer closeArea(counts, mem)
	prog := taker(t, m, counts)
	var wg sync.WaitGroup
	wg.Go(func() {
		for range 300 {
			if _, err := bpf.Run(prog, []uint64{5, 500}); err != nil {
				t.Error(err)
			}
		}
	})
	for range 3000 {
		if err := s.AddInt(bytesOf(8, 5), 0, 1); err != nil {
			t.Error(err)
			break
		}
	}
	wg.Wait()
}

// fill adds n entries i → 3i, the values in both words.
func fill(tb testing.TB, s Container, n, keyLen, vLen int) map[uint64]uint64 {
	tb.Helper()
	want := map[uint64]uint64{}
	for i := range uint64(n) {
		if err := s.Update(bytesOf(keyLen, i), bytesOf(vLen, 3*i)); err != nil {
			tb.Fatal(err)
		}
		want[i] = 3 * i
	}
	return want
}

func all(tb testing.TB, each func(func(k, v []byte) bool) error, keyLen, vLen int) map[uint64]uint64 {
	tb.Helper()
	got := map[uint64]uint64{}
	err := each(func(k, v []byte) bool {
		if !bytes.Equal(k, bytesOf(keyLen, first(k))) || !bytes.Equal(v, bytesOf(vLen, first(v))) {
			tb.Errorf("damaged entry %x: %x", k, v)
		}
		if _, twice := got[first(k)]; twice {
			tb.Errorf("key %d came twice", first(k))
		}
		got[first(k)] = first(v)
		return true
	})
	if err != nil {
		tb.Fatal(err)
	}
	return got
}

// inBatches reads m by system calls.
func inBatches(m *ebpf.Map) func(func(k, v []byte) bool) error {
	return func(f func(k, v []byte) bool) error { return batches(m, f) }
}

// waysToWalk are the ways to read a whole map that this kernel has.
func waysToWalk(tb testing.TB, s *table, m *ebpf.Map) map[string]func(func(k, v []byte) bool) error {
	tb.Helper()
	ways := map[string]func(func(k, v []byte) bool) error{"batches": inBatches(m), "chosen": s.Each}
	snap, err := newSnapshot(m)
	if errors.Is(err, unix.EINVAL) {
		tb.Log("bpf_for_each_map_elem needs 5.13:", err)
	} else if err != nil {
		tb.Fatal(err)
	} else {
		tb.Cleanup(func() { snap.close() })
		ways["snapshot"] = snap.each
	}
	iter, err := newIterator(m, s.opts)
	if errors.Is(err, unix.EPERM) {
		tb.Log("this kernel lets no program walk over a map:", err)
	} else if err != nil {
		tb.Fatal("map iterator:", err)
	} else {
		tb.Cleanup(func() { iter.close() })
		ways["iterator"] = iter.each
	}
	return ways
}

func TestEachWays(t *testing.T) {
	for _, size := range []struct{ n, key, val int }{{1, 8, 8}, {5000, 16, 24}, {20, 512, 4096}} {
		s, m := hash(t, size.n, size.key, size.val)
		want := fill(t, s, size.n, size.key, size.val)
		ways := waysToWalk(t, s, m)
		for name, each := range ways {
			for range 2 {
				if got := all(t, each, size.key, size.val); !maps.Equal(got, want) {
					t.Errorf("%s: %d entries of %d, or wrong ones", name, len(got), len(want))
				}
			}
			n := 0
			if err := each(func(k, v []byte) bool { n++; return false }); err != nil || n != 1 {
				t.Errorf("%s: %d calls after false, %v", name, n, err)
			}
		}
	}
}

func TestEachEmpty(t *testing.T) {
	s, _ := hash(t, 10, 8, 8)
	if got := all(t, s.Each, 8, 8); len(got) != 0 {
		t.Errorf("got %v", got)
	}
	s, _ = hash(t, 10, 8, 8)
	s.Settle()
	if got := all(t, s.Each, 8, 8); len(got) != 0 {
		t.Errorf("settled: got %v", got)
	}
	if s.walk != nil || s.access != nil {
		t.Error("a settled table loaded programs")
	}
}

func TestEachMayChangeButNotNest(t *testing.T) {
	s, _ := hash(t, 10, 8, 8)
	fill(t, s, 10, 8, 8)
	err := s.Each(func(k, v []byte) bool {
		if ok, err := s.Delete(k); !ok || err != nil {
			t.Error(ok, err)
		}
		if s.Each(func(_, _ []byte) bool { return true }) == nil {
			t.Error("a walk within a walk")
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := all(t, s.Each, 8, 8); len(got) != 0 {
		t.Errorf("left %v", got)
	}
}

// A table of which a copy would be too large is walked over by a program, or by system calls where the kernel does not
// let programs do that.
func TestLargeTableIsIterated(t *testing.T) {
	s, m := hash(t, snapshotMax/16+1, 8, 8)
	want := fill(t, s, 3000, 8, 8)
	if got := all(t, s.Each, 8, 8); !maps.Equal(got, want) {
		t.Errorf("%d entries of %d", len(got), len(want))
	}
	iter, err := newIterator(m, s.opts)
	if err == nil {
		defer iter.close()
	}
	_, iterated := s.walk.(*mapIterator)
	if iterated == errors.Is(err, unix.EPERM) || !iterated && !s.settled {
		t.Errorf("read by %T, by system calls %v; a program: %v", s.walk, s.settled, err)
	}
}

func TestCell(t *testing.T) {
	m := newMap(t, ebpf.MapSpec{Type: ebpf.Array, KeySize: 4, ValueSize: 16, MaxEntries: 1, Flags: unix.BPF_F_MMAPABLE})
	s := bind(t, m, nil, 16)
	if err := s.Update(nil, bytesOf(16, 40)); err != nil {
		t.Fatal(err)
	}
	if err := s.AddInt(nil, 0, 2); err != nil {
		t.Fatal(err)
	}
	if err := s.AddInt(nil, 12, 2); err == nil {
		t.Error("no error at offset 12")
	}
	got := make([]byte, 16)
	if err := m.Lookup(uint32(0), &got); err != nil || first(got) != 42 {
		t.Errorf("the map has %x, %v", got, err)
	}
	n := 0
	if err := s.Each(func(k, v []byte) bool { n++; return k == nil && first(v) == 42 }); err != nil || n != 1 {
		t.Error(n, err)
	}
	if ok, err := s.Delete(nil); !ok || err != nil {
		t.Error(ok, err)
	}
	if ok, err := s.Lookup(nil, got); !ok || err != nil || first(got) != 0 || first(got[8:]) != 0 {
		t.Errorf("%v, %v: %x", ok, err, got)
	}
}

func TestNewRefusesOtherSizes(t *testing.T) {
	m := newMap(t, ebpf.MapSpec{Type: ebpf.Hash, KeySize: 8, ValueSize: 16, MaxEntries: 4})
	for _, c := range []*tree.Container{
		{KeyLayout: &wire.Fixed{Size: 8}, ValueLayout: &wire.Fixed{Size: 8}},
		{KeyLayout: &wire.Fixed{Size: 16}, ValueLayout: &wire.Fixed{Size: 16}},
		{ValueLayout: &wire.Fixed{Size: 16}},
		{KeyLayout: &wire.Fixed{Size: 8}},
		{KeyLayout: &wire.Fixed{Size: 8}, Agg: &wire.Agg{Size: 8}},
	} {
		c.Container = &plan.Container{Name: "t"}
		if _, err := New(c, m, Options{}); err == nil || !strings.Contains(err.Error(), "of the map") &&
			!strings.Contains(err.Error(), "a map of type") {
			t.Errorf("got %v", err)
		}
	}
}

func TestAggregation(t *testing.T) {
	m := newMap(t, ebpf.MapSpec{Type: ebpf.Hash, KeySize: 8, ValueSize: 16, MaxEntries: 4})
	c := &tree.Container{Container: &plan.Container{}, KeyLayout: &wire.Fixed{Size: 8}, Agg: &wire.Agg{Size: 16}}
	s, err := New(c, m, Options{FuncID: funcID})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.AddInt(bytesOf(8, 1), 8, 3); err != nil {
		t.Fatal(err)
	}
	if _, val := s.Layout(); val != nil {
		t.Error("an aggregation has a layout of values")
	}
	n := 0
	if err := s.Each(func(_, v []byte) bool { n++; return first(v[8:]) == 3 }); err != nil || n != 1 {
		t.Error(n, err)
	}
}

func BenchmarkEach(b *testing.B) {
	s, m := hash(b, 20000, 8, 8)
	fill(b, s, 20000, 8, 8)
	for name, each := range waysToWalk(b, s, m) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := each(func(_, _ []byte) bool { return true }); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/20000, "ns/entry")
		})
	}
}

func BenchmarkLookup(b *testing.B) {
	s, _ := hash(b, 100, 8, 8)
	fill(b, s, 100, 8, 8)
	key, val := bytesOf(8, 5), make([]byte, 8)
	for b.Loop() {
		if ok, err := s.Lookup(key, val); !ok || err != nil {
			b.Fatal(err)
		}
	}
}
