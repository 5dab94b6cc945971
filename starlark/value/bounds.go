package value

import (
	"fmt"
	"math/big"
	"slices"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// How large lists, texts and results of operators may become (`MostElements`, `MostText`), and the messages of that.

// What a script makes takes memory, and much of it is known before it is made:
// list(range(1 << 62)), [0] * (1 << 40). That is refused at its place, instead of
// using up the machine's memory or ending the process.
const (
	// MostElements is how many elements a list, tuple, set or dict gets at once. They
	// take 16 bytes each.
	MostElements = 1 << 26
	// MostText is how many bytes a string gets at once, mostTogether how many elements an operator gives a list or a
	// tuple. What is doubled again and again has so many within a second, and takes 64 MB then.
	MostText     = 1 << 26
	mostTogether = 1 << 22
	// manyElements is how many a list must get at once, so that all that it then has is compared with mostTogether:
	// one that grows by few of them may get longer, as long as there is memory for it.
	manyElements = 1 << 12
)

// CheckElements refuses what makes something of all elements of v, if these are too
// many. What goes over them one at a time needs no such check.
func CheckElements(v starlark.Value) error {
	if n := starlark.Len(v); n > MostElements {
		return fmt.Errorf("this goes over %d elements at once, and %d are the most: they take memory, or the time; "+
			"want fewer, or a loop that ends: for x in …: …; break", n, MostElements)
	}
	return nil
}

// checkRepeat refuses x * n with too large a result.
func checkRepeat(x, y starlark.Value) error {
	if _, first := x.(starlark.Int); first {
		x, y = y, x
	}
	times, isInt := y.(starlark.Int)
	most, unit := mostTogether, "elements"
	switch x.(type) {
	case starlark.String, starlark.Bytes, Bytes:
		most, unit = MostText, "bytes"
	case *starlark.List, starlark.Tuple:
	default:
		return nil
	}
	if !isInt {
		return nil
	}
	if times.Sign() < 0 { // the interpreter takes no large negative ones
		return nil
	}
	size := new(big.Int).Mul(times.BigInt(), big.NewInt(int64(starlark.Len(x))))
	if size.Cmp(big.NewInt(int64(most))) <= 0 {
		return nil
	}
	return fmt.Errorf("this would be a %s of %s %s, and %d are the most that are made at once: want a smaller number",
		x.Type(), size, unit, most)
}

// checkTogether refuses x + y with too large a result.
func checkTogether(x, y starlark.Value) error {
	size := uint64(max(starlark.Len(x), 0)) + uint64(max(starlark.Len(y), 0))
	switch x.(type) {
	case starlark.String, starlark.Bytes, Bytes:
		if size > MostText {
			return fmt.Errorf("this would be a %s of %d bytes, and %d are the most that are made at once: keep its "+
				"parts in a list, or only what is needed of them", x.Type(), size, MostText)
		}
	case *starlark.List, starlark.Tuple:
		if size > mostTogether {
			return tooLong(x, size)
		}
	}
	return nil
}

// checkLonger refuses to add so many elements to a list at once, if it would be too long.
func checkLonger(l *starlark.List, n uint64) error {
	if size := uint64(l.Len()) + n; n >= manyElements && size > mostTogether {
		return tooLong(l, size)
	}
	return nil
}

func tooLong(list starlark.Value, size uint64) error {
	return fmt.Errorf("this would be a %s of %d elements, and %d are the most that are made at once: keep fewer of "+
		"them, or lists of lists", list.Type(), size, mostTogether)
}

// checkOperands is what is known of the size of x op y.
func checkOperands(op syntax.Token, x, y starlark.Value) error {
	switch op {
	case syntax.PLUS:
		return checkTogether(x, y)
	case syntax.STAR:
		return checkRepeat(x, y)
	}
	return nil
}

// Takes is about how many bytes x op y takes, if that is as large as both together or
// a multiple: of what is repeated, or put together. It is 0 of all else.
func Takes(op syntax.Token, x, y starlark.Value) uint64 {
	switch op {
	case syntax.PLUS:
		if n := sizeOf(x); n > 0 {
			return newText(n+sizeOf(y), textIn(x), textIn(y))
		}
	case syntax.STAR:
		if _, first := x.(starlark.Int); first {
			x, y = y, x
		}
		if times, ok := y.(starlark.Int); ok {
			n, _ := times.Uint64() // a huge one has been refused
			return newText(sizeOf(x)*n, textIn(x))
		}
	}
	return 0
}

// textIn is v, if it is a string.
func textIn(v starlark.Value) string {
	s, _ := starlark.AsString(v)
	return s
}

// sizeOf is how many bytes the text or the list of elements takes.
func sizeOf(v starlark.Value) uint64 {
	switch v := v.(type) {
	case starlark.String:
		return uint64(len(v))
	case Bytes:
		return uint64(len(v))
	case *starlark.List:
		return 16 * uint64(v.Len())
	case starlark.Tuple:
		return 16 * uint64(len(v))
	}
	return 0
}

// newText is how many bytes it takes to make a text of n bytes of parts. One of which something is known is assembled,
// copied, and noted in a buffer of its own.
func newText(n uint64, parts ...string) uint64 {
	if n >= largeResult && slices.ContainsFunc(parts, func(s string) bool { return !isNothing(s) }) {
		return 3 * n
	}
	return n
}

// roomKey is where a thread has what SetRoom was given.
const roomKey = "room"

// SetRoom says what is asked whether there is room for so many bytes: it gives an error where there is none. nil: there
// is room for all.
func SetRoom(th *starlark.Thread, room func(bytes uint64) error) { th.SetLocal(roomKey, room) }

// largeResult is from how many bytes on it is asked whether there is room.
const largeResult = 1 << 20

// CheckRoom is an error where so many bytes would be too much.
func CheckRoom(th *starlark.Thread, n uint64) error {
	if n < largeResult {
		return nil
	}
	if room, ok := th.Local(roomKey).(func(uint64) error); ok && room != nil {
		return room(n)
	}
	return nil
}

// checkText refuses a string of n bytes, if that is too long or there is no room for it.
func checkText(th *starlark.Thread, n uint64) error {
	if n > MostText {
		return fmt.Errorf("this would be a string of %d bytes, and %d are the most that are made at once", n, MostText)
	}
	return CheckRoom(th, n)
}

// checkJoined refuses sep.join(parts) with too long a result.
func checkJoined(th *starlark.Thread, sep string, parts []string) error {
	var n uint64
	if len(parts) > 1 {
		n = uint64(len(sep)) * uint64(len(parts)-1)
	}
	for _, part := range parts {
		n += uint64(len(part))
	}
	if err := checkText(th, n); err != nil || n < largeResult {
		return err
	}
	return CheckRoom(th, newText(n, append(parts, sep)...))
}
