package value

import (
	"slices"
	"sort"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// Builtins of the interpreter that go over many elements end when the run does (`Stoppable`); sorted.

// askEvery is after how many elements a builtin asks whether the script is to end.
const askEvery = 1 << 14

// A stop is the panic by which a builtin of the interpreter ends that goes over many elements, once the script is to
// end.
type stop struct{ err error }

// Stoppable calls a builtin that goes over all elements of its arguments, so that it ends soon once the script is to.
func Stoppable(th *starlark.Thread, f *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (
	made starlark.Value, err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case stop:
			made, err = nil, r.err
		default:
			panic(r)
		}
	}()
	if slices.ContainsFunc(args, isLong) {
		args = slices.Clone(args)
		for i, a := range args {
			args[i] = askingIfLong(th, a)
		}
	}
	for i, a := range kwargs {
		if f.Name() != "dict" && isLong(a[1]) { // of which they are entries
			kwargs[i] = starlark.Tuple{a[0], askingIfLong(th, a[1])}
		}
	}
	return f.CallInternal(th, args, kwargs)
}

// askingIfLong is a long list such that its elements come as long as the script may go on, and else the value itself.
func askingIfLong(th *starlark.Thread, v starlark.Value) starlark.Value {
	if isLong(v) {
		return asking{v.(starlark.Sequence), th}
	}
	return v
}

// isLong reports whether a value is a list, or the like, with so many elements that it is asked on the way.
func isLong(v starlark.Value) bool {
	_, mapping := v.(starlark.IterableMapping)
	list, ok := v.(starlark.Sequence)
	return ok && !mapping && list.Len() >= askEvery
}

// asking is a list whose elements come as long as the script may go on.
type asking struct {
	starlark.Sequence
	th *starlark.Thread
}

func (a asking) Iterate() starlark.Iterator {
	return &askingIterator{a.Sequence.Iterate(), asker{th: a.th}}
}

type askingIterator struct {
	starlark.Iterator
	asker
}

func (a *askingIterator) Next(p *starlark.Value) bool {
	a.ask()
	return a.Iterator.Next(p)
}

// An asker asks whether the script may go on.
type asker struct {
	th   *starlark.Thread
	done int
}

// ask panics with a stop where the script is to end.
func (a *asker) ask() {
	if a.done++; a.done%askEvery != 0 {
		return
	}
	if err := checkGoing(a.th); err != nil {
		panic(stop{err})
	}
}

// Sorted is sorted(list, key, reverse), as the interpreter has it, for Stoppable: comparing takes longer than going
// over the list.
func Sorted(th *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value,
	error) {
	var list starlark.Iterable
	var key starlark.Callable
	var reverse bool
	err := starlark.UnpackArgs(b.Name(), args, kwargs, "iterable", &list, "key?", &key, "reverse?", &reverse)
	if err != nil {
		return nil, err
	}
	s := &sorting{asker: asker{th: th}}
	for x := range starlark.Elements(list) {
		s.values = append(s.values, x)
	}
	s.keys = s.values
	if key != nil {
		s.keys = make([]starlark.Value, len(s.values))
		for i, v := range s.values {
			if s.keys[i], err = starlark.Call(th, key, starlark.Tuple{v}, nil); err != nil {
				return nil, err
			}
		}
	}
	s.keyed = key != nil
	if reverse {
		sort.Stable(sort.Reverse(s))
	} else {
		sort.Stable(s)
	}
	return starlark.NewList(s.values), s.err
}

// sorting is a list that is being sorted by its keys.
type sorting struct {
	asker
	keys, values []starlark.Value
	keyed        bool // keys is a list of its own
	err          error
}

func (s *sorting) Len() int { return len(s.values) }

func (s *sorting) Less(i, j int) bool {
	s.ask()
	less, err := starlark.Compare(syntax.LT, s.keys[i], s.keys[j])
	if err != nil {
		s.err = err
	}
	return less
}

func (s *sorting) Swap(i, j int) {
	s.values[i], s.values[j] = s.values[j], s.values[i]
	if s.keyed {
		s.keys[i], s.keys[j] = s.keys[j], s.keys[i]
	}
}
