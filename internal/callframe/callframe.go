// Package callframe tells where the frame of a call begins, at any instruction of a program: the canonical frame
// address of DWARF (6.4), which is what the stack pointer was before the call, and does not change while the function
// runs. Programs have it in .eh_frame, also when they were stripped, and those of Go in .debug_frame.
//
// The tables are read by delve's package frame.
package callframe

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/go-delve/delve/pkg/dwarf/frame"

	"github.com/startrace/startrace/internal/location"
)

// The frame of a call (CFA) at an instruction, from .eh_frame and .debug_frame.

// ErrDamaged is what is said of tables that do not keep to the standard.
var ErrDamaged = errors.New("damaged call frame information")

// A Table has the frames of the functions of one file.
type Table struct {
	arch    string
	entries frame.FrameDescriptionEntries
}

// Read reads the bytes of .eh_frame, of which the first is loaded at addr, and of .debug_frame; nil where a file has
// none. What is damaged is left out; the error says so.
func Read(arch string, ehFrame []byte, addr uint64, debugFrame []byte) (*Table, error) {
	t := &Table{arch: arch}
	eh, err := parse(ehFrame, addr)
	debug, err2 := parse(debugFrame, 0)
	t.entries = t.entries.Append(eh).Append(debug)
	return t, errors.Join(err, err2)
}

// parse reads one section; addr is 0 of .debug_frame.
func parse(data []byte, addr uint64) (out frame.FrameDescriptionEntries, err error) {
	defer recovered(&err)
	if len(data) == 0 {
		return nil, nil
	}
	if out, err = frame.Parse(data, binary.LittleEndian, 0, 8, addr); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return out, nil
}

// recovered makes an error of a panic: that is how the library tells of bad input.
func recovered(err *error) {
	if v := recover(); v != nil {
		*err = fmt.Errorf("%w: %v", ErrDamaged, v)
	}
}

// CFA gives the canonical frame address at an instruction; false where it is not known, or is no register and a number.
func (t *Table) CFA(pc uint64) (*location.Expr, bool) {
	if t == nil {
		return nil, false
	}
	rule, err := t.rule(pc)
	if err != nil || rule.Rule != frame.RuleCFA {
		return nil, false
	}
	r, ok := location.InRegister(t.arch, rule.Reg)
	if !ok {
		return nil, false
	}
	return location.Plus(r, rule.Offset), true
}

func (t *Table) rule(pc uint64) (rule frame.DWRule, err error) {
	defer recovered(&err)
	entry, err := t.entries.FDEForPC(pc)
	if err != nil {
		return rule, err
	}
	context, err := entry.EstablishFrame(pc)
	if err != nil {
		return rule, err
	}
	return context.CFA, nil
}
