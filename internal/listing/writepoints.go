package listing

import (
	"io"
	"runtime"
	"slices"
	"sync"
)

// Many points written fast.

// pieceSize is how many points are written at a time.
const pieceSize = 512

// writePoints writes the points in their order. Pieces are made by several
// goroutines at a time: a pattern can match all functions of the kernel, and their
// details take longer than finding them.
func (r *Result) writePoints(w io.Writer, write func(*writer, *Point)) (err error) {
	type piece chan *writer
	pieces := make(chan piece, runtime.GOMAXPROCS(0))
	stop := make(chan struct{})
	go func() {
		defer close(pieces)
		for points := range slices.Chunk(r.Points, pieceSize) {
			made := make(piece, 1)
			select {
			case pieces <- made:
			case <-stop:
				return
			}
			go func() {
				out := writers.Get().(*writer)
				for _, p := range points {
					write(out, r.full(p))
				}
				made <- out
			}()
		}
	}()
	for made := range pieces {
		out := <-made
		if err == nil {
			if err = out.err; err == nil {
				_, err = out.WriteTo(w)
			}
			if err != nil {
				close(stop)
			}
		}
		out.Reset()
		out.err = nil
		writers.Put(out)
	}
	return err
}

var writers = sync.Pool{New: func() any { return new(writer) }}
