package symbols

import (
	"errors"
	"io"
	"slices"

	"github.com/startrace/startrace/internal/dwarffile"
	"github.com/startrace/startrace/internal/elffile"
	"github.com/startrace/startrace/internal/python"
	"github.com/startrace/startrace/internal/sourcefunc"
	"github.com/startrace/startrace/internal/until"
)

// Lines of the source and inlined calls of an address (--lines), and how many files are kept open.

// A sources finds the source of the code of a file, by its debug information. It reads nothing before it is asked.
type sources struct {
	// with has the debug information of program, which is read here for its name alone.
	with, program *elffile.File
	// segments are those of the file with the code.
	segments []elffile.Segment
	// held is closed when the file is not needed any more.
	held []io.Closer
	// others are the files that have parts of the debug information.
	others []io.Closer
	// tried: calls were looked for, nil where there are none.
	tried bool
	calls *sourcefunc.Calls
	// used is when it was last asked, by the clock of files.
	used uint64
	// known are the answers, by the offset in the file.
	known map[uint64][]sourcefunc.Call
	// room is asked before more of the debug information is read.
	room until.Room
	// lost says what of the debug information was asked for and is not known, as far as nobody has taken it yet.
	lost []string
}

// newSources keeps what has debug information of a file; nil where there is none. What is kept is not closed.
func newSources(f *elffile.File, held io.Closer) (*sources, bool) {
	with, err := f.WithDebugInfo()
	switch {
	case err != nil || with == nil:
		return nil, false
	case with == f:
		return &sources{with: f, program: f, segments: f.Segments(), held: []io.Closer{held}}, true
	}
	return &sources{with: with, program: f, segments: f.Segments(), held: []io.Closer{with}}, false
}

// addr gives the address of a place of code in the file.
func (s *sources) addr(offset uint64) (uint64, bool) {
	for _, one := range s.segments {
		if one.Code && offset >= one.Offset && offset-one.Offset < one.Size {
			return offset - one.Offset + one.Addr, true
		}
	}
	return 0, false
}

// close closes the file.
func (s *sources) close() error {
	var errs []error
	for _, c := range slices.Concat(s.held, s.others) {
		errs = append(errs, c.Close())
	}
	s.held, s.others, s.calls, s.tried = nil, nil, nil, true
	return errors.Join(errs...)
}

// maxAnswers bounds the answers that are kept of a file, and maxUnpacked the bytes of sections that were compressed.
const (
	maxAnswers  = 1 << 14
	maxUnpacked = 256 << 20
)

// at gives the calls at an address of the file, the innermost first.
func (s *sources) at(addr uint64) []sourcefunc.Call {
	if out, ok := s.known[addr]; ok {
		return out
	}
	if s.tried && s.calls == nil {
		return nil
	}
	leave, err := s.enter()
	if err != nil {
		s.forget()
		s.tried = true
		s.lost = append(s.lost, "have no lines of the source: "+err.Error())
		return nil
	}
	defer leave()
	if !s.tried {
		s.tried = true
		s.open()
	}
	if s.calls == nil {
		return nil
	}
	out, err := s.calls.At(addr)
	if err != nil {
		out = nil // damaged: as good as none
	}
	if lost := s.calls.Lost(addr); lost != "" {
		s.lost = append(s.lost, "may lack functions that were inlined, of which they then have the lines: "+lost)
	}
	if s.known == nil || len(s.known) >= maxAnswers {
		s.known = map[uint64][]sourcefunc.Call{}
	}
	s.known[addr] = out
	return out
}

// enter asks for room for the next answer, and for what stacks with lines take where they are printed: more than
// others, by several frames for each address. Of the first answers each reads a unit, of later ones few.
func (s *sources) enter() (leave func(), err error) {
	const first, often, printed = 64, 16, 20 << 20
	if n := len(s.known); n > first && n%often > 0 {
		return func() {}, nil
	}
	return s.room.Enter(printed + elffile.DebugMemory(s.with)/uint64(1+len(s.known)))
}

func (s *sources) open() {
	opener := dwarffile.Opener{Program: s.program, Debug: s.with, MostUnpacked: maxUnpacked,
		Keep: func(f *elffile.File) { s.others = append(s.others, f) }}
	data, err := opener.Open()
	if err == nil && data != nil {
		s.calls = sourcefunc.NewCalls(data)
	}
	if missing := (*dwarffile.MissingError)(nil); errors.As(err, &missing) {
		s.lost = append(s.lost, "have no lines of the source: "+missing.Error())
	}
}

// forget drops what was read, which can be read again.
func (s *sources) forget() {
	for _, c := range s.others {
		_ = c.Close() // it was only read
	}
	s.tried, s.calls, s.known, s.others = false, nil, nil, nil
}

// maxOpen bounds the files that are open for their debug information.
const maxOpen = 128

// closeOldest closes the one that was not asked for longest where there are too many: its lines are not known then.
func (fs *files) closeOldest() {
	open := map[*sources]bool{}
	oldest := (*sources)(nil)
	for _, k := range fs.byID {
		if s := k.file.sources; s != nil && len(s.held) > 0 {
			if open[s] = true; oldest == nil || s.used < oldest.used {
				oldest = s
			}
		}
	}
	if len(open) > maxOpen {
		_ = oldest.close() // it was only read
	}
}

// maxSources bounds the files of which debug information is in memory.
const maxSources = 8

// callsAt gives the calls of the source at a place of a mapped file, the innermost first.
func (t *Namer) callsAt(p *Process, at uint64) []sourcefunc.Call {
	m := p.mapping(at)
	if m == nil || !t.Lines {
		return nil
	}
	f := t.mapped(p, m)
	if f == nil || f.sources == nil {
		return nil
	}
	addr, ok := f.sources.addr(at - m.Start + m.Offset)
	if !ok {
		return nil
	}
	t.use(f.sources)
	out := f.sources.at(addr)
	t.noteLost(m.Path, f.sources)
	return out
}

// mostLost bounds what is said of debug information that is not known.
const mostLost = 16

// noteLost keeps what was found to be lost of the debug information of a file.
func (t *Namer) noteLost(path string, s *sources) {
	for _, what := range s.lost {
		t.lose("stacks of " + path + " " + what)
	}
	s.lost = nil
}

// lose keeps what the end of the run says of names that are not known.
func (t *Namer) lose(text string) {
	if text != "" && len(t.Lost) < mostLost && !slices.Contains(t.Lost, text) {
		t.Lost = append(t.Lost, text)
	}
}

// use notes that a file was asked, and forgets the one that was not for longest.
func (t *Namer) use(s *sources) {
	t.files.clock++
	s.used = t.files.clock
	if s.tried {
		return
	}
	n, oldest := 0, (*sources)(nil)
	for _, k := range t.files.byID {
		if o := k.file.sources; o != nil && o.tried && o.calls != nil {
			if n++; oldest == nil || o.used < oldest.used {
				oldest = o
			}
		}
	}
	if n >= maxSources {
		oldest.forget()
	}
}

// expand gives the frames of a call of which the address is known: one for each function that was inlined, and that of
// the function itself.
func (t *Namer) expand(p *Process, f Frame, at uint64) []Frame {
	calls := t.callsAt(p, at)
	if len(calls) == 0 {
		return []Frame{f}
	}
	out := make([]Frame, 0, len(calls))
	for _, c := range calls[:len(calls)-1] {
		if c.Function == "" {
			continue // damaged
		}
		name := t.shownOfSource(c.Function)
		out = append(out, Frame{Addr: f.Addr, Function: name, Path: f.Path, File: c.File, Line: c.Line, Inlined: true})
	}
	f.File, f.Line = calls[len(calls)-1].File, calls[len(calls)-1].Line
	return append(out, f)
}

// Source gives the file and the line of the function itself at an address of a process, "" where that is not known.
func (t *Namer) Source(p *Process, at uint64) (file string, line int) {
	if python.IsFrame(at) {
		if body := t.bodyOf(p, python.Frame(at)); body != nil {
			return body.Place(python.Frame(at))
		}
		return "", 0
	}
	calls := t.callsAt(p, at)
	if len(calls) == 0 {
		return "", 0
	}
	own := calls[len(calls)-1]
	return own.File, own.Line
}
