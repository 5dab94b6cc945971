package value

import (
	"time"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/internal/wire"
)

// Ints as Go writes a duration or a time.

// Written is an int as Go writes a duration or a time, which the width says (wire.WidthDuration). The time is in UTC,
// since nobody knows in which zone the program is.
func Written(x starlark.Int, width int) starlark.Value {
	ns, ok := x.Int64()
	switch {
	case ok && width == wire.WidthDuration:
		return starlark.String(time.Duration(ns).String())
	case ok && width == wire.WidthTime:
		return starlark.String(time.Unix(0, ns).UTC().Format(time.RFC3339Nano))
	}
	return x
}
