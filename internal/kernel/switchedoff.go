package kernel

import (
	"fmt"
	"os"
	"strings"
)

// Switches by which root turns off kprobes and ftrace.

// A SwitchedOff is an error where programs can be attached and the kernel runs none of them, for root has switched off
// what would call them.
type SwitchedOff struct {
	// What is switched off.
	What string
	// File is where it was, and can be switched on again.
	File string
}

func (e *SwitchedOff) Error() string {
	return fmt.Sprintf("%s are switched off: %s is 0; echo 1 > %[2]s, as root, switches them on", e.What, e.File)
}

// The switches. Kprobes have one of their own (kprobes_all_disarmed, kernel/kprobes.c). Without ftrace no function
// calls what is attached to its entry by trampolines or kprobes (ftrace_enabled, kernel/trace/ftrace.c).
var (
	kprobesSwitch = SwitchedOff{"kprobes", "/sys/kernel/debug/kprobes/enabled"}
	ftraceSwitch  = SwitchedOff{"probes of the kernel's functions", "/proc/sys/kernel/ftrace_enabled"}
)

// FunctionsOff is a SwitchedOff where no program at a function of the kernel is run, nil where it is or nothing tells.
func FunctionsOff() error { return ftraceSwitch.ask("") }

// KprobesOff is FunctionsOff of programs that are attached by kprobes.
func KprobesOff() error {
	if err := FunctionsOff(); err != nil {
		return err
	}
	return kprobesSwitch.ask("")
}

// ask reads a switch below a folder, which is there for tests.
func (e SwitchedOff) ask(root string) error {
	text, err := os.ReadFile(root + e.File)
	if err == nil && strings.TrimSpace(string(text)) == "0" {
		return &e
	}
	return nil
}
