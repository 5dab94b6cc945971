package procs

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/internal/bpf"
)

// How deep a cgroup is below the one that is mounted.

// initialCgroups is the link of the initial cgroup namespace (PROC_CGROUP_INIT_INO, include/linux/proc_ns.h).
const initialCgroups = "cgroup:[4026531835]"

// deepest is the highest level that is looked for.
const deepest = 32

// level is how many cgroups the one is in that is mounted. In a cgroup namespace of our own nothing tells where its
// root is in the tree but a program that runs there.
func (m cgroupMount) level() (int, error) {
	link, err := os.Readlink("/proc/self/ns/cgroup")
	switch {
	case err != nil:
		return 0, err
	case link == initialCgroups && m.root == "/":
		return 0, nil
	case link == initialCgroups:
		return strings.Count(m.root, "/"), nil
	}
	var at unix.Stat_t
	if err := unix.Stat(m.folder, &at); err != nil {
		return 0, fmt.Errorf("%s: %w", m.folder, err)
	}
	p, err := bpf.Load(&bpf.Program{Name: "level", Type: ebpf.RawTracepoint, Instructions: levelProgram(at.Ino)}, nil)
	if err != nil {
		return 0, fmt.Errorf("program that finds the level of a cgroup: %w", err)
	}
	defer p.Close()
	level, err := bpf.Run(p, nil)
	if err == nil && level == deepest {
		err = errors.New("startrace is in a cgroup namespace, and outside of the cgroups that are mounted there: " +
			"where these are in the whole tree cannot be known")
	}
	return int(level), err
}

// levelProgram returns the level at which the process that runs it is in a cgroup.
func levelProgram(id uint64) asm.Instructions {
	out := asm.Instructions{asm.LoadImm(asm.R6, int64(id), asm.DWord)}
	for level := range int32(deepest) {
		out = append(out, asm.Mov.Imm(asm.R1, level), asm.FnGetCurrentAncestorCgroupId.Call(),
			asm.Mov.Reg(asm.R7, asm.R0), asm.Mov.Imm(asm.R0, level), asm.JEq.Reg(asm.R7, asm.R6, "found"))
	}
	return append(out, asm.Mov.Imm(asm.R0, deepest), asm.Return().WithSymbol("found"))
}
