package diff

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/cilium/ebpf/btf"
	"go.starlark.net/starlark"

	"github.com/startrace/startrace/starlark/value"
)

// nodeType is the struct in BTF.
func nodeType() *btf.Struct {
	s := &btf.Struct{Name: "node", Size: NodeSize}
	s.Members = btfMembers(Members, s)
	return s
}

func btfMembers(list []Member, node *btf.Struct) (out []btf.Member) {
	char := &btf.Int{Name: "char", Size: 1, Encoding: btf.Signed}
	for _, m := range list {
		b := btf.Member{Name: m.Name, Offset: btf.Bits(8 * m.Off)}
		switch m.Kind {
		case MemberInt:
			b.Type = btfNumber(m.Bits, m.Type)
		case MemberBits:
			size := 32
			if m.Off%8 == 0 {
				size = 64
			}
			b.Type, b.BitfieldSize = btfInt(size, m.Type), btf.Bits(m.Bits)
			b.Offset += btf.Bits(m.Bit)
		case MemberBool:
			b.Type = &btf.Int{Name: "_Bool", Size: 1, Encoding: btf.Bool}
		case MemberArray:
			b.Type = &btf.Array{Index: btfInt(32, unsigned), Type: btfNumber(m.Bits, m.Type), Nelems: uint32(m.Len)}
		case MemberChars:
			b.Type = &btf.Array{Index: btfInt(32, unsigned), Type: char, Nelems: uint32(m.Len)}
		case MemberText:
			b.Type = &btf.Pointer{Target: char}
		case MemberTexts:
			b.Type = &btf.Pointer{Target: &btf.Pointer{Target: char}}
		case MemberPtr:
			b.Type = &btf.Pointer{Target: node}
		case MemberStruct:
			b.Type = &btf.Struct{Name: "inner", Size: uint32(m.Len), Members: btfMembers(m.In, node)}
		}
		out = append(out, b)
	}
	return out
}

func btfNumber(bits int, t Type) btf.Type {
	if t.Kind == Float {
		return &btf.Float{Name: fmt.Sprintf("float%d", bits), Size: uint32(bits / 8)}
	}
	return btfInt(bits, t)
}

func btfInt(bits int, t Type) btf.Type {
	if t.Class == Signed {
		return &btf.Int{Name: fmt.Sprintf("s%d", bits), Size: uint32(bits / 8), Encoding: btf.Signed}
	}
	return &btf.Int{Name: fmt.Sprintf("u%d", bits), Size: uint32(bits / 8)}
}

// A place is a struct in memory as the interpreter sees it: where a pointer leads, or the struct within. What is read
// through None or FAULT is FAULT (docs/semantics.md); the interpreter has no way to say so, so the reference calls
// _attr.
type place struct {
	in      *Input
	node    int
	members []Member
	off     int
	strMax  int
}

func (p *place) String() string        { return "<node>" }
func (p *place) Type() string          { return "node" }
func (p *place) Freeze()               {}
func (p *place) Truth() starlark.Bool  { return true }
func (p *place) Hash() (uint32, error) { return 0, errors.New("unhashable") }

// leads is a pointer as a value.
func leads(in *Input, node, strMax int) starlark.Value {
	switch node {
	case Null:
		return starlark.None
	case Nowhere:
		return &place{in: in, node: Nowhere}
	}
	return &place{in: in, node: node, members: Members, strMax: strMax}
}

// attr is _attr(x, "name").
func attr(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	p, ok := args[0].(*place)
	name := string(args[1].(starlark.String))
	if ok && p.node == Nowhere && name == "inner" { // a place, though one that cannot be read
		return p, nil
	}
	if !ok || p.node == Nowhere { // None, FAULT
		return value.FAULT, nil
	}
	for _, m := range p.members {
		if m.Name == name {
			return p.member(m), nil
		}
	}
	return nil, fmt.Errorf("no member %s", name)
}

func (p *place) member(m Member) starlark.Value {
	n := &p.in.Nodes[p.node]
	raw := n.Raw[p.off+m.Off:]
	switch m.Kind {
	case MemberInt:
		return readNumber(raw, m.Bits, m.Type)
	case MemberBits:
		w := binary.NativeEndian.Uint64(append(append([]byte{}, raw[:min(8, len(raw))]...), make([]byte, 8)...))
		return widen(w>>m.Bit, m.Bits, m.Type)
	case MemberBool:
		return starlark.Bool(raw[0] != 0)
	case MemberArray:
		var out starlark.Tuple
		for i := range m.Len {
			out = append(out, readNumber(raw[i*m.Bits/8:], m.Bits, m.Type))
		}
		return out
	case MemberChars:
		s, _, _ := strings.Cut(string(raw[:m.Len]), "\x00")
		return starlark.String(s)
	case MemberText:
		return textValue(n.Str, p.strMax)
	case MemberTexts:
		return starlark.Tuple{starlark.String(n.Argv[0].S), starlark.String(n.Argv[1].S)}
	case MemberPtr:
		if m.Name == "link" {
			return leads(p.in, n.Link, p.strMax)
		}
		return leads(p.in, n.Next, p.strMax)
	}
	return &place{p.in, p.node, m.In, p.off + m.Off, p.strMax}
}

func textValue(t Text, strMax int) starlark.Value {
	if t.Fault {
		return value.FAULT
	}
	if len(t.S) > strMax {
		return value.Cut([]byte(t.S[:strMax]))
	}
	return starlark.String(t.S)
}

func readNumber(b []byte, bits int, t Type) starlark.Value {
	var w uint64
	switch {
	case t.Kind == Float && bits == 32:
		return starlark.Float(math.Float32frombits(binary.NativeEndian.Uint32(b)))
	case t.Kind == Float:
		return starlark.Float(math.Float64frombits(binary.NativeEndian.Uint64(b)))
	}
	switch bits {
	case 8:
		w = uint64(b[0])
	case 16:
		w = uint64(binary.NativeEndian.Uint16(b))
	case 32:
		w = uint64(binary.NativeEndian.Uint32(b))
	default:
		w = binary.NativeEndian.Uint64(b)
	}
	return widen(w, bits, t)
}

// widen gives the low bits of a word as an int of a type.
func widen(w uint64, bits int, t Type) starlark.Value {
	shift := 64 - bits
	if t.Class == Signed {
		return starlark.MakeInt64(int64(w<<shift) >> shift)
	}
	return starlark.MakeUint64(w << shift >> shift)
}

// element is _at(x, i), of an array that could not be read FAULT.
func element(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	list, ok := args[0].(starlark.Tuple)
	if !ok {
		return value.FAULT, nil
	}
	i, err := starlark.AsInt32(args[1])
	if err != nil {
		return nil, err
	}
	return list[i], nil
}

// elements is _all(x, n): the elements of an array of n.
func elements(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value,
	error) {
	if list, ok := args[0].(starlark.Tuple); ok {
		return list, nil
	}
	n, err := starlark.AsInt32(args[1])
	if err != nil {
		return nil, err
	}
	out := make(starlark.Tuple, n)
	for i := range out {
		out[i] = value.FAULT
	}
	return out, nil
}

// joined is _join(separator, list).
func joined(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	list, ok := args[1].(starlark.Tuple)
	if !ok {
		return value.FAULT, nil
	}
	var parts []string
	for _, s := range list {
		parts = append(parts, string(s.(starlark.String)))
	}
	return starlark.String(strings.Join(parts, string(args[0].(starlark.String)))), nil
}

// converted is cast("…", x): a pointer is the same, an int has the bits of the type.
func converted(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value,
	error) {
	name := string(args[0].(starlark.String))
	if strings.HasPrefix(name, "struct ") {
		return args[1], nil
	}
	if args[1] == value.FAULT {
		return value.FAULT, nil
	}
	n, ok := args[1].(starlark.Int)
	if !ok {
		return nil, fmt.Errorf("%s where an int was wanted", args[1])
	}
	if name == "" { // a program that is being made smaller
		return nil, errors.New("cast without a type")
	}
	bits, err := strconv.Atoi(name[1:])
	if err != nil {
		return nil, err // made by Shrink
	}
	w := new(big.Int).And(n.BigInt(), new(big.Int).SetUint64(math.MaxUint64)).Uint64()
	return widen(w<<(64-bits)>>(64-bits), bits, map[byte]Type{'s': signed, 'u': unsigned}[name[0]]), nil
}

// around is container_of(p.inner, …): p. Of FAULT, which p.inner is of None, it is that.
func around(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	inner, ok := args[0].(*place)
	if !ok {
		return value.FAULT, nil
	}
	return leads(inner.in, inner.node, inner.strMax), nil
}

// itself is cstr(s) of what is a string.
func itself(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	return args[0], nil
}

func sizeOf(*starlark.Thread, *starlark.Builtin, starlark.Tuple, []starlark.Tuple) (starlark.Value, error) {
	return starlark.MakeInt(NodeSize), nil
}

// memOf is mem(p, n).
func memOf(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	p, ok := args[0].(*place)
	if !ok || p.node == Nowhere {
		return value.FAULT, nil
	}
	return p.Attr("mem" + args[1].String())
}

// byteOf is mem(p, n)[i], which is FAULT where it cannot be read.
func byteOf(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	if args[0] == value.FAULT {
		return value.FAULT, nil
	}
	i, err := starlark.AsInt32(args[1])
	if err != nil {
		return nil, err
	}
	b := string(args[0].(value.Bytes))
	return starlark.MakeInt(int(b[(i+len(b))%len(b)])), nil
}
