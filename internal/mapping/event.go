package mapping

// Kind says what happened to a process.
type Kind uint8

const (
	Forked   Kind = iota + 1 // PID began as a copy of Parent; where both are equal it is a thread
	Executed                 // PID runs another program: what it had mapped is gone
	Mapped                   // PID has mapped code
	Ended                    // PID ended
)

// An Event is what happened to the mappings of a process.
type Event struct {
	Kind    Kind
	Time    uint64 // CLOCK_MONOTONIC in ns, as the times of records
	PID     int
	Parent  int
	Mapping Mapping
}
