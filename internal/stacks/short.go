package stacks

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/startrace/startrace/internal/format"
	"github.com/startrace/startrace/internal/python"
	"github.com/startrace/startrace/internal/wire"
	"github.com/startrace/startrace/starlark/value"
)

// Why stacks of programs are short or have no names, in words (`reasons`), a line for each program.

// shortStacks collects why stacks of programs do not reach the beginning of their thread, or have no names, to say it
// once for each program when the run ends.
type shortStacks struct {
	// of is what was found of the stacks of programs, by their ids: one that is read again is still one.
	of map[uint64]finding
	// ended are processes of which no mappings were seen.
	ended map[int]int
}

// A finding is what is to be said of a stack of a program.
type finding struct {
	program string
	// unfinished: it does not reach the beginning. why is why it ends (wire.Unwind…, deeper or narrow).
	unfinished bool
	why        int
	// pythonless: it has none of the functions of Python which ran.
	pythonless bool
}

func (s *shortStacks) found(id uint64, f finding) {
	if s.of == nil {
		s.of = map[uint64]finding{}
	}
	s.of[id] = f
}

// A shortProgram is what is to be said of the stacks of a program.
type shortProgram struct {
	// all counts them, unreached those that do not reach the beginning, and pythonless those without Python.
	all, pythonless int
	unreached       whys
}

// programs counts what was found.
func (s *shortStacks) programs() map[string]*shortProgram {
	out := map[string]*shortProgram{}
	for _, f := range s.of {
		p := out[f.program]
		if p == nil {
			p = &shortProgram{}
			out[f.program] = p
		}
		p.all++
		if f.unfinished {
			p.unreached[f.why]++
		}
		if f.pythonless {
			p.pythonless++
		}
	}
	return out
}

// deeper is why a stack ends that has more frames than there can be, and none were asked for by number.
const deeper = wire.UnwindReasons

// narrow is why a stack of a program of 32 bits ends.
const narrow = deeper + 1

// whys counts by why stacks end.
type whys [narrow + 1]int

// reasons say why a walk did not go on. 0 is of those stacks that the kernel has taken.
var reasons = [len(whys{})]string{
	wire.UnwindNoTable:    "taken before it was known what the program has mapped",
	wire.UnwindNoMapping:  noCode,
	wire.UnwindUnreadable: "memory that cannot be read",
	wire.UnwindNoProgress: "a frame that leads back",
	wire.UnwindNoFrame:    "code of which nobody knows where its frames begin",
	wire.UnwindNoRule:     "code whose rule is one that startrace does not follow",
	wire.UnwindLimit:      noCode, // what lies behind is no code
	wire.UnwindReached:    noCode,
	0:                     "taken by frame pointers",
	deeper:                fmt.Sprintf("more than %d frames", wire.MaxStack),
	narrow:                "stacks of programs of 32 bits are not walked",
}

const noCode = "an address without code"

func (s *shortStacks) unseen(pid int) {
	if s.ended == nil {
		s.ended = map[int]int{}
	}
	s.ended[pid]++
}

// withoutPython reports whether a stack leads through an interpreter of Python and has none of the functions that it
// ran.
func withoutPython(addrs []uint64, frames []value.Frame) bool {
	if slices.ContainsFunc(addrs, python.IsFrame) {
		return false
	}
	at := slices.IndexFunc(frames, func(f value.Frame) bool { return f.Name == python.Evaluator })
	return at >= 0 && at < len(frames)-1 // else they are cut off
}

// lines says what was found.
func (s *shortStacks) lines() (out []string) {
	for program, p := range s.programs() {
		if program != "" && p.unreached != (whys{}) {
			out = append(out, p.line(program))
		}
		if p.pythonless > 0 {
			out = append(out, fmt.Sprintf("%d of %s of %s without the functions of Python that ran: "+
				"known are those of the only interpreter of a process, of Python 3.11, 3.12 and 3.13",
				p.pythonless, format.Count(p.all, "stack"), program))
		}
	}
	sort.Strings(out)
	switch n := len(s.ended); {
	case n == 1:
		out = append(out,
			"the stacks of one process have addresses for names: it ended before it could be seen what it had mapped")
	case n > 1:
		out = append(out, fmt.Sprintf("the stacks of %d processes have addresses for names: "+
			"they ended before it could be seen what they had mapped", n))
	}
	return out
}

// line says how many stacks do not reach the beginning of the program, and why, the most frequent reason first.
func (p *shortProgram) line(program string) string {
	sum, by := 0, map[string]int{}
	for why, n := range p.unreached {
		if sum += n; n > 0 {
			by[reasons[why]] += n
		}
	}
	texts := slices.SortedFunc(maps.Keys(by), func(a, b string) int {
		return cmp.Or(cmp.Compare(by[b], by[a]), cmp.Compare(a, b))
	})
	for i, text := range texts {
		if len(texts) > 1 {
			texts[i] = fmt.Sprintf("%s (%d)", text, by[text])
		}
	}
	verb := "do"
	if sum == 1 {
		verb = "does"
	}
	return fmt.Sprintf("%d of %s of %s %s not reach its beginning: %s", sum, format.Count(p.all, "stack"),
		program, verb, strings.Join(texts, ", "))
}

// starts are the functions that nobody has called: those at which the kernel begins a program or a thread, and where
// goroutines begin. A function that these call, as main, is no end: behind it a stack by frame pointers can be lost.
var starts = map[string]bool{
	"_start": true, "_dl_start_user": true, "clone": true, "__clone": true, "clone3": true, "__clone3": true,
	"thread_start":   true,
	"runtime.goexit": true, "runtime.mstart": true, "runtime.rt0_go": true,
}

// startsProgram reports whether a stack goes back to where its thread began.
func startsProgram(frames []value.Frame) bool {
	if len(frames) == 0 {
		return false
	}
	name, _, _ := strings.Cut(frames[len(frames)-1].Name, ".abi0")
	return starts[name] || strings.HasPrefix(name, "_rt0_")
}

// kernelStarts are how the outermost functions of kernel stacks begin: entries
// from user space, of interrupts, and of threads.
var kernelStarts = []string{
	"entry_", "asm_", "ret_from_fork", "secondary_startup", "common_startup", "el0t_", "el1h_", "kthread",
	"cpu_startup_entry", "start_kernel",
	"x86_64_start_", "__switch_to_asm", "nmi_", "error_entry", "paranoid_entry",
}

func startsKernel(name string) bool {
	for _, p := range kernelStarts {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}
