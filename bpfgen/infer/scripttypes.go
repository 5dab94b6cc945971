package infer

import "github.com/startrace/startrace/internal/ctypes"

// Types that a script declares by types() come before those of the kernel.

// scriptTypes are the types that the script declares by types(), which stand before those of the kernel. Units of one
// script have the same ones, so that their tables can have the same keys. A mistake in a text ends the walk.
func scriptTypes(u *unit) *ctypes.Types {
	if len(u.plan.Types) == 0 {
		return &ctypes.Types{}
	}
	types, pos, err := ctypes.OfScript(u.btf(u.plan.Types[0].Pos), u.plan.Types)
	if err != nil {
		wrong(pos, "%v", err)
	}
	return types
}
