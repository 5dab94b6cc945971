// Package audit says what a compiled script may do, before it is run: for who
// got it from somebody else. It tells what the script reads of the kernel and of
// processes, what leaves the kernel, what it wants to write, run and change, and
// what an event costs at most.
//
// All is read from what the compiler made, as package explain does, so it
// cannot be something else than what would be loaded.
package audit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/startrace/startrace/bpfgen"
	"github.com/startrace/startrace/bpfgen/cost"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/explain"
)

// What a script reads, sends, keeps, reaches and costs, found for `startrace audit`.

// A Report is what `startrace audit` prints.
type Report struct {
	// Script is the file, tool or verb as it was given.
	Script string `json:"script"`
	// Who says in a sentence which processes' events count.
	Who string `json:"who"`
	// Asks are what the script wants outside of tracing, in the order of the text; nothing of it is granted without its
	// flag.
	Asks []Ask `json:"asks"`
	// Probes has each probe of the script, in the order of their declaration.
	Probes []Probe `json:"probes"`
	// Own are the programs that startrace adds.
	Own []Program `json:"own_programs,omitempty"`
	// Memory is what the maps take of the kernel's memory, about, in bytes.
	Memory int `json:"memory_bytes"`
}

// An Ask is a place at which the script reaches outside of tracing.
type Ask struct {
	// Builtin is the name of what it calls there, and What says what that does.
	Builtin string `json:"builtin"`
	What    string `json:"what"`
	// Needs is the flag that grants it, "": it is always granted.
	Needs string `json:"needs,omitempty"`
	// Pos is file:line:column.
	Pos string `json:"pos"`
}

// A Probe is what one probe reads, sends, keeps and costs.
type Probe struct {
	// Name is name= of the probe, else its points as the script writes them.
	Name string `json:"name"`
	// Pos is file:line:column of the call of probe().
	Pos string `json:"pos"`
	// Points are all at which it happens on this machine.
	Points []string `json:"points"`
	// Reads is what its programs read, each thing once.
	Reads []Read `json:"reads"`
	// Events are the records that it sends to user space.
	Events []explain.Event `json:"events"`
	// Shares are the tables and aggregations that its kernel halves use.
	Shares []string `json:"shares,omitempty"`
	// Programs are those that run at its points.
	Programs []Program `json:"programs"`
}

// A Read is something that kernel halves read, for themselves or to send it.
type Read struct {
	// What is the name of it: "pid", "args.filename", "struct task_struct.comm"; of memory at an address that the
	// script computes, its place in the script.
	What string `json:"what"`
	// From says whose it is.
	From From `json:"from"`
	// Kind is number, string, bytes, strings, path or stack.
	Kind string `json:"kind"`
	// Bytes are the most that are read at once; 0 where that is not the point.
	Bytes int `json:"bytes,omitempty"`
}

// From is whose a value is.
type From string

// Whose values are. FromAddress is memory that belongs to the kernel or to the
// process, as the address says that is found when the event happens.
const (
	FromEvent   From = "event"
	FromKernel  From = "kernel"
	FromProcess From = "process"
	FromAddress From = "address"
)

// A Program is a program in the kernel with what one run costs at most.
type Program struct {
	// Name is that of the program in the kernel.
	Name string `json:"name"`
	// Attached says in words to what, and Times to how many places.
	Attached string `json:"attached"`
	Times    int    `json:"attachments"`
	// Instructions and Calls (of functions of the kernel) are the most of one run, with those of programs in which it
	// goes on.
	Instructions int64 `json:"most_instructions"`
	Calls        int64 `json:"most_calls"`
}

// New makes the report of in, whose unit has its costs.
func New(in *explain.Input, asks []Ask) *Report {
	report := explain.New(in)
	a := &Report{Script: in.Script, Who: in.Who, Asks: asks, Probes: []Probe{}, Own: costs(in.Unit, report.Own)}
	if a.Asks == nil {
		a.Asks = []Ask{}
	}
	for i, p := range report.Probes {
		probe := Probe{Name: p.Name, Pos: p.Pos, Points: p.Points, Reads: reads(in.Unit.Tree, in.Plan.Probes[i].ID),
			Events: p.Events, Programs: costs(in.Unit, p.Programs)}
		for _, f := range p.Functions {
			if f.Side == "kernel" {
				probe.Shares = append(probe.Shares, f.Shares...)
			}
		}
		slices.Sort(probe.Shares)
		probe.Shares = slices.Compact(probe.Shares)
		a.Probes = append(a.Probes, probe)
	}
	for _, m := range report.Maps {
		a.Memory += m.Memory
	}
	return a
}

// costs adds to programs what they cost.
func costs(unit *bpfgen.Unit, list []explain.Program) (out []Program) {
	for _, p := range list {
		most := costOf(unit, p.Name)
		out = append(out, Program{p.Name, p.Attached, p.Times, most.Insns, most.Calls})
	}
	return out
}

// costOf is the most that one run of a program costs, with the dearest of those in
// which it goes on (bpf_tail_call).
func costOf(unit *bpfgen.Unit, name string) cost.Cost {
	most, tail := unit.Costs[name], cost.Cost{}
	for _, p := range unit.Tree.Programs {
		if p.Name != name {
			continue
		}
		if p.Code != "" {
			return costOf(unit, p.Code)
		}
		for _, v := range p.Variants {
			if v.Call != "" {
				next := costOf(unit, v.Call)
				tail = cost.Cost{Insns: max(tail.Insns, next.Insns), Calls: max(tail.Calls, next.Calls)}
			}
		}
	}
	return cost.Cost{Insns: most.Insns + tail.Insns, Calls: most.Calls + tail.Calls}
}

// reads is what the programs of a probe read, each once, by whose it is and by name.
func reads(unit *tree.Unit, probe int) []Read {
	seen := map[Read]bool{}
	note := func(e *tree.Expr) {
		if r, ok := readOf(e); ok {
			seen[r] = true
		}
	}
	for _, p := range unit.Programs {
		if p.Probe != probe {
			continue
		}
		for _, body := range p.Bodies() {
			tree.WalkBlock(body, func(*tree.Stmt) {}, note)
		}
	}
	out := make([]Read, 0, len(seen))
	for r := range seen {
		out = append(out, r)
	}
	order := []From{FromEvent, FromKernel, FromAddress, FromProcess}
	slices.SortFunc(out, func(a, b Read) int {
		return cmp.Or(slices.Index(order, a.From)-slices.Index(order, b.From), strings.Compare(a.What, b.What),
			strings.Compare(a.Kind, b.Kind), a.Bytes-b.Bytes)
	})
	return out
}

// ownBuiltin reports whether programs take a value of the machine for themselves,
// so that it is no part of what a script learns: registers, of which the arguments
// have names of their own, and what calls are paired by.
func ownBuiltin(name string) bool {
	switch name {
	case "cookie", "frame", "goframe", "thread", "goroutine", "depth", "syscall_nr", "syscall_name":
		return true
	}
	return strings.HasPrefix(name, "reg:")
}

// readOf is what an expression reads.
func readOf(e *tree.Expr) (Read, bool) {
	switch {
	case e.Op == tree.OpBuiltin && !ownBuiltin(e.Str):
		return Read{What: e.Str, From: FromEvent, Kind: "number"}, true
	case e.Op == tree.OpStack:
		return Read{What: map[bool]string{true: "ustack", false: "stack"}[e.Str == tree.User], From: spaceOf(e),
			Kind: "stack"}, true
	case !e.Op.Reads():
		return Read{}, false
	}
	r := Read{What: e.Field, From: spaceOf(e), Kind: "number", Bytes: int(e.Type.Bits / 8)}
	switch {
	case r.What != "":
	case r.From == FromEvent:
		r.What = "a value that it is given, at " + e.Pos.String()
	default:
		r.What = "memory at the address of " + e.Pos.String()
	}
	switch e.Op {
	case tree.OpStr:
		r.Kind, r.Bytes = "string", e.Type.Cap-1
	case tree.OpMem:
		r.Kind, r.Bytes = "bytes", e.Type.Cap
	case tree.OpStrList, tree.OpJoin, tree.OpListLen:
		r.Kind, r.Bytes = "strings", max(e.Type.Cap, 0)
	case tree.OpPath:
		r.Kind, r.Bytes, r.From = "path", e.Type.Cap-1, FromKernel
		r.What = cmp.Or(e.Field, "path of a "+e.Str)
	}
	if e.Type.Kind == types.Ptr || e.Type.Kind == types.Mem {
		r.Bytes = 8
	}
	return r, true
}

func spaceOf(e *tree.Expr) From {
	switch e.Str {
	case tree.Ctx:
		return FromEvent
	case tree.Kernel:
		return FromKernel
	case tree.User:
		return FromProcess
	}
	return FromAddress
}

// String is the read in words, without whose it is.
func (r Read) String() string {
	switch {
	case r.Kind == "number" || r.Kind == "stack" || r.Bytes == 0:
		return r.What
	case r.Kind == "path":
		return fmt.Sprintf("%s (up to %d bytes)", r.What, r.Bytes)
	}
	return fmt.Sprintf("%s (%s, up to %d bytes)", r.What, r.Kind, r.Bytes)
}
