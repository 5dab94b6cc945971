package command

import (
	"io"

	"github.com/startrace/startrace/internal/attach"
	"github.com/startrace/startrace/internal/doctor"
	"github.com/startrace/startrace/internal/session"
)

// Doctor says what this machine can trace.
func Doctor(o session.Options, json bool) (exit int, err error) {
	return session.Looking(o, func(l *session.Look) (exit int, err error) {
		return examine(l, o.Stdout, json)
	})
}

func examine(l *session.Look, w io.Writer, json bool) (exit int, err error) {
	m, err := doctor.Read(l.Facts())
	if err != nil {
		return session.Failed, err
	}
	_, m.Symbols = l.Facts().Symbols()
	m.Tried = attach.Try(l.Trial())
	report := doctor.Examine(m)
	write := report.WriteText
	if json {
		write = report.WriteJSON
	}
	if err := write(w); err != nil {
		return session.Failed, err
	}
	if report.Verdict == doctor.Fails {
		return session.Failed, nil
	}
	return session.Done, nil
}
