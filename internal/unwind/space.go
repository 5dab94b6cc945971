package unwind

// Which chunks are taken.

// A space is the chunks of all files: which are taken.
type space struct {
	// taken is by number. Chunk 0 belongs to no file.
	taken []bool
	// free is how many are not taken.
	free int
}

func newSpace(chunks int) *space {
	s := &space{taken: make([]bool, chunks), free: chunks - 1}
	s.taken[0] = true
	return s
}

// take gives the first of n chunks in a row: the lowest, so that there are as few maps as possible.
func (s *space) take(n int) (first int, ok bool) {
	for at := 1; at+n <= len(s.taken); at++ {
		run := 0
		for run < n && !s.taken[at+run] {
			run++
		}
		if run == n {
			s.mark(at, n, true)
			s.free -= n
			return at, true
		}
		at += run
	}
	return 0, false
}

// give takes n chunks back.
func (s *space) give(first, n int) {
	s.mark(first, n, false)
	s.free += n
}

func (s *space) mark(first, n int, taken bool) {
	for i := range n {
		s.taken[first+i] = taken
	}
}
