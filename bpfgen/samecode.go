package bpfgen

import (
	"fmt"
	"strings"

	"github.com/startrace/startrace/bpfgen/tree"
)

// Programs at tracepoints that do the same are compiled, verified and loaded once (`shareCode`).
//
// Patterns match hundreds of tracepoints, and most handlers look at nothing in which these differ:
//
//	probe("tracepoint:syscalls:sys_enter_*", lambda e: n[e.comm].add())
//
// The instructions of such programs are made, checked by the kernel and loaded once, and attached at each of the
// points. Other ways to attach to several points have one program for them from the start (tree.Functions,
// tree.Variant), or are left apart: of raw tracepoints the kernel skips a program that is running already, wherever it
// was called from.

// shareCode names for each program at a tracepoint the first one that does the same.
func shareCode(u *tree.Unit) {
	first := map[string]string{}
	for _, p := range u.Programs {
		key, ok := codeKey(u, p)
		if !ok {
			continue
		}
		if name, found := first[key]; found {
			p.Code = name
		} else {
			first[key] = p.Name
		}
	}
}

// codeKey is all that the instructions of a program at a tracepoint depend on; false for other programs.
func codeKey(u *tree.Unit, p *tree.Program) (string, bool) {
	if _, ok := p.Attach.Way.(tree.Tracepoint); !ok || p.Body == nil || p.Tail || len(p.Attach.Tracing) > 0 {
		return "", false
	}
	shape, sends := p.Body.Shape(u.Records)
	var key strings.Builder
	fmt.Fprintln(&key, p.Probe, p.Beside, p.Attach.Span)
	for _, s := range sends {
		fmt.Fprintln(&key, "send", s.Int)
	}
	for _, l := range p.Locals {
		fmt.Fprintln(&key, "local", l.Type)
	}
	key.WriteString(shape)
	return key.String(), true
}
