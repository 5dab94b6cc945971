package command

import (
	"io"

	"github.com/startrace/startrace/internal/attach"
	"github.com/startrace/startrace/internal/doctor"
	"github.com/startrace/startrace/internal/machine"
	"github.com/startrace/startrace/internal/session"
)

// `startrace doctor` of the command line: the machine examined, the report printed as text or JSON, the exit code.

// Doctor says what this machine can trace.
func Doctor(o session.Options, json bool) (exit int, err error) {
	defer session.Guard(&o, &exit, &err)
	return examine(machine.Open(), o.Stdout, json)
}

func examine(m *machine.Machine, w io.Writer, json bool) (exit int, err error) {
	read, err := doctor.Read(m.Facts())
	if err != nil {
		return session.Failed, err
	}
	_, read.Symbols = m.Facts().Symbols()
	read.Tried = attach.Try(m.Trial())
	report := doctor.Examine(read)
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
