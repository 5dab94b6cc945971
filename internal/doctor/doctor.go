// Package doctor says in plain words what can be traced on a machine, and
// where something cannot, why and what to do about it.
//
// Read looks at files; what has to be tried is tried by others and told
// (Machine.Tried). From there on all is plain data: Problems finds causes in
// an order in which curing one shows the next, Examine judges the whole, and
// Explain finds the one that made an attempt fail.
package doctor

import (
	"slices"

	"github.com/startrace/startrace/internal/kernel"
)

// Machine, what is known about where startrace runs, and Report, what the doctor says.

// A Machine is what is known about where startrace runs: the kernel, and what
// this process may do there.
type Machine struct {
	// Version is the kernel's.
	Version kernel.Version
	// Arch is the architecture as Go calls it: amd64, arm64.
	Arch string

	User         int    // effective
	Capabilities uint64 // effective, a bit set
	// UserNamespace, PIDNamespace: it is not the initial one.
	UserNamespace, PIDNamespace bool
	Container                   string // what kind, "" for none that is known
	Seccomp                     bool   // system calls are filtered
	Memlock                     uint64 // limit of locked memory in bytes

	Lockdown   string // none, integrity, confidentiality, "" if it is not known
	Commanded  bool   // lockdown= stands in the kernel's command line
	SecureBoot string // on, off, "" if there is none

	Settings map[string]string // of /proc/sys/kernel, those of settingNames that there are

	// BTF, Tracefs and Symbols say why the kernel's types, the list of tracepoints
	// and the addresses of functions cannot be read.
	BTF, Tracefs, Symbols error
	// TracefsPath is where tracefs is mounted, or would be.
	TracefsPath string

	// Tried has what was tried: nil where it worked. No map: nothing was tried.
	Tried map[kernel.Way]error
}

// A Problem is a cause for which something cannot be traced.
type Problem struct {
	// ID is a word for programs that read the report.
	ID     string `json:"id"`
	Cause  string `json:"cause"`  // a sentence without its end
	Remedy string `json:"remedy"` // what to do
	// Fatal: nothing can be traced, or next to nothing.
	Fatal bool `json:"fatal"`
	// Loss is what cannot be traced for it where it is not fatal.
	Loss string `json:"loss,omitempty"`
}

// The judgements.
const (
	Works  = "works"
	Partly = "partly"
	Fails  = "fails"
)

// A Report is what the doctor says.
type Report struct {
	// Verdict is Works, Partly or Fails.
	Verdict string `json:"verdict"`
	// Problems are the causes why something cannot be traced.
	Problems []Problem `json:"problems"`
	// Points are the kinds of points, in the order of the manual.
	Points []Kind `json:"points"`
	// Findings are all that was looked at, in the order in which they are printed.
	Findings []Finding `json:"findings"`
}

// A Kind is a kind of points.
type Kind struct {
	// Name is how scripts write it.
	Name  string `json:"kind"`
	Works bool   `json:"works"` // it can be traced here
}

// A Finding is one thing that was looked at.
type Finding struct {
	// Subject is what was looked at, in a word or two.
	Subject string `json:"subject"`
	State   string `json:"state"` // ok, no, or note for what is neither
	// Text says what was found.
	Text string `json:"text"`
	// Remedy says what to do; "" where there is nothing to be done.
	Remedy string `json:"remedy,omitempty"`
}

// The states of findings.
const (
	OK   = "ok"
	No   = "no"
	Note = "note"
)

// Examine judges a machine.
func Examine(m *Machine) *Report {
	r := &Report{Verdict: Works, Problems: m.Problems(), Points: m.points(),
		Findings: slices.Concat(m.conditions(), m.ways(), m.kinds())}
	for _, p := range r.Problems {
		switch {
		case p.Fatal:
			r.Verdict = Fails
		case r.Verdict == Works && p.Loss != "":
			r.Verdict = Partly
		}
	}
	return r
}
