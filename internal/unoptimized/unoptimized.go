// Package unoptimized says whether a function was compiled without optimization. Then it is called as its type says,
// each of its variables has one place in its frame, and a line of it is one stretch of code for each block.
//
// Few compilers say so of a function. Where they do not, it follows from the places of its variables.
package unoptimized

import (
	"debug/dwarf"
	"strconv"
	"strings"

	"github.com/startrace/startrace/internal/dwarfinfo"
)

// Whether a function was compiled without optimization.

// A Judge says it of the functions of one file.
type Judge struct {
	data *dwarfinfo.Data
	// known are those that were asked for, and crates those of Rust.
	known  map[dwarf.Offset]bool
	crates map[crate]bool
}

// New gives the judge of functions that debug information describes.
func New(data *dwarfinfo.Data) *Judge {
	return &Judge{data: data, known: map[dwarf.Offset]bool{}, crates: map[crate]bool{}}
}

// Is reports whether the function of an entry with code was compiled without optimization.
func (j *Judge) Is(function *dwarfinfo.Entry) bool {
	is, known := j.known[function.Offset]
	if !known {
		is = j.judge(function)
		j.known[function.Offset] = is
	}
	return is
}

// judge is Is for a function that was not asked for before.
func (j *Judge) judge(function *dwarfinfo.Entry) bool {
	c := compilerOf(function.Unit())
	l := look{data: j.data, function: function, compiler: c}
	switch err := l.into(function, 0); {
	case err != nil || l.moving:
		return false
	case c.rust:
		return !j.optimizes(function.Unit())
	case c.clang && saysOptimized(function):
		return false
	}
	return l.fixed || c.saysPlain()
}

// A compiler is what made a unit.
type compiler struct {
	producer         string
	gcc, clang, rust bool
	// tells: it is a clang that says of functions that they were optimized.
	tells bool
}

// compilerOf gives that of a unit.
func compilerOf(u *dwarfinfo.Unit) (c compiler) {
	root, err := u.Root()
	if err != nil || root == nil {
		return c
	}
	c.producer, _ = root.Val(dwarf.AttrProducer).(string)
	c.gcc = strings.HasPrefix(c.producer, "GNU ")
	c.rust = strings.Contains(c.producer, "rustc version ")
	_, version, ofClang := strings.Cut(c.producer, "clang version ")
	c.clang = ofClang && !c.rust
	c.tells = c.clang && tellsOptimized(version, u.Version())
	return c
}

// saysPlain reports whether a compiler says of functions that it did not optimize them: gcc has its options in the name
// of the producer, where it did not only link (GIMPLE), and clang says of a function that it did optimize it.
func (c compiler) saysPlain() bool {
	if c.gcc {
		return strings.Contains(c.producer, " -m") && !strings.HasPrefix(c.producer, "GNU GIMPLE ") && !c.asked()
	}
	return c.tells
}

// tellsOptimized reports whether a version of clang says of a function that it was optimized (saysOptimized), in debug
// information of this version of DWARF.
func tellsOptimized(clang string, version int) bool {
	major, _, _ := strings.Cut(clang, ".")
	n, err := strconv.Atoi(major)
	return version >= 5 || version == 4 && err == nil && n >= 11
}

// drops reports whether without optimization the compiler tells of each parameter where it is.
func (c compiler) drops() bool {
	return !strings.HasPrefix(c.producer, "Go ") && (!c.gcc || c.asked())
}

// asked reports whether options of gcc ask for optimization: the last one of -O, -O0, -O1 … counts.
func (c compiler) asked() (is bool) {
	for word := range strings.FieldsSeq(c.producer) {
		if level, of := strings.CutPrefix(word, "-O"); of {
			is = level != "0"
		}
	}
	return is
}

// saysOptimized reports whether a function is said to be one in which all calls are told, as clang says of what it has
// optimized in DWARF 5, and from clang 11 on in DWARF 4.
func saysOptimized(function *dwarfinfo.Entry) bool {
	const allCalls, gnuAllCalls = dwarf.Attr(0x7a), dwarf.Attr(0x2117)
	return function.Has(allCalls) || function.Has(gnuAllCalls)
}
