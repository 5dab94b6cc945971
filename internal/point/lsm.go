package point

import "github.com/startrace/startrace/internal/kernel"

// The row of lsm: in the table of kinds: form, examples, what its events have, what the kernel must have.

var byHook = &Way{Name: kernel.WayHook, Use: "lsm:", Since: "5.7",
	Instead: "func:security_HOOK sees the same decisions", By: append([]kernel.Way{kernel.WayFentry}, functionWays...),
	Forbidden: noDirectCalls}

// Hooks are the places at which the kernel asks its security modules. Programs look on: they decide nothing.
var Hooks = &Family{Name: "security hooks", Kinds: []*Kind{{
	Name:     "lsm",
	Form:     "HOOK",
	What:     "hooks of security modules, which the kernel asks",
	Examples: []string{"lsm:file_open", "lsm:bprm_*"},
	Gives:    []string{"args"},
	Set:      "security hooks", Bare: true,
	ListedBy: BTF, Ways: []*Way{byHook}, Lacking: noHooks, Preempted: "func:security_HOOK",
}}}

func noHooks(f *kernel.Facts) (lacking bool, why string) {
	if err := f.HooksCalled(); err != nil {
		return true, err.Error()
	}
	has := f.Trampolines()
	return !has.There, has.Why
}
