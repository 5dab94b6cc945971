package session

import "github.com/startrace/startrace/internal/procs"

// Command is the name of the command of -c, "" for none.
func (l *Live) Command() string {
	if len(l.s.target.argv) == 0 {
		return ""
	}
	return l.s.target.argv[0]
}

// HoldCommand starts the command of -c up to where it waits for RunCommand.
func (l *Live) HoldCommand(streams *procs.Streams) error { return l.s.target.hold(streams) }

// Held reports whether the command waits.
func (l *Live) Held() bool { return l.s.target.child != nil && !l.s.target.released }

// Released reports whether the command has been let run.
func (l *Live) Released() bool { return l.s.target.released }

// CommandEnded reports whether the command has ended, and with which status.
func (l *Live) CommandEnded() (status int, ended bool) {
	return int(l.s.childStatus.Load()), l.s.childEnded.Load()
}

// RunCommand lets the command run that waits.
func (l *Live) RunCommand() error {
	err := l.s.target.release()
	if err != nil {
		_, _ = l.s.target.child.Wait() // it has said why
		l.s.target.child = nil
	}
	return err
}

// HoldCommandAgain starts the command once more, and makes it the one that all
// probes follow.
func (l *Live) HoldCommandAgain(streams *procs.Streams) (err error) {
	if err := l.s.target.hold(streams); err != nil {
		return err
	}
	if l.target, err = l.s.target.ofPlan(); err != nil {
		return err
	}
	for _, part := range l.s.loaded.parts.list {
		if err := part.follow(l.target.PID); err != nil {
			return err
		}
	}
	return nil
}
