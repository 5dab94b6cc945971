package python

import (
	"bufio"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Functions of Python of which frames were seen.

// Seen are the functions of a process of which frames were seen.
type Seen struct{ of map[Frame]*Body }

// mostSeen bounds how many are remembered.
const mostSeen = 1 << 15

// See reads the functions of frames that were not seen before out of the memory of the process, by its folder in /proc.
// Other addresses are passed over.
func (s *Seen) See(dir string, addrs []uint64) {
	var news []Frame
	for _, addr := range addrs {
		if f := Frame(addr); IsFrame(addr) && s.of[f.Code()] == nil && len(s.of) < mostSeen {
			news = append(news, f)
		}
	}
	if len(news) == 0 {
		return
	}
	memory, err := os.Open(dir + "/mem")
	if err != nil {
		return // it has ended
	}
	defer memory.Close()
	regions := regionsOf(dir)
	for _, f := range news {
		for _, region := range regions {
			if body, err := Read(memory, f, region<<reach|f.Addr()); err == nil {
				s.keep(f, body)
				break
			}
		}
	}
}

func (s *Seen) keep(f Frame, body *Body) {
	if s.of == nil {
		s.of = map[Frame]*Body{}
	}
	s.of[f.Code()] = body
}

// regionsOf are the highest bits, above reach, that addresses of a process have: those of its mappings, of which most
// programs have two or three.
func regionsOf(dir string) (out []uint64) {
	f, err := os.Open(dir + "/maps")
	if err != nil {
		return nil
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		first, rest, _ := strings.Cut(lines.Text(), "-")
		last, _, _ := strings.Cut(rest, " ")
		from, err := strconv.ParseUint(first, 16, 64)
		to, failed := strconv.ParseUint(last, 16, 64)
		if err != nil || failed != nil || to <= from {
			continue
		}
		for region := from >> reach; region <= (to-1)>>reach && len(out) < mostRegions; region++ {
			if !slices.Contains(out, region) {
				out = append(out, region)
			}
		}
	}
	return out
}

// mostRegions bounds where code is looked for.
const mostRegions = 64

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
