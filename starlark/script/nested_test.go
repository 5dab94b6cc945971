package script

import (
	"strings"
	"testing"
)

// waysToNest are ways to make a tuple or a record of x in which x stands twice. Each doubles how many elements there
// are, and none of them takes memory.
var waysToNest = []string{
	"x = (x, x)",
	"x = x, x",
	"x = (0, (x, x))[1]",
	"x, y = (x, x), 1",
	"x = (x,) * 2",
	"x = 2 * (x,)",
	"x = (x,) + (x,)",
	"y = (x,); y += y; x = y",
	"y = (x,); y *= 2; x = y",
	"y = [(x,)]; y[0] += y[0]; x = y[0]",
	"y = table(); y[0] = (x,); y[0] += (x,); x = y[0]",
	"x = tuple([x, x])",
	"x = zip([x], [x])[0]",
	"x = {x: x}.items()[0]",
	"f = {x: x}.items; x = f()[0]",
	"x = getattr({x: x}, 'items')()[0]",
	"x = (lambda *y: y)(x, x)",
	"x = (lambda a, *y: (a, y))(0, x, x)[1]",
	"x = (lambda y, z: (y, z))(x, x)",
	"x = doubled(x)",
	"x = rest(x, x)",
	"x = record(a = x, b = x)",
	"x = sum([(x,), (x,)], ())",
	"x = (x if x else x, [x][0])",
	"x = [(y, z) for y, z in [(x, x)]][0]",
}

// > | elements of a tuple or a record of user code that has others in it, each as often as it stands there | 4194304 |
func TestNestedTuplesAreBounded(t *testing.T) {
	for _, way := range waysToNest {
		code := "def doubled(x): return (x, x)\ndef rest(*all): return all\nx = 1\nfor i in range(60): " + way
		err := New(Options{}).RunCode([]string{code}, nil)
		if err == nil || !strings.Contains(err.Error(), "of more than 4194304 elements, each counted as often") {
			t.Errorf("%s: %v", way, err)
		} else if !strings.HasPrefix(err.Error(), "-e:") && !strings.Contains(err.Error(), "\n-e:") {
			t.Errorf("%s: no place in %v", way, err)
		}
	}
}

// A value that grows by one level at a time has as many elements as it has levels, and a large one that stands in
// others is not counted anew each time.
func TestNestedTuplesMayGrow(t *testing.T) {
	for _, code := range []string{
		"x = 0\nfor i in range(100000): x = (x, i)\nif len({x: 1}) != 1: fail()",
		"y, x = tuple(range(60000)), 0\nfor i in range(60): x = (y, x)\nif hash('') != 0: fail()",
		"x = tuple(range(1 << 23))\nif len(x) != 1 << 23: fail()",
		"x = [0]\nfor i in range(60): x = [x, x]\nif len(x) != 2: fail()",
		"x, y = 1, 2\nx, y = y, x\nif '%d %d' % (x, y) != '2 1' or x not in (y, x): fail()",
		"def f(*a): return sum(a), len(a), a[0], [i for i in a]\nif f(1, 2) != (3, 2, 1, [1, 2]): fail()",
	} {
		if err := New(Options{}).RunCode([]string{code}, nil); err != nil {
			t.Errorf("%s: %v", code, err)
		}
	}
}

// The interpreter writes all of a key that a dict does not have, which nothing can stop: the text of the largest one is
// some megabytes, and that of a larger one is never written, because there is none.
func TestLargestKeysAreWritten(t *testing.T) {
	for _, way := range waysToNest {
		code := "def doubled(x): return (x, x)\ndef rest(*all): return all\nx = 1\nfor i in range(19): " + way +
			"\n{}[x]"
		err := New(Options{}).RunCode([]string{code}, nil)
		if err == nil || !strings.Contains(err.Error(), " not in dict") &&
			!strings.Contains(err.Error(), "elements, each") {
			t.Errorf("%s: %.200v", way, err)
		} else if n := len(err.Error()); n > 64<<20 {
			t.Errorf("%s: a text of %d MB", way, n>>20)
		}
	}
}
