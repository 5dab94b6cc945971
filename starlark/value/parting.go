package value

import (
	"slices"

	"go.starlark.net/starlark"
)

// split, partition, strip and their like for strings that were cut.

// parting is a method that gives what is before or behind a text: each part of its result is where it was.
func parting(th *starlark.Thread, b *starlark.Builtin, s string, args starlark.Tuple, kwargs []starlark.Tuple) (
	starlark.Value, error) {
	v, err := interpreters(th, b, args, kwargs)
	if err != nil || !wasCut(s) {
		return v, err
	}
	switch v := v.(type) {
	case starlark.Tuple: // partition, rpartition
		first, last := len(v[0].(starlark.String)), len(v[2].(starlark.String))
		if v[1] != starlark.String("") {
			behind, middle := len(s)-last, v[1]
			if last > 0 || !slices.Contains(cutsOf(s), len(s)) { // else the last part knows of the cut there
				middle = partOf(s, first, behind)
			}
			return starlark.Tuple{partOf(s, 0, first), middle, partOf(s, behind, len(s))}, nil
		}
		whole := starlark.Tuple{v[0], v[1], v[2]} // the text was not found
		if b.Name() == "partition" {
			whole[0] = boxed(starlark.String(s))
		} else {
			whole[2] = boxed(starlark.String(s))
		}
		return whole, nil
	case starlark.String:
		if b.Name() == "removeprefix" {
			return partOf(s, len(s)-len(v), len(s)), nil
		}
		return partOf(s, 0, len(v)), nil
	}
	return v, nil
}

// stripped is what was left of s by a method that strips: behind what lstrip takes away s ends as it did.
func stripped(method, s string, left starlark.Value) starlark.Value {
	if left == starlark.String("") && (s == "" || method == "lstrip") {
		return partOf(s, len(s), len(s))
	}
	return left
}

// placedParts are the parts of s between separators, each where it was.
func placedParts(s string, by string, list *starlark.List) error {
	if !wasCut(s) {
		return nil
	}
	at := 0
	for i := range list.Len() {
		n := len(list.Index(i).(starlark.String))
		if err := list.SetIndex(i, partOf(s, at, at+n)); err != nil {
			return err
		}
		at += n + len(by)
	}
	return nil
}

// separator is what a string is split by, "" where that is blanks.
func separator(args starlark.Tuple) string {
	if len(args) == 0 {
		return ""
	}
	by, _ := starlark.AsString(args[0])
	return by
}
