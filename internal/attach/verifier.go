package attach

import (
	"errors"
	"fmt"
	"regexp"
	"sort"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/bpfgen"
	"github.com/startrace/startrace/internal/bpf"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
)

// A VerifierError says that the kernel's verifier rejected a program that we
// generated: a fault of the compiler.
type VerifierError struct {
	Program string
	Pos     plan.Pos // of the rejected instruction; not valid if unknown
	Insn    int      // its raw number, -1 if unknown
	Reason  string   // the verifier's own sentence
	Log     string   // all that the verifier wrote
	Err     error    // what the system call returned
}

func (e *VerifierError) Error() string {
	at := ""
	if e.Pos.IsValid() {
		at = " at " + e.Pos.String()
	}
	return fmt.Sprintf("internal compiler error: the kernel's verifier rejected program %s%s: %s", e.Program, at, e.Reason)
}

func (e *VerifierError) Unwrap() error { return e.Err }

// A ComplexityError says that a program is correct as far as the verifier
// got, but more than it is willing to follow.
type ComplexityError struct {
	Program string
	Pos     plan.Pos // where the program's code begins; not valid if unknown
	Err     error
}

func (e *ComplexityError) Error() string {
	at := ""
	if e.Pos.IsValid() {
		at = e.Pos.String() + ": "
	}
	return fmt.Sprintf("%sprogram %s has too many branches or too long loops for this kernel's verifier", at, e.Program)
}

func (e *ComplexityError) Unwrap() error { return e.Err }

// explainLoad says why a program was refused. Only where the reason can be in
// the verifier's log is the program verified again with one: a program that
// is too complex would write a million lines.
func explainLoad(p *bpf.Program, lines []bpfgen.Line, err error) error {
	switch {
	case errors.Is(err, unix.E2BIG), errors.Is(err, unix.EFAULT):
		// EFAULT: "sequence of 8193 jumps is too complex" before 7.2.
		e := &ComplexityError{Program: p.Name, Err: err}
		if len(lines) > 0 {
			e.Pos = lines[0].Pos
		}
		return e
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EINVAL), errors.Is(err, unix.EPERM):
		if log := verifierLog(p); log != "" {
			return newVerifierError(p.Name, lines, log, err)
		}
	}
	return fmt.Errorf("load program %s: %w", p.Name, err)
}

// verifierLog loads p again to learn what the verifier says.
func verifierLog(p *bpf.Program) string {
	for size := 1 << 18; size <= 1<<26; size *= 8 {
		log := make([]byte, size)
		fd, err := bpf.Load(p, log)
		if err == nil {
			unix.Close(fd)
			return ""
		}
		if !errors.Is(err, unix.ENOSPC) {
			return unix.ByteSliceToString(log)
		}
	}
	return ""
}

// lockedHelper matches the complaint about helpers that lockdown forbids, by
// name since 6.12 and by number before.
var lockedHelper = regexp.MustCompile(`(helper bpf_probe_read|unknown func (bpf_)?probe_read)\w*(#\d+)?`)

func newVerifierError(program string, lines []bpfgen.Line, log string, err error) error {
	if mode := kernel.Lockdown(); mode == "confidentiality" && lockedHelper.MatchString(log) {
		return fmt.Errorf("%w (%s): programs may not read the kernel's memory: %w", kernel.ErrLockdown, mode, err)
	}
	e := &VerifierError{Program: program, Insn: rejectedInsn(log), Reason: rejection(log), Log: log, Err: err}
	if i := sort.Search(len(lines), func(i int) bool { return lines[i].Insn > e.Insn }); i > 0 {
		e.Pos = lines[i-1].Pos
	}
	return e
}

var (
	insnLine = regexp.MustCompile(`(?m)^(\d+): (\([0-9a-f]{2}\)|R\d)`)
	insnText = regexp.MustCompile(`(?:unreachable insn|back-edge from insn|jump out of range from insn|last insn is not an exit or jmp|invalid insn idx|subprog starts at insn|from insn) (\d+)`)
)

// rejectedInsn finds the raw number of the rejected instruction: the last one
// that the verifier walked over, or the one that a structural complaint names.
func rejectedInsn(log string) int {
	m := insnText.FindStringSubmatch(log)
	if all := insnLine.FindAllStringSubmatch(log, -1); len(all) > 0 && m == nil {
		m = all[len(all)-1]
	}
	if m == nil {
		return -1
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		return -1
	}
	return n
}

// rejection gives the verifier's last sentence, without its statistics and
// the states of registers.
func rejection(log string) string {
	all := strings.Split(strings.TrimSpace(log), "\n")
	for i := len(all) - 1; i >= 0; i-- {
		line := strings.TrimSpace(all[i])
		switch {
		case line == "", strings.HasPrefix(line, "processed "), strings.HasPrefix(line, "insns processed"),
			strings.HasPrefix(line, "verification time"), strings.HasPrefix(line, "stack depth"),
			strings.HasPrefix(line, "mark_precise"), insnLine.MatchString(line):
			continue
		}
		return line
	}
	return "no reason given"
}
