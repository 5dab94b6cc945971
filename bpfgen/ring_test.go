package bpfgen

import (
	"encoding/binary"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/ringbuf"

	"github.com/startrace/startrace/internal/wire"
)

// ring reads records one by one.
type ring struct{ r *ringbuf.Reader }

func newRing(t *testing.T, m *ebpf.Map) *ring {
	t.Helper()
	r, err := ringbuf.NewReader(m)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return &ring{r}
}

func (r *ring) next(t *testing.T) []byte {
	t.Helper()
	for range tries { // programs wake nobody: the reader comes again and again
		r.r.SetDeadline(time.Now().Add(time.Millisecond))
		rec, err := r.r.Read()
		if err == nil {
			return rec.RawSample
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatal(err)
		}
	}
	t.Fatal("no record")
	return nil
}

// tries is how often next looks for a record.
const tries = 5000

// recordString decodes the string whose reference is at off.
func recordString(off int, rec []byte) string {
	ref := binary.NativeEndian.Uint32(rec[off:])
	at, n := int(ref&0xffff), int(ref>>16)
	s := ""
	if end := at + n&wire.RefLen; end <= len(rec) {
		s = string(rec[at:end])
	} else {
		s = "<out of bounds>"
	}
	switch {
	case n&wire.RefFault != 0:
		return "<fault>"
	case n&wire.RefNone != 0:
		return "None"
	case n&wire.RefCut != 0:
		return s + "…"
	}
	return s
}
