package location

import "slices"

// Registers that calls keep, of which a value may be made.

// kept are the registers that a call does not change: System V ABI, AMD64 Supplement, figure 3.4; Procedure Call
// Standard for the Arm 64-bit Architecture, 6.1.1.
var kept = map[string][]string{
	"amd64": {"bx", "bp", "sp", "r12", "r13", "r14", "r15", "ip"},
	"arm64": {"x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x29", "x30", "sp"},
}

// LostByCalls reports whether a value is made of a register that functions may change which are called.
func (p Place) LostByCalls(arch string) bool {
	return changes(p.Value, kept[arch]) ||
		slices.ContainsFunc(p.Fragments, func(f Fragment) bool { return f.LostByCalls(arch) })
}

func changes(e *Expr, kept []string) bool {
	return e != nil && (e.Op == Register && !slices.Contains(kept, e.Name) ||
		slices.ContainsFunc(e.Args, func(a *Expr) bool { return changes(a, kept) }))
}
