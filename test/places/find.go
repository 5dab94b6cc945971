package places

import (
	"fmt"
	"slices"

	"github.com/startrace/startrace/internal/abi"
)

// What was found of a call compared with where its arguments are.

// Check compares where we look for the arguments and the result of a call with where they are.
func (c *Call) Check(arch string, at *abi.Call) (wrong []string) {
	convention := abi.Of(arch)
	if len(at.Params) != len(c.Args) {
		return []string{fmt.Sprintf("%d parameters are known, of %d", len(at.Params), len(c.Args))}
	}
	for i, l := range at.Params {
		if d := c.Args[i].Differs(c.Entry.gather(convention.Ints, convention.Floats, l)); d != "" {
			wrong = append(wrong, fmt.Sprintf("argument %d: %s: %v", i, d, l))
		}
	}
	l := at.Result
	if l.Indirect && l.Places[0].Where == abi.Nowhere ||
		onX87(l) { // nothing promises where it is, or we cannot read it
		return wrong
	}
	if d := c.Result.Differs(c.Return.gather(convention.Results, convention.FloatResults, l)); d != "" {
		wrong = append(wrong, fmt.Sprintf("the result: %s: %v", d, l))
	}
	return wrong
}

func onX87(l abi.Location) bool { return len(l.Places) > 0 && l.Places[0].Name == "st0" }

// gather puts the bytes of a value together.
func (s *State) gather(ints, floats []string, l abi.Location) []byte {
	var out []byte
	for _, p := range l.Places {
		switch p.Where {
		case abi.Nowhere:
			out = append(out, make([]byte, p.Bytes)...)
		case abi.Register:
			n := slices.Index(ints, p.Name)
			if l.Indirect {
				return s.At[n]
			}
			out = append(out, s.Ints[8*n:8*n+p.Bytes]...)
		case abi.Other:
			n := slices.Index(floats, p.Name)
			out = append(out, s.Floats[16*n:16*n+p.Bytes]...)
		case abi.Stack:
			if l.Indirect {
				return s.Through[p.Off/8]
			}
			out = append(out, s.Stack[p.Off:p.Off+p.Bytes]...)
		}
	}
	return out
}
