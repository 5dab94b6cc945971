// Package bpfgen compiles a plan to eBPF.
//
// The folders are the pipeline: types and tree are the typed form, infer
// makes it from the plan, ssagen turns it into the SSA of ir, opt improves it,
// lower expands what the machine does not have, regalloc assigns R0–R9 and
// the stack, emit writes instructions with their places in the script.
//
// Everything here is pure data: no descriptor is opened, nothing is loaded,
// and the same plan with the same kernel facts gives the same text.
package bpfgen

import (
	"github.com/cilium/ebpf"

	"github.com/startrace/startrace/bpfgen/cost"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/plan"
)

// The Unit, which is what the compiler gives: programs, maps, layouts, the sites of losses with their kinds (SiteKind),
// and the script's line of each instruction.

// A Unit is a compiled plan: what session loads and attaches, and what it
// needs to decode what the programs send and store.
type Unit struct {
	// Spec has all maps and programs. Names of maps: see MapName*.
	Spec *ebpf.CollectionSpec
	// Tree holds programs with their attach points, records and containers.
	Tree *tree.Unit
	// Sites are the places whose failures are counted: element i of the u64
	// array in map MapSites.
	Sites []Site
	// Lines maps an instruction of a program to its place in the script: the
	// entry with the greatest Insn that is not above the instruction's raw
	// number (64-bit loads count two).
	Lines map[string][]Line
	// Loops has the most expensive loop of the programs that have one.
	Loops map[string]Loop
	// Rollable has the loops of programs that need not be written out: see tree.Program.
	Rollable map[string][]plan.Pos
	// Calls has what became of the calls of the script's functions in a program,
	// those that are worth telling.
	Calls map[string][]Call
	// Costs has what one run of each program costs at most, if Options.Cost asked for it.
	Costs map[string]cost.Cost
	// Dumps has the stages of each program, if Options.Dump asked for them.
	Dumps map[string]*Dump
}

// The names of maps that each unit has or can have. The others are in package tree.
const (
	MapRing    = tree.MapRing
	MapSites   = tree.MapSites
	MapScratch = tree.MapScratch
)

// SiteKind says what failed at a Site.
type SiteKind = tree.SiteKind

// The kinds of failures that programs count.
const (
	SiteFull       = tree.SiteFull
	SiteNoMem      = tree.SiteNoMem
	SiteRing       = tree.SiteRing
	SiteKeep       = tree.SiteKeep
	SiteScratch    = tree.SiteScratch
	SiteBelow      = tree.SiteBelow
	SiteError      = tree.SiteError
	SiteOrphanEnd  = tree.SiteOrphanEnd
	SiteOpenStart  = tree.SiteOpenStart
	SiteSpanFull   = tree.SiteSpanFull
	SiteContention = tree.SiteContention
	SiteStackFull  = tree.SiteStackFull
	SiteStackClash = tree.SiteStackClash
	SiteTimeout    = tree.SiteTimeout
	SiteSpanRace   = tree.SiteSpanRace
	SiteSpanDeep   = tree.SiteSpanDeep
	SiteReturnDeep = tree.SiteReturnDeep
	SiteLRU        = tree.SiteLRU
	// SiteThreadEnded is no loss, as SiteLRU.
	SiteThreadEnded = tree.SiteThreadEnded
	// SiteSeen is no loss, either.
	SiteSeen = tree.SiteSeen
)

// A Site is a place in a script where something can be lost.
type Site = tree.Site

// A Line is an entry of Unit.Lines: from the raw instruction Insn on, up to the next entry, instructions come from the
// place Pos of the script.
type Line struct {
	Insn int
	Pos  plan.Pos
}
