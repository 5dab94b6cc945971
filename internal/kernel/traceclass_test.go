package kernel_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/cilium/ebpf/btf"

	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/test/smallkernel"
)

// A class of one event has its name; that of another is what the event's variable
// points to.
func TestClassFunctions(t *testing.T) {
	word := &btf.Int{Name: "long unsigned int", Size: 8}
	blob := smallkernel.BTF(t, &btf.Struct{Name: "bpf_raw_event_map", Size: 24,
		Members: []btf.Member{{Name: "tp", Type: word}, {Name: "bpf_func", Type: word, Offset: 128}}})
	const text = "ffffffff81000000 t __bpf_trace_alone\nffffffff81000040 t __bpf_trace_family\n" +
		"ffffffff82000000 d __bpf_trace_tp_map_alone\nffffffff82000020 d __bpf_trace_tp_map_child\n" +
		"ffffffff82000040 d __bpf_trace_tp_map_sister\n"
	var read []uint64
	words := func(addrs []uint64) ([]uint64, error) {
		read = append(read, addrs...)
		return []uint64{0xffffffff81000040, 0}, nil
	}
	failing := func([]uint64) ([]uint64, error) { return nil, errors.New("locked down") }
	for _, test := range []struct {
		words func([]uint64) ([]uint64, error)
		want  []uint64
	}{
		{words, []uint64{0xffffffff81000000, 0xffffffff81000040, 0, 0}},
		{failing, []uint64{0xffffffff81000000, 0, 0, 0}},
		{nil, []uint64{0xffffffff81000000, 0, 0, 0}},
	} {
		f := kernel.Open(kernel.Options{BTF: blob, Words: test.words, Symbols: func() (*kernel.Symbols, error) {
			return kernel.ReadSymbols(strings.NewReader(text))
		}})
		if got := f.ClassFunctions([]string{"alone", "child", "sister", "none"}); !slices.Equal(got, test.want) {
			t.Errorf("got %#x, want %#x", got, test.want)
		}
	}
	if want := []uint64{0xffffffff82000030, 0xffffffff82000050}; !slices.Equal(read, want) {
		t.Errorf("read %#x, want %#x", read, want)
	}
}
