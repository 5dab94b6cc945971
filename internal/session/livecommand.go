package session

import "github.com/startrace/startrace/internal/procs"

// Command is the name of the command of -c, "" for none.
func (l *Live) Command() string {
	if len(l.s.argv) == 0 {
		return ""
	}
	return l.s.argv[0]
}

// HoldCommand starts the command of -c up to where it waits for RunCommand.
func (l *Live) HoldCommand(streams *procs.Streams) error { return l.s.startCommand(streams) }

// Held reports whether the command waits.
func (l *Live) Held() bool { return l.s.child != nil && !l.s.released }

// Released reports whether the command has been let run.
func (l *Live) Released() bool { return l.s.released }

// CommandEnded reports whether the command has ended, and with which status.
func (l *Live) CommandEnded() (status int, ended bool) {
	return int(l.s.childStatus.Load()), l.s.childEnded.Load()
}

// RunCommand lets the command run that waits.
func (l *Live) RunCommand() error {
	err := l.s.releaseCommand()
	if err != nil {
		_, _ = l.s.child.Wait() // it has said why
		l.s.child = nil
	}
	return err
}

// HoldCommandAgain starts the command once more, and makes it the one that all
// probes follow.
func (l *Live) HoldCommandAgain(streams *procs.Streams) (err error) {
	s := l.s
	if err := s.startCommand(streams); err != nil {
		return err
	}
	if l.target, err = s.target(); err != nil {
		return err
	}
	for _, part := range s.parts {
		if err := part.followTarget(l.target.PID); err != nil {
			return err
		}
	}
	return nil
}
