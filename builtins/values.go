package builtins

import (
	"fmt"
	"math/bits"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/internal/naming"
	"github.com/startrace/startrace/starlark/value"
)

// sum(), ntohs(), ntohl(), int32(), uint32(), matches(): builtins that compute with values.

var valueFamily = []Entry{
	{
		Name: "sum", Family: "values",
		Signature: "sum(values, start=0)",
		Doc:       "Adds up the elements of a list.",
		call:      sumCall,
	},
	{
		Name: "ntohs", Family: "values",
		Signature: "ntohs(n)",
		Doc:       "A 16-bit number of the network in the order of this machine.",
		call:      passFault(swapCall(16, func(v uint64) uint64 { return uint64(bits.ReverseBytes16(uint16(v))) })),
	},
	{
		Name: "ntohl", Family: "values",
		Signature: "ntohl(n)",
		Doc:       "A 32-bit number of the network in the order of this machine.",
		call:      passFault(swapCall(32, func(v uint64) uint64 { return uint64(bits.ReverseBytes32(uint32(v))) })),
	},
	{
		Name: "int32", Family: "values",
		Signature: "int32(n)",
		Doc: `The low 32 bits of a number as a C int. Arguments and results of user functions are whole registers,
of which an int fills only the low 32 bits: int32(e.ret) < 0.`,
		call: passFault(wordCall(func(v uint32) starlark.Value { return starlark.MakeInt64(int64(int32(v))) })),
	},
	{
		Name: "uint32", Family: "values",
		Signature: "uint32(n)",
		Doc:       "The low 32 bits of a number as a C unsigned int.",
		call:      passFault(wordCall(func(v uint32) starlark.Value { return starlark.MakeUint64(uint64(v)) })),
	},
	{
		Name: "matches", Family: "values",
		Signature: `matches(text, "glob")`,
		Doc: `Whether all of the text matches a pattern: * is any text, ? is one byte, [a-c] is one of these, [!a]
is another one, and {a,b} is one of these texts.`,
		call: func(_ *Env, c *call) (starlark.Value, error) {
			var s, pattern string
			if err := c.unpack("text", &s, "pattern", &pattern); err != nil {
				return nil, err
			}
			g, err := naming.Compile(pattern)
			if err != nil {
				return nil, fmt.Errorf("matches: %w", err)
			}
			return starlark.Bool(g.Match(s)), nil
		},
	},
}

// sumCall adds up the elements of a list, as a loop with += would.
func sumCall(_ *Env, c *call) (starlark.Value, error) {
	var it starlark.Iterable
	var total starlark.Value = starlark.MakeInt(0)
	if err := c.unpack("values", &it, "start?", &total); err != nil {
		return nil, err
	}
	for v := range starlark.Elements(it) {
		var err error
		if total, err = value.Operate(syntax.PLUS, total, v); err != nil {
			return nil, fmt.Errorf("sum: %w", err)
		}
	}
	return total, nil
}

// passFault lets FAULT through: a number that could not be read is not there in another form either.
func passFault(f func(*Env, *call) (starlark.Value, error)) func(*Env, *call) (starlark.Value, error) {
	return func(e *Env, c *call) (starlark.Value, error) {
		if len(c.args) > 0 && value.IsFault(c.args[0]) {
			return c.args[0], nil
		}
		return f(e, c)
	}
}

// swapCall turns the bytes of a number of the given width; both machines that
// startrace knows are little-endian.
func swapCall(width int, swap func(uint64) uint64) func(*Env, *call) (starlark.Value, error) {
	return func(_ *Env, c *call) (starlark.Value, error) {
		var n starlark.Int
		if err := c.unpack("n", &n); err != nil {
			return nil, err
		}
		return starlark.MakeUint64(swap(lowBits(n, width))), nil
	}
}

// wordCall takes the low 32 bits of a number.
func wordCall(read func(uint32) starlark.Value) func(*Env, *call) (starlark.Value, error) {
	return func(_ *Env, c *call) (starlark.Value, error) {
		var n starlark.Int
		if err := c.unpack("n", &n); err != nil {
			return nil, err
		}
		return read(uint32(lowBits(n, 32))), nil
	}
}

// lowBits are the bits of a number that count, whatever its sign: that is
// what the kernel half does.
func lowBits(n starlark.Int, width int) uint64 {
	v, _ := n.And(starlark.MakeUint64(1<<width - 1)).Uint64()
	return v
}
