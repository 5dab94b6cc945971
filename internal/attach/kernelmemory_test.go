package attach

import (
	"encoding/binary"
	"testing"

	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/test/need"
)

// The kernel's memory is read by its addresses, and 0 where there is none.
func TestWords(t *testing.T) {
	need.BPF(t)
	symbols, err := kernel.OpenSymbols()
	if err != nil {
		t.Fatal(err)
	}
	banner, ok := symbols.Addr("linux_banner")
	if !ok {
		t.Skip("needs a kernel that lists its variables (CONFIG_KALLSYMS_ALL)")
	}
	words, err := Words([]uint64{banner, 8, banner + 8})
	if err != nil {
		t.Fatal(err)
	}
	text := binary.LittleEndian.AppendUint64(nil, words[0])
	if text = binary.LittleEndian.AppendUint64(text, words[2]); string(text[:14]) != "Linux version " || words[1] != 0 {
		t.Errorf("got %q, and %#x at address 8", text, words[1])
	}
}
