package point

// The message that other points have a part of e, as e.vars or e.ret, by the part.

// having says which points have a part of e that others have not.
var having = map[string]string{
	"vars":     "only places in programs have it (uprobe:PROGRAM:FILE:LINE)",
	"globals":  "only entries and calls of functions of programs, and places in them, have it",
	"goid":     "only functions of Go have it",
	"source":   "only lines and functions of programs have it, where debug information (gcc -g) tells their lines",
	"start":    "only spans have it (syscall:NAME)",
	"addr":     "only events that are counted (software:page-faults) and watchpoints have it",
	"ip":       withRegisters,
	"usermode": withRegisters,
}

// withRegisters are the points whose programs get the registers of the moment.
const withRegisters = "only samples (profile:99hz), watchpoints, and places in code (kprobe:, uprobe:, usdt:) have it"

// Having says which points have a part of e, to whom asks a point of the family for it that has not. "": nothing is
// known of such a part.
func (f *Family) Having(part string) string {
	if part == "ret" || part == "duration" {
		return "only the end of a call has it (" + f.Calls + ")"
	}
	return having[part]
}
