package openspans

import (
	"cmp"
	"encoding/binary"
	"maps"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/bpfgen/layout"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/procs"
	"github.com/startrace/startrace/internal/wire"
	"github.com/startrace/startrace/starlark/value"
)

// The entries of one span read from its map: key, start, point, depth.

// An openReader reads the entries of one span: those of the script say when they began, those of system calls which
// call it is, those of functions how deep they lie.
type openReader struct {
	// spans has the decoder and the names of points.
	spans *Spans
	// span is the one whose entries are read.
	span *tree.Span
	// key is the layout of its keys, layout that of what an entry has kept.
	key    *wire.Fixed
	layout *wire.Fixed
	// nested are the entries of a nested span: whether one is open is known when
	// all have been read.
	nested []nestedEntry
	open   map[nestedThread]uint32 // how many calls of a thread are
	// names are those of what starts keep, by its paths; all of them are what any of the starts keeps, sorted.
	names map[string]string
	all   []string
}

// A nestedThread is a thread, or a goroutine, of a process.
type nestedThread struct {
	thread  uint64
	process uint32
}

type nestedEntry struct {
	of    nestedThread
	depth uint32
	began *value.Record
}

// key is the thread, or the process where no more is kept.
func (e *nestedEntry) key() starlark.Value {
	if tid := e.began.Get("tid"); tid != nil {
		return tid
	}
	return e.began.Get("pid")
}

func (s *Spans) reader(span *tree.Span, names map[string]string) *openReader {
	return &openReader{spans: s, span: span, key: openKey(span), layout: openLayout(span),
		open: map[nestedThread]uint32{}, names: names, all: slices.Sorted(maps.Values(names))}
}

// entry is the key and the start of an entry; ok is false where it is closed, or of a nested span.
func (r *openReader) entry(key, val []byte) (who, began starlark.Value, ok bool) {
	if r.span.Nested {
		r.note(key, val)
		return nil, nil, false
	}
	busy := binary.NativeEndian.Uint64(val[layout.SpanBusy:])
	who = r.spans.Decoder.Decode(&r.key.Type, key)
	switch {
	case busy == 0, r.span.Muted && busy>>layout.SpanMuted != 0:
		return nil, nil, false
	case r.span.Plan != nil:
		return who, r.started([]starlark.Value{starlark.MakeUint64(busy)}, val), true
	}
	probe := starlark.String("syscall:" + kernel.SyscallName(layout.Syscall(busy)))
	return who, r.started([]starlark.Value{probe}, val), true
}

// openIn is how many calls an entry says are open: of a nested span that of depth 0 has the number.
func openIn(span *tree.Span, key, val []byte) uint64 {
	switch {
	case span.Muted && binary.NativeEndian.Uint64(val[layout.SpanBusy:])>>layout.SpanMuted != 0:
	case !span.Nested && binary.NativeEndian.Uint64(val[layout.SpanBusy:]) != 0:
		return 1
	case span.Nested && nestedDepth(key) == 0:
		return binary.NativeEndian.Uint64(val[layout.NestedOpen:])
	}
	return 0
}

func nestedDepth(key []byte) uint32 { return binary.NativeEndian.Uint32(key[12:]) }

// note keeps an entry of a nested span. Its words are described in bpfgen/layout.
func (r *openReader) note(key, val []byte) {
	of := nestedThread{binary.NativeEndian.Uint64(key), binary.NativeEndian.Uint32(key[8:])}
	depth := nestedDepth(key)
	if depth == 0 {
		r.open[of] = uint32(binary.NativeEndian.Uint64(val[layout.NestedOpen:]))
	}
	probe := r.point(binary.NativeEndian.Uint64(val[layout.NestedPlace:]))
	began := r.started([]starlark.Value{starlark.String(probe), starlark.MakeUint64(uint64(of.process)),
		starlark.MakeUint64(uint64(depth))}, val)
	r.nested = append(r.nested, nestedEntry{of, depth, began})
}

// rest gives the open entries of a nested span, the outermost call of a thread first. What lies deeper than those that
// are open has been left; what a thread was in when it was killed stays, and is none.
func (r *openReader) rest() (out []starlark.Value) {
	slices.SortFunc(r.nested, func(a, b nestedEntry) int {
		return cmp.Or(cmp.Compare(a.of.process, b.of.process), cmp.Compare(a.of.thread, b.of.thread),
			cmp.Compare(a.depth, b.depth))
	})
	for _, e := range r.nested {
		who := e.key()
		if tid, err := starlark.AsInt32(who); err == nil && e.depth < r.open[e.of] && !procs.ThreadEnded(tid) {
			out = append(out, starlark.Tuple{who, e.began})
		}
	}
	return out
}

// point is the name of the point of a call by its place: the lower half of the point's cookie.
func (r *openReader) point(place uint64) string { return r.spans.Point(uint64(int64(int32(place)))) }

// started is what is known of a start: the values of entryNames, and what has been kept under a name of the script.
// What only other starts keep is None.
func (r *openReader) started(vals []starlark.Value, val []byte) *value.Record {
	kept, names := r.kept(val), slices.Clone(entryNames(r.span))
	add := func(name string, v starlark.Value) {
		if !slices.Contains(names, name) {
			names, vals = append(names, name), append(vals, v)
		}
	}
	for _, inner := range []bool{false, true} {
		for i, slot := range kept.Names {
			if slot != tree.Unnamed && inner == strings.HasPrefix(slot, tree.Inner) {
				add(r.names[slot], r.spans.Decoder.Decode(&r.layout.Type.Elems[i], val))
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(kept.Known)) {
		add(name, starlark.String(kept.Known[name]))
	}
	for _, name := range r.all {
		add(name, starlark.None)
	}
	return value.NewRecord(names, vals)
}

// kept is what the span shows of the start that wrote val.
func (r *openReader) kept(val []byte) tree.Kept {
	if len(r.span.Kept) == 0 {
		return tree.Kept{Names: r.span.Names}
	}
	if r.span.Numbered {
		number := r.spans.Decoder.Decode(&r.layout.Type.Elems[0], val)
		if n, err := starlark.AsInt32(number); err == nil && n < len(r.span.Kept) {
			return r.span.Kept[n]
		}
		return tree.Kept{}
	}
	return r.span.Kept[0]
}
