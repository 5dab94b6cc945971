package mapping

// Changes of mappings that the kernel tells of: fork, exec, mmap.

// ChangeKind says what happened to a process.
type ChangeKind uint8

const (
	Forked   ChangeKind = iota + 1 // PID began as a copy of Parent; where both are equal it is a thread
	Executed                       // PID runs another program: what it had mapped is gone
	Mapped                         // PID has mapped code
	Ended                          // PID ended
)

// A Change is what happened to the mappings of a process.
type Change struct {
	// Kind says what happened.
	Kind ChangeKind
	Time uint64 // CLOCK_MONOTONIC in ns, as the times of records
	// PID is the number of the process as startrace sees it.
	PID int
	// Parent is the process that was copied, of Forked; 0 otherwise.
	Parent int
	// Mapping is what was mapped, of Mapped.
	Mapping Mapping
}
