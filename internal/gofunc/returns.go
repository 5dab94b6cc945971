package gofunc

import (
	"fmt"
)

// The instructions at which a function of Go returns.

// Returns are the places where a function is left.
type Returns struct {
	// At are the RET instructions; none in functions that never return.
	At []int
	// Tail are the jumps into another function, which then returns for this
	// one: wrappers of methods end so. The results are not known there.
	Tail []int
	// Targets are where the jumps of Tail go, from the function's start; Elsewhere
	// if memory says it.
	Targets []int
	// Branches are where conditional jumps go that may leave the function.
	Branches []int
}

// FindReturns gives where a function is left. Everything is decoded from the
// first byte on: a byte that looks like RET may be the middle of an
// instruction, and a probe on it would change that.
func FindReturns(arch string, code []byte) (Returns, error) {
	next, err := decoder(arch, code)
	if err != nil {
		return Returns{}, err
	}
	var out Returns
	for at := 0; at < len(code); {
		in, err := next(code, at)
		if err != nil {
			return Returns{}, fmt.Errorf("find the returns of a function: %w", err)
		}
		switch {
		case in.kind == ret:
			out.At = append(out.At, at)
		case in.kind == jump && (in.target < 0 || in.target >= len(code)), in.kind == leaveByMemory:
			out.Tail, out.Targets = append(out.Tail, at), append(out.Targets, in.target)
		case in.kind == branch && (in.target < 0 || in.target >= len(code)):
			out.Branches = append(out.Branches, in.target)
		}
		at += in.size
	}
	return out, nil
}
