package tree

// The names of the programs that keep the table of followed processes.

// The programs that keep the table of followed processes.
const (
	FollowFork = "follow_fork"
	FollowExit = "follow_exit"
)

// Follows reports whether a program is one of them.
func (p *Program) Follows() bool {
	return p.Probe < 0 && (p.Name == FollowFork || p.Name == FollowExit)
}
