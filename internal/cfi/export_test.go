package cfi

import (
	"debug/elf"
	"maps"
	"slices"

	"github.com/startrace/startrace/internal/elffile"
)

// FrameRows gives the rows of two sections that are no file's: the first is loaded at an address, and so is the code.
func FrameRows(machine elf.Machine, exceptions, debug []byte, addr uint64, code ...elffile.CodeSection) ([]Row, Stats) {
	stats := Stats{}
	t := arches[machine].table(section{data: exceptions, base: addr}, section{data: debug, debug: true}, code, &stats)
	return t.finish(&gaps{}, &stats), stats
}

// Changes are the names of the functions of Go that change stacks.
func Changes() []string { return slices.Collect(maps.Keys(changes)) }
