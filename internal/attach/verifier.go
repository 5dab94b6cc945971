package attach

import (
	"errors"
	"fmt"
	"regexp"
	"sort"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/bpfgen"
	"github.com/startrace/startrace/internal/bpf"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
)

// What is said when the verifier refuses a program: the place in the script, and loops or branches that are too much
// for it.

// A VerifierError says that the kernel's verifier rejected a program that we generated, which is a fault of the
// compiler. Its message never has the verifier's own words: these are in the file.
type VerifierError struct {
	// Program is the name of the program that was rejected.
	Program string
	// Pos is the place in the script that the rejected instruction comes from. It is not valid if it is unknown.
	Pos plan.Pos
	// Insn is the number of the rejected instruction as the kernel counts, where a 64-bit load is two; -1 if unknown.
	Insn int
	// Reason is the verifier's own sentence.
	Reason string
	// Log is all that the verifier wrote.
	Log string
	// Script are the words of the command that name the script. The caller of Load sets them, since Load does not know
	// them.
	Script string
	// File is the name of the file in which Log is kept; "" if none could be written.
	File string
	// Err is what the system call returned.
	Err error
}

func (e *VerifierError) Error() string {
	at, script := "", e.Script
	if e.Pos.IsValid() {
		at = e.Pos.String() + ": "
	}
	if script == "" {
		script = "FILE"
	}
	text := fmt.Sprintf("%sinternal compiler error: the kernel refuses the code for this place: %s\n"+
		"    this is a bug in startrace, not in the script; to report it, send the output of\n"+
		"        startrace explain --asm %s", at, plainWords(e.Reason), script)
	if e.File != "" {
		text += "\n    and the file\n        " + e.File
	}
	return text
}

// Place is where in the script the rejected instruction comes from.
func (e *VerifierError) Place() plan.Pos { return e.Pos }

func (e *VerifierError) Unwrap() error { return e.Err }

// A ComplexityError says that a program is correct as far as the verifier got, but more than it is willing to follow.
type ComplexityError struct {
	// Program is the name of the program that is too much.
	Program string
	// Pos is the place of the most expensive loop, or where the code begins if there is no loop. It is not valid if it
	// is unknown.
	Pos plan.Pos
	// Loop is the loop at Pos. It is the zero value if there is none.
	Loop bpfgen.Loop
	// Rollable are loops of the program without which it may be simple enough: see tree.Program.
	Rollable []plan.Pos
	// Err is what the system call returned.
	Err error
}

// Loops are those of the program that can be rolled.
func (e *ComplexityError) Loops() []plan.Pos { return e.Rollable }

func (e *ComplexityError) Error() string {
	at := ""
	if e.Pos.IsValid() {
		at = e.Pos.String() + ": "
	}
	why := ""
	if e.Loop.Why != "" {
		why = ", and " + e.Loop.Why
	}
	switch l := e.Loop; {
	case l.Written:
		return fmt.Sprintf("%sthis loop has more branches than this kernel's verifier follows: each of its %d rounds "+
			"stands in the program; let it go over fewer elements, or move branches out of it", at, l.Steps)
	case l.Steps > 0 && l.Beside:
		return fmt.Sprintf("%sthis kernel's verifier does not follow this loop and those beside it to their ends: "+
			"it may go round %d times%s; give their ranges smaller ends, or split the handler into several probes",
			at, l.Steps, why)
	case l.Steps > 0:
		return fmt.Sprintf("%sthis kernel's verifier does not follow a loop of this size to its end: "+
			"it may go round %d times%s; give its range a smaller end, or move branches out of it", at, l.Steps, why)
	}
	return at + "this handler has more branches than this kernel's verifier follows; " +
		"split it into several probes, or do less in it"
}

// Place is where in the script the verifier had too much to do.
func (e *ComplexityError) Place() plan.Pos { return e.Pos }

func (e *ComplexityError) Unwrap() error { return e.Err }

// explainLoad says why a program was refused. Only where the reason can be in
// the verifier's log is the program verified again with one: a program that
// is too complex would write a million lines.
func explainLoad(p *bpf.Program, code *bpfgen.Unit, err error) error {
	switch {
	case errors.Is(err, unix.E2BIG), errors.Is(err, unix.EFAULT):
		if can, err := canTrace(); err == nil && !can && instructions(p) > unprivilegedInsns {
			return fmt.Errorf("load program %s: %w", p.Name, unix.EPERM)
		}
		// EFAULT: "sequence of 8193 jumps is too complex" before 7.2.
		return newComplexityError(p.Name, code, err)
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EINVAL), errors.Is(err, unix.EPERM):
		if log := verifierLog(p); log != "" {
			return newVerifierError(p.Name, code.Lines[p.Name], log, err)
		}
	}
	return fmt.Errorf("load program %s: %w", p.Name, err)
}

// unprivilegedInsns is BPF_MAXINSNS of include/uapi/linux/bpf_common.h: a
// longer program without the rights to load it is too big before it is
// forbidden (bpf_prog_load).
const unprivilegedInsns = 4096

// instructions is how many the kernel counts: 64-bit loads are two.
func instructions(p *bpf.Program) int {
	n := 0
	for _, ins := range p.Instructions {
		n += int(ins.Width())
	}
	return n
}

// newComplexityError blames the loop that the verifier follows longest.
func newComplexityError(program string, code *bpfgen.Unit, err error) error {
	e := &ComplexityError{Program: program, Err: err}
	e.Rollable = code.Rollable[program]
	if hot, ok := code.Loops[program]; ok {
		e.Pos, e.Loop = hot.Pos, hot
	} else if lines := code.Lines[program]; len(lines) > 0 {
		e.Pos = lines[0].Pos
	}
	return e
}

// verifierLog loads p again to learn what the verifier says.
func verifierLog(p *bpf.Program) string {
	for size := 1 << 18; size <= 1<<26; size *= 8 {
		log := make([]byte, size)
		loaded, err := bpf.Load(p, log)
		if err == nil {
			loaded.Close()
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
var lockedHelper = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(helper bpf_probe_read|unknown func (bpf_)?probe_read)\w*(#\d+)?`)
})

// newVerifierError makes the error of what the verifier wrote. lines are those of the program, by their instructions.
func newVerifierError(program string, lines []bpfgen.Line, log string, err error) error {
	if mode := kernel.Lockdown(); mode == "confidentiality" && lockedHelper().MatchString(log) {
		return fmt.Errorf("%w (%s): programs may not read the kernel's memory: %w", kernel.ErrLockdown, mode, err)
	}
	e := &VerifierError{Program: program, Insn: rejectedInsn(log), Reason: rejection(log), Log: log, Err: err}
	if i := sort.Search(len(lines), func(i int) bool { return lines[i].Insn > e.Insn }); i > 0 {
		e.Pos = lines[i-1].Pos
	}
	e.File = keepLog(e)
	return e
}

var (
	insnLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^(\d+): (\([0-9a-f]{2}\)|R\d)`) })
	insnText = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?:unreachable insn|back-edge from insn|jump out of range from insn|` +
			`last insn is not an exit or jmp|invalid insn idx|subprog starts at insn|` +
			`infinite loop detected at insn|from insn) (\d+)`)
	})
)

// rejectedInsn finds the raw number of the rejected instruction: the last one
// that the verifier walked over, or the one that a structural complaint names.
func rejectedInsn(log string) int {
	m := insnText().FindStringSubmatch(log)
	if all := insnLine().FindAllStringSubmatch(log, -1); len(all) > 0 && m == nil {
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
