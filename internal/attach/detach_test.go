package attach

import (
	"sync/atomic"
	"testing"

	"github.com/startrace/startrace/bpfgen"
	"github.com/startrace/startrace/bpfgen/tree"
)

// A heldLink is closed only once the ring has been drained.
type heldLink struct {
	drained chan struct{}
	closed  atomic.Bool
}

func (h *heldLink) Close() error {
	<-h.drained
	h.closed.Store(true)
	return nil
}

// While the kernel takes a program off, what others send goes on being taken from the ring; the program is off then.
func TestDetachDrains(t *testing.T) {
	link := &heldLink{drained: make(chan struct{})}
	drains := 0
	l := &Loaded{unit: &bpfgen.Unit{Tree: &tree.Unit{}}, opts: Options{Drain: func() error {
		if drains++; drains == 1 {
			close(link.drained)
		}
		return nil
	}}, programs: []*program{{Program: &tree.Program{}, points: []spot{{link: link, kind: probePoint}}}}}
	if err := l.DetachProbe(0); err != nil || !link.closed.Load() || l.Attached(0) {
		t.Errorf("%v, the link is closed: %v, attached: %v", err, link.closed.Load(), l.Attached(0))
	}
}
