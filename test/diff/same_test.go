package diff

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/starlark/value"
)

// same reports whether the kernel's outcome is the reference's. Each of two strings was cut, or none.
func same(k, r outcome) bool {
	if k.value == nil || r.value == nil {
		return k.value == nil && r.value == nil
	}
	return sameValue(k.value, r.value)
}

func sameValue(k, r starlark.Value) bool {
	switch k := k.(type) {
	case starlark.String:
		r, ok := r.(starlark.String)
		return ok && k == r && value.IsCut(string(k)) == value.IsCut(string(r))
	case starlark.Tuple:
		r, ok := r.(starlark.Tuple)
		return ok && sameValues(k, r)
	case starlark.Float:
		r, ok := r.(starlark.Float)
		return ok && k == r && math.Signbit(float64(k)) == math.Signbit(float64(r)) ||
			ok && math.IsNaN(float64(k)) && math.IsNaN(float64(r))
	case *value.Histogram:
		r, ok := r.(*value.Histogram)
		return ok && slices.Equal(k.Bars(), r.Bars())
	case *value.Record:
		r, ok := r.(*value.Record)
		return ok && sameRecord(k, r)
	}
	if k.Type() != r.Type() {
		return false
	}
	eq, err := starlark.Equal(k, r)
	return eq && err == nil
}

func sameValues(k, r []starlark.Value) bool {
	for i := range k {
		if len(k) != len(r) || !sameValue(k[i], r[i]) {
			return false
		}
	}
	return len(k) == len(r)
}

func sameRecord(k, r *value.Record) bool {
	names, _ := k.Fields()
	others, _ := r.Fields()
	names, others = append([]string{}, names...), append([]string{}, others...)
	sort.Strings(names)
	sort.Strings(others)
	if fmt.Sprint(names) != fmt.Sprint(others) {
		return false
	}
	for _, n := range names {
		if !sameValue(k.Get(n), r.Get(n)) {
			return false
		}
	}
	return true
}
