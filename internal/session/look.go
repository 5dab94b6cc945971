package session

import (
	"github.com/startrace/startrace/builtins"
	"github.com/startrace/startrace/internal/attach"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/mistake"
	"github.com/startrace/startrace/internal/render"
)

// A Look is a session that runs no script: it says what there is on this
// machine.
type Look struct{ s *session }

// Looking calls f with a session that runs no script.
func Looking(o Options, f func(l *Look) (exit int, err error)) (exit int, err error) {
	defer guard(o, &exit, &err)
	s := newSession(o)
	defer s.close()
	exit, err = f(&Look{s})
	return exit, mistake.Tidy(err)
}

// Open checks the settings and opens the output, whose format it gives.
func (l *Look) Open() (render.Format, error) {
	err := l.s.apply()
	return l.s.printer.Format, err
}

// Facts are those of the kernel.
func (l *Look) Facts() *kernel.Facts { return l.s.facts }

// Trial is what to try probes on.
func (l *Look) Trial() *attach.Trial { return l.s.trial() }

// Flags are the words that a script or a tool takes.
func (l *Look) Flags(script string) ([]builtins.FlagWord, error) {
	if err := l.s.parseScript(script); err != nil {
		return nil, err
	}
	return l.s.host.Flags(), nil
}

// List prints what a pattern of points finds, and reports whether that is
// anything.
func (l *Look) List(pattern string) (found bool, err error) {
	found, err = l.s.list(pattern)
	l.s.out.flush()
	if err == nil {
		err = l.s.out.err
	}
	return found, err
}

// PointWords are the points that could follow what is typed of one; shown are
// what a pattern matches.
func (l *Look) PointWords(typed string) (words, shown []string) {
	return offers{l.s.listing}.points(typed)
}

// FieldWords are the fields of an event of one of the points, or of the part
// of it that a path leads to.
func (l *Look) FieldWords(points, path []string) []string {
	return offers{l.s.listing}.fields(points, path)
}
