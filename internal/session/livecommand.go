package session

import "github.com/startrace/startrace/internal/procs"

// The command of -c for the prompt: held, run, run again.

// Command is the name of the command of -c, "" for none.
func (l *Live) Command() string { return l.s.target.Command() }

// HoldCommand starts the command of -c up to where it waits for RunCommand.
func (l *Live) HoldCommand(streams *procs.Streams) error { return l.s.target.Hold(streams) }

// Held reports whether the command waits.
func (l *Live) Held() bool { return l.s.target.Held() }

// Released reports whether the command has been let run.
func (l *Live) Released() bool { return l.s.target.Released() }

// CommandEnded reports whether the command has ended, and with which status.
func (l *Live) CommandEnded() (status int, ended bool) { return l.s.target.CommandEnded() }

// RunCommand lets the command run that waits.
func (l *Live) RunCommand() error {
	err := l.s.release()
	if err != nil {
		l.s.target.Forget()
	}
	return err
}

// HoldCommandAgain starts the command once more, and makes it the one that all
// probes follow.
func (l *Live) HoldCommandAgain(streams *procs.Streams) (err error) {
	if err := l.s.target.Hold(streams); err != nil {
		return err
	}
	if l.target, err = l.s.target.OfPlan(); err != nil {
		return err
	}
	for _, part := range l.s.loaded.parts.All {
		if err := part.Follow(l.target.PID); err != nil {
			return err
		}
	}
	return nil
}
