package state

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/wire"
	"github.com/startrace/startrace/starlark/value"
)

// bankedContainer is container 2 with values of two banks of 16 bytes, and
// the array of epochs.
func bankedContainer(t *testing.T, key *wire.Fixed) (value.BankedBackend, Container, *ebpf.Map) {
	t.Helper()
	spec := ebpf.MapSpec{Type: ebpf.Array, KeySize: 4, ValueSize: 32, MaxEntries: 1, Flags: unix.BPF_F_MMAPABLE}
	if key != nil {
		spec = ebpf.MapSpec{Type: ebpf.Hash, KeySize: 8, ValueSize: 32, MaxEntries: 8}
	}
	m := newMap(t, spec)
	epochs := newMap(t, ebpf.MapSpec{Type: ebpf.Array, KeySize: 4, ValueSize: 24, MaxEntries: 1,
		Flags: unix.BPF_F_MMAPABLE})
	c := &tree.Container{Container: &plan.Container{Name: "t", ID: 2}, KeyLayout: key,
		Agg: &wire.Agg{Size: 16, Banks: 2}}
	s, err := New(c, m, Options{FuncID: funcID, Epochs: epochs})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	banked, ok := s.(value.BankedBackend)
	if !ok {
		t.Fatalf("%T has no banks", s)
	}
	return banked, s, epochs
}

// epochOf reads the word as a program does.
func epochOf(t *testing.T, epochs *ebpf.Map) uint64 {
	t.Helper()
	words := make([]byte, 24)
	if err := epochs.Lookup(uint32(0), &words); err != nil {
		t.Fatal(err)
	}
	return binary.NativeEndian.Uint64(words[16:])
}

func words(n ...uint64) (out []byte) {
	for _, w := range n {
		out = binary.NativeEndian.AppendUint64(out, w)
	}
	return out
}

func TestBankedTable(t *testing.T) {
	h, s, epochs := bankedContainer(t, &wire.Fixed{Size: 8})
	one, two := words(1), words(2)
	for _, key := range [][]byte{one, two} {
		if err := h.Update(key, words(5, 6, 7, 8)); err != nil {
			t.Fatal(err)
		}
	}
	for i, want := range []int{0, 1, 0} {
		old, err := h.Switch()
		if err != nil || old != want || epochOf(t, epochs) != uint64(i+1) {
			t.Errorf("switch %d: old bank %d, epoch %d, %v", i, old, epochOf(t, epochs), err)
		}
	}
	if err := h.ClearBank(one, 0); err != nil {
		t.Fatal(err)
	}
	if err := h.ClearBank(two, 1); err != nil {
		t.Fatal(err)
	}
	if err := h.ClearBank(words(3), 1); err != nil {
		t.Errorf("of an entry that is not there: %v", err)
	}
	for i, want := range [][]byte{words(0, 0, 7, 8), words(5, 6, 0, 0)} {
		got := make([]byte, 32)
		if ok, err := h.Lookup(words(uint64(i+1)), got); !ok || err != nil || !slices.Equal(got, want) {
			t.Errorf("entry %d: %x, %v, %v; want %x", i+1, got, ok, err, want)
		}
	}
	s.Settle()
	if old, err := h.Switch(); old != 1 || err != nil {
		t.Errorf("after the end: %d, %v", old, err)
	}
}

func TestBankedCell(t *testing.T) {
	h, _, _ := bankedContainer(t, nil)
	if err := h.Update(nil, words(5, 6, 7, 8)); err != nil {
		t.Fatal(err)
	}
	old, err := h.Switch()
	if err != nil || old != 0 {
		t.Fatal(old, err)
	}
	if err := h.ClearBank(nil, old); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 32)
	if ok, err := h.Lookup(nil, got); !ok || err != nil || !slices.Equal(got, words(0, 0, 7, 8)) {
		t.Errorf("%x, %v, %v", got, ok, err)
	}
}

func TestBanksNeedEpochs(t *testing.T) {
	m := newMap(t, ebpf.MapSpec{Type: ebpf.Hash, KeySize: 8, ValueSize: 32, MaxEntries: 8})
	c := &tree.Container{Container: &plan.Container{Name: "t", ID: 3}, KeyLayout: &wire.Fixed{Size: 8},
		Agg: &wire.Agg{Size: 16, Banks: 2}}
	if _, err := New(c, m, Options{}); err == nil || !strings.Contains(err.Error(), "no epochs") {
		t.Errorf("without epochs: %v", err)
	}
	epochs := newMap(t, ebpf.MapSpec{Type: ebpf.Array, KeySize: 4, ValueSize: 24, MaxEntries: 1,
		Flags: unix.BPF_F_MMAPABLE})
	if _, err := New(c, m, Options{Epochs: epochs}); err == nil || !strings.Contains(err.Error(), "no epoch at 24") {
		t.Errorf("with too few: %v", err)
	}
}
