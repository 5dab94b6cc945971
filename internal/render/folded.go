package render

import (
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/startrace/startrace/internal/escape"
)

// Tables of stacks as folded stacks (--format folded) for flame graphs.

// appendTableFolded renders `comm;root;…;leaf 12` for each row, the other
// elements of the key in front of the stacks, a program's stack before that of
// the kernel, which it called. Flame graphs count by function, so
// keys that differ in offsets, or in the process that a stack belongs to, make
// one line: their values add up. Rows without a number are left out: flame
// graphs have no place for them.
func appendTableFolded(dst []byte, t *Table, rows []Row) (out []byte, leftOut uint64) {
	var lines []string
	sums := map[string]Value{}
	for _, r := range rows {
		if len(r.Values) == 0 || !isNumber(r.Values[0]) {
			leftOut++
			continue
		}
		line := folded(r.Key)
		sum, ok := sums[line]
		if !ok {
			lines = append(lines, line)
			sums[line] = r.Values[0]
			continue
		}
		sums[line] = plus(sum, r.Values[0])
	}
	for _, line := range lines {
		dst = append(dst, line...)
		dst = append(dst, ' ')
		dst = appendValue(dst, wholeSum(sums[line]))
		dst = append(dst, '\n')
	}
	return dst, leftOut
}

// wholeSum rounds what a unit has made a fraction: readers of folded stacks take whole numbers.
func wholeSum(v Value) Value {
	if f, ok := v.(float64); ok && math.Abs(f) < 1<<63 {
		return int64(math.Round(f))
	}
	return v
}

// plus adds numbers: isNumber. Ints stay exact.
func plus(x, y Value) Value {
	a, aok := whole(x)
	b, bok := whole(y)
	if !aok || !bok {
		return magnitude(x) + magnitude(y)
	}
	sum := new(big.Int).Add(a, b)
	if sum.IsInt64() {
		return sum.Int64()
	}
	return sum
}

func whole(v Value) (*big.Int, bool) {
	switch v := v.(type) {
	case int64:
		return big.NewInt(v), true
	case uint64:
		return new(big.Int).SetUint64(v), true
	case *big.Int:
		return v, true
	}
	return nil, false
}

// folded is a key as a line of folded stacks.
func folded(key []Value) string {
	var plain, user, kernel []string
	stacks := false
	for _, v := range key {
		stack, ok := v.(Stack)
		if !ok {
			plain = append(plain, escape.Folded(plainText(v)))
			continue
		}
		stacks = true
		frames := &kernel
		if stack.User {
			frames = &user
		}
		if stack.Unfinished {
			*frames = append(*frames, escape.Unfinished)
		}
		for i := len(stack.Frames) - 1; i >= 0; i-- {
			*frames = append(*frames, escape.Folded(stack.Frames[i].Function))
		}
	}
	if stacks && len(user)+len(kernel) == 0 {
		user = []string{noFrames}
	}
	return strings.Join(slices.Concat(plain, user, kernel), ";")
}

// noFrames stands for a stack without frames.
const noFrames = "[no stack]"
