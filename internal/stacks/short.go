package stacks

import (
	"fmt"
	"sort"
	"strings"

	"github.com/startrace/startrace/internal/format"
	"github.com/startrace/startrace/starlark/value"
)

// shortStacks collects why stacks of programs are short or have no names, to
// say it once for each program when the run ends.
type shortStacks struct {
	// all counts stacks by program, frameless those that end too early: it is
	// built without frame pointers, or a library of it is.
	all, frameless map[string]int
	// ended are processes of which no mappings were seen.
	ended map[int]int
}

// shortest is the length from which on a stack is no surprise: main and what
// calls it are two.
const shortest = 3

func (s *shortStacks) taken(program string) {
	if s.all == nil {
		s.all = map[string]int{}
	}
	s.all[program]++
}

func (s *shortStacks) withoutFrames(program string) {
	if program == "" {
		return
	}
	if s.frameless == nil {
		s.frameless = map[string]int{}
	}
	s.frameless[program]++
}

func (s *shortStacks) unseen(pid int) {
	if s.ended == nil {
		s.ended = map[int]int{}
	}
	s.ended[pid]++
}

// lines says what was found.
func (s *shortStacks) lines() (out []string) {
	for program, n := range s.frameless {
		if all := s.all[program]; 2*n >= all { // single ones are of moments at which functions have no frame
			out = append(out, fmt.Sprintf("%d of %s of %s ended after one or two frames: it, or a library that it "+
				"uses, is built without frame pointers (gcc and clang: -fno-omit-frame-pointer)",
				n, format.Count(all, "stack"), program))
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

// starts are the functions at which the stacks of programs end: of C libraries,
// their threads and Go.
var starts = map[string]bool{
	"_start": true, "__libc_start_main": true, "__libc_start_call_main": true, "__libc_start_main_impl": true,
	"generic_start_main": true,
	"_dl_start":          true, "_dl_start_user": true, "start_thread": true, "clone": true, "__clone": true,
	"clone3": true, "__clone3": true, "thread_start": true,
	"runtime.goexit": true, "runtime.mstart": true, "runtime.rt0_go": true, "runtime.asmcgocall": true,
}

// startsProgram reports whether a stack goes back to where its thread began.
// The C library's start has no symbol in most systems.
func startsProgram(frames []value.Frame) bool {
	if len(frames) == 0 {
		return false
	}
	root := frames[len(frames)-1]
	name, _, _ := strings.Cut(root.Name, ".abi0")
	if name == "main" || starts[name] || strings.HasPrefix(name, "_rt0_") {
		return true
	}
	return len(frames) > 1 && root.Offset == 0 && strings.HasPrefix(root.Name, root.Module+"+") &&
		strings.HasPrefix(root.Module, "libc.so")
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
