package tree

import (
	"strings"
	"testing"
)

// Each kind of attaching is that of a way, and has a word of its own, by which texts of trees name it.
func TestAttachWords(t *testing.T) {
	ways := []Way{Tracepoint{}, RawTracepoint{}, SyscallEnter{}, SyscallExit{}, Clock{}, Clock{EveryCPU: true},
		Counter{}, Watchpoint{}, Iterator{}}
	for _, kind := range AttachKinds() {
		if kind.traits().into != "" {
			ways = append(ways, &Functions{Mech: kind})
		}
	}
	words, kinds := map[string]bool{}, map[AttachKind]bool{}
	for _, way := range ways {
		word, _, _ := strings.Cut(Attach{Way: way}.String(), " ")
		if words[word] || kinds[way.Kind()] {
			t.Errorf("%T: %q, kind %d, is another's, too", way, word, way.Kind())
		}
		words[word], kinds[way.Kind()] = true, true
	}
	for _, kind := range AttachKinds() {
		if !kinds[kind] {
			t.Errorf("kind %d is that of no way", kind)
		}
		if attachTable[kind].below == belowUnknown {
			t.Errorf("kind %d has no row in attachTable", kind)
		}
	}
}
