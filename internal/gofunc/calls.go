package gofunc

import "fmt"

// Where the direct calls of a function go.

// Calls gives where the direct calls of a function go, and its jumps out of it, from its start.
func Calls(arch string, code []byte) (targets []int, err error) {
	next, err := decoder(arch, code)
	if err != nil {
		return nil, err
	}
	for at := 0; at < len(code); {
		in, err := next(code, at)
		if err != nil {
			return nil, fmt.Errorf("find the calls of a function: %w", err)
		}
		if outside := in.target < 0 || in.target >= len(code); in.kind == call || in.kind == jump && outside {
			targets = append(targets, in.target)
		}
		at += in.size
	}
	return targets, nil
}
