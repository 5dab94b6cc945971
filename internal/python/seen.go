package python

import "os"

// Seen are the functions of a process of which frames were seen.
type Seen struct{ of map[Frame]*Body }

// mostSeen bounds how many are remembered.
const mostSeen = 1 << 15

// See reads the functions of frames that were not seen before out of the memory of the process, by its folder in /proc.
// Other addresses are passed over.
func (s *Seen) See(dir string, addrs []uint64) {
	var memory *os.File
	for _, addr := range addrs {
		if !IsFrame(addr) || s.of[Frame(addr).Code()] != nil || len(s.of) >= mostSeen {
			continue
		}
		if memory == nil {
			f, err := os.Open(dir + "/mem")
			if err != nil {
				return
			}
			defer f.Close()
			memory = f
		}
		if body, err := Read(memory, Frame(addr)); err == nil {
			if s.of == nil {
				s.of = map[Frame]*Body{}
			}
			s.of[Frame(addr).Code()] = body
		}
	}
}

// At gives the function of a frame; nil where it is not known.
func (s *Seen) At(f Frame) *Body { return s.of[f.Code()] }

// Place is where a frame of the function is, "" where that is not known.
func (b *Body) Place(f Frame) (file string, line int) {
	place, known := f.Place()
	if !known {
		return "", 0
	}
	if line = b.Line(place); line == 0 {
		return "", 0
	}
	return b.File, line
}
