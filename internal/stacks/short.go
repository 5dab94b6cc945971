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

// shortStacks collects why stacks of programs do not reach the beginning of their thread, or have no names, to say it
// once for each program when the run ends.
type shortStacks struct {
	// all counts the different stacks of each program.
	all map[string]int
	// unreached counts those that do not reach the beginning, by program and by why they end (wire.Unwind…, or deeper).
	unreached map[string]*whys
	// python counts those that have none of the functions of Python which ran, by program.
	python map[string]int
	// ended are processes of which no mappings were seen.
	ended map[int]int
}

// deeper is why a stack ends that has more frames than there can be, and none were asked for by number.
const deeper = wire.UnwindReasons

// whys counts by why stacks end.
type whys [deeper + 1]int

// reasons say why a walk did not go on. 0 is of those stacks that the kernel has taken.
var reasons = [len(whys{})]string{
	wire.UnwindNoTable:    "taken before it was known what the program has mapped",
	wire.UnwindNoMapping:  noCode,
	wire.UnwindUnreadable: "memory that cannot be read",
	wire.UnwindNoProgress: "a frame that leads back",
	wire.UnwindNoFrame:    "code of which nobody knows where its frames begin",
	wire.UnwindLimit:      noCode, // what lies behind is no code
	wire.UnwindReached:    noCode,
	0:                     "taken by frame pointers",
	deeper:                fmt.Sprintf("more than %d frames", wire.MaxStack),
}

const noCode = "an address without code"

func (s *shortStacks) taken(program string) {
	if s.all == nil {
		s.all, s.unreached = map[string]int{}, map[string]*whys{}
	}
	s.all[program]++
}

// unfinished counts a stack of a program, which taken has counted, too.
func (s *shortStacks) unfinished(program string, why int) {
	if program == "" {
		return
	}
	if s.unreached[program] == nil {
		s.unreached[program] = &whys{}
	}
	s.unreached[program][why]++
}

func (s *shortStacks) unseen(pid int) {
	if s.ended == nil {
		s.ended = map[int]int{}
	}
	s.ended[pid]++
}

func (s *shortStacks) pythonless(program string) {
	if s.python == nil {
		s.python = map[string]int{}
	}
	s.python[program]++
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
	for program, counts := range s.unreached {
		out = append(out, s.line(program, counts))
	}
	for program, n := range s.python {
		out = append(out, fmt.Sprintf("%d of %s of %s without the functions of Python that ran: "+
			"known are those of Python 3.11, 3.12 and 3.13", n, format.Count(s.all[program], "stack"), program))
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

// line says of a program how many of its stacks do not reach its beginning, and why, the most frequent reason first.
func (s *shortStacks) line(program string, counts *whys) string {
	sum, by := 0, map[string]int{}
	for why, n := range counts {
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
	return fmt.Sprintf("%d of %s of %s %s not reach its beginning: %s", sum, format.Count(s.all[program], "stack"),
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
