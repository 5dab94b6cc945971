package value

import (
	"fmt"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/internal/plan"
)

// Snapshot: what an aggregation held at one time, as take() gives it.

var (
	_ starlark.Mapping  = (*Snapshot)(nil)
	_ starlark.Sequence = (*Snapshot)(nil)
	_ starlark.HasAttrs = (*Snapshot)(nil)
)

// Columns gives the declarations of the States of an entry.
func (s *Snapshot) Columns() []*plan.Container { return columnsOf(s.decl) }

// entry finds or makes the entry of a key.
func (s *Snapshot) entry(key starlark.Value) (*Entry, error) {
	if i, err := s.find(key); i >= 0 || err != nil {
		if negative, _ := signs(key); negative && i >= 0 {
			s.entries[i].Key = signedIn(s.entries[i].Key, key)
		}
		return s.at(i), err
	}
	i := len(s.entries)
	if key == nil {
		s.single = i
	} else if err := s.index.SetKey(indexKey(key), starlark.MakeInt(i)); err != nil {
		return nil, err
	}
	s.entries = append(s.entries, Entry{key, make([]State, len(columnsOf(s.decl)))})
	return &s.entries[i], nil
}

func (s *Snapshot) at(i int) *Entry {
	if i < 0 {
		return nil
	}
	return &s.entries[i]
}

// find gives the number of an entry, -1 for none.
func (s *Snapshot) find(key starlark.Value) (int, error) {
	if key == nil {
		return s.single, nil
	}
	v, found, err := s.index.Get(indexKey(key))
	if !found || err != nil {
		return -1, err
	}
	i, err := starlark.AsInt32(v)
	return i, err
}

// merge adds states to the entry of a key.
func (s *Snapshot) merge(key starlark.Value, states []State) error {
	e, err := s.entry(key)
	if err != nil {
		return err
	}
	for i := range states {
		e.States[i].Merge(&states[i])
	}
	return nil
}

// result is the value of an entry as scripts see it: a number or histogram,
// for a group a record.
func (s *Snapshot) result(states []State) starlark.Value {
	cols := s.Columns()
	if s.decl.Kind != plan.Group {
		return Result(cols[0], &states[0])
	}
	names := make([]string, len(cols))
	vals := make([]starlark.Value, len(cols))
	for i, c := range cols {
		names[i], vals[i] = s.decl.Members[i].Name, Result(c, &states[i])
	}
	return NewRecord(names, vals)
}

// Get is s[k]: the value under a key. A key with the number behind a label finds what the aggregation found with it.
func (s *Snapshot) Get(k starlark.Value) (starlark.Value, bool, error) {
	i, err := s.find(k)
	folded := foldKey(k, s.parts)
	if i < 0 && err == nil {
		i, err = s.find(folded)
	}
	if i < 0 && err == nil && s.of != nil {
		i, err = s.find(s.of.asRead(folded))
	}
	if i < 0 || err != nil {
		return nil, false, err
	}
	return s.result(s.entries[i].States), true, nil
}

// items gives (key, value) pairs; an unkeyed one has none.
func (s *Snapshot) items() []starlark.Tuple {
	out := make([]starlark.Tuple, 0, len(s.entries))
	for _, e := range s.entries {
		if e.Key != nil {
			out = append(out, starlark.Tuple{e.Key, s.result(e.States)})
		}
	}
	return out
}

// value is the value without a key, of what has none.
func (s *Snapshot) value() (starlark.Value, error) {
	if s.single >= 0 {
		return s.result(s.entries[s.single].States), nil
	}
	if s.keyed || len(s.entries) > 0 {
		return nil, fmt.Errorf("%s has keys: read the value of one, as s[…] or s.items() gives it", s)
	}
	return s.result(make([]State, len(s.Columns()))), nil
}

// Len is the number of keys.
func (s *Snapshot) Len() int { return len(s.items()) }

// Iterate goes over the keys.
func (s *Snapshot) Iterate() starlark.Iterator {
	return listOf(s.items(), func(kv starlark.Tuple) starlark.Value { return kv[0] }).Iterate()
}

func (s *Snapshot) String() string {
	return fmt.Sprintf("<snapshot of %s %s>", s.decl.Kind, s.decl.Name)
}

func (s *Snapshot) Type() string          { return "snapshot" }
func (s *Snapshot) Freeze()               {}
func (s *Snapshot) Truth() starlark.Bool  { return len(s.entries) > 0 }
func (s *Snapshot) Hash() (uint32, error) { return 0, fmt.Errorf("unhashable: snapshot") }
