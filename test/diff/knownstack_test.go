package diff

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/cilium/ebpf"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/internal/wire"
	"github.com/startrace/startrace/starlark/value"
)

// A refStack is a stack as the reference has it, and what one of the product is made for comparisons: its addresses.
type refStack struct{ addrs []uint64 }

func (s *refStack) String() string        { return fmt.Sprintf("<stack %#x>", s.addrs) }
func (s *refStack) Type() string          { return "stack" }
func (s *refStack) Freeze()               {}
func (s *refStack) Truth() starlark.Bool  { return len(s.addrs) > 0 }
func (s *refStack) Hash() (uint32, error) { return starlark.String(s.String()).Hash() }
func (s *refStack) CompareSameType(op syntax.Token, y starlark.Value, _ int) (bool, error) {
	same := slices.Equal(s.addrs, y.(*refStack).addrs)
	switch op {
	case syntax.EQL:
		return same, nil
	case syntax.NEQ:
		return !same, nil
	}
	return false, fmt.Errorf("stacks have no order: %s", op)
}

// reference gives the function that a known stack is.
func (k KnownStack) reference(in *Input) starlark.Value {
	return starlark.NewBuiltin(k.Name, func(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple,
		kwargs []starlark.Tuple) (starlark.Value, error) {
		n := wire.MaxStack
		if err := starlark.UnpackPositionalArgs(b.Name(), args, kwargs, 0, &n); err != nil {
			return nil, err
		}
		addrs := in.frames[min(k.From, len(in.frames)):]
		return &refStack{addrs[:min(n, len(addrs))]}, nil
	})
}

// stackTable reads the addresses of stacks from the map of a unit.
type stackTable struct{ *ebpf.Map }

func (t stackTable) Frames(id uint64) (out []value.Frame) {
	if id < wire.FirstStack || t.Map == nil {
		return nil
	}
	raw := make([]byte, t.ValueSize())
	if err := t.Lookup(id, raw); err != nil {
		return nil
	}
	for i := range int(binary.NativeEndian.Uint16(raw[wire.StackCount:])) {
		out = append(out, value.Frame{Addr: binary.NativeEndian.Uint64(raw[wire.StackAddrs+8*i:])})
	}
	return out
}

func (t stackTable) Short(uint64) string { return "" }

func (t stackTable) Unfinished(uint64) bool { return false }

func (t stackTable) Merged(id uint64) uint64 { return id }

func (t stackTable) MergedFrame(f value.Frame) value.Frame { return f }

// bare is a value in which stacks are their addresses.
func bare(v starlark.Value) starlark.Value {
	switch v := v.(type) {
	case value.Stack:
		s := &refStack{}
		for _, f := range v.Frames() {
			s.addrs = append(s.addrs, f.Addr)
		}
		return s
	case starlark.Tuple:
		out := make(starlark.Tuple, len(v))
		for i, e := range v {
			out[i] = bare(e)
		}
		return out
	case *value.Record:
		names, _ := v.Fields()
		vals := make([]starlark.Value, len(names))
		for i, name := range names {
			vals[i] = bare(v.Get(name))
		}
		return value.NewRecord(names, vals)
	}
	return v
}
