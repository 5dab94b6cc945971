package attach

import (
	"fmt"
	"os"
)

// The verifier's log written to a file.

// keepLog writes what the verifier said to a file of its own, for a report,
// and gives its name. Only the owner may read it: with root's rights the log
// can show addresses of the kernel. Without a place to write to, it gives "".
func keepLog(e *VerifierError) string {
	f, err := os.CreateTemp("", "startrace-verifier-*.log") // mode 0600
	if err != nil {
		return ""
	}
	_, err = fmt.Fprintf(f, "program %s\nplace %s\ninstruction %d\nreason %s\nerror %v\n\n%s", e.Program, e.Pos, e.Insn,
		e.Reason, e.Err, e.Log)
	if closeErr := f.Close(); err != nil || closeErr != nil {
		_ = os.Remove(f.Name()) // half a log would mislead
		return ""
	}
	return f.Name()
}
