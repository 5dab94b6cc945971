package unwind

import (
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/startrace/startrace/internal/wire"
)

// interpreter is where an interpreter of Python keeps its frames: its evaluator is the function at 0x700.
var interpreter = [wire.PythonWords]uint64{wire.PythonEval: code + 0x700, wire.PythonSize: 0x100,
	wire.PythonMain: 0x10000, wire.PythonThreads: 0x10, wire.PythonNext: 8, wire.PythonThread: 0x18,
	wire.PythonFrame: 0x20, wire.PythonIndirect: 1 + 8, wire.PythonCode: 0, wire.PythonPrevious: 8,
	wire.PythonPlace: 16, wire.PythonMark: 24, wire.PythonLast: 3, wire.PythonIsFrame: 0, wire.PythonLine: 0x40,
	wire.PythonFile: 0x48, wire.PythonWide: 56, wire.PythonNarrow: 16, wire.PythonBegin: 0x80,
	wire.PythonVersion: wire.StackPython | 1<<wire.PythonVersionShift}

// codeAt puts the n-th code at an address, with its strings, and gives its identity. The name of its file has a length.
func codeAt(words map[int64]int64, at, n, length int64) uint64 {
	file, name, lines, hash := at+0x400, at+0x600, at+0x800, 0x1234567+n
	words[at+0x40], words[at+0x48], words[at+0x50], words[at+0x58], words[at+0x60] = 100+n, file, name, name, lines
	words[name+wire.PythonHash] = hash
	ascii := n & 1
	words[file+16], words[file+24], words[file+32] = length, 0, ascii<<wire.PythonASCII
	tail := file + 56 - 16*ascii + length - wire.PythonTail
	var end [3]uint64
	for i := range int64(3) {
		if _, taken := words[tail+8*i]; !taken {
			words[tail+8*i] = 0x6100 + i
		}
		if length >= wire.PythonTail || i == 2 {
			end[i] = uint64(words[tail+8*i])
		}
	}
	return wire.PythonIdentity(uint64(100+n), uint64(file), uint64(name), uint64(lines), uint64(hash), uint64(length),
		end[0], end[1], end[2])
}

// rest adds the words of a frame behind those that are looked at.
func rest(words map[int64]int64, frame int64) {
	for n := int64(4); n < wire.PythonFrameWords; n++ {
		words[frame+8*n] = 0
	}
}

// Frames of Python stand behind those of the evaluator that runs them. Where something cannot be read, or the thread is
// none of Python's, they are left out, and the walk goes on.
func TestWalkOfPython(t *testing.T) {
	at := func(function int64) int64 { return code + function<<8 + 0x50 }
	const own, object = 0x7f001000, 0x7f00_2000_0000
	frame := func(n int64) int64 { return 0x40000 + n<<8 }
	function := func(n, unit int64, identity uint64) int64 { // a frame of the n-th code
		return -1<<62 | 1<<wire.PythonVersionShift | int64(identity)<<wire.PythonIdentityShift |
			unit<<wire.PythonPlaceShift | (object+n<<12)>>wire.PythonAlign&math.MaxUint32
	}
	words := map[int64]int64{
		stack - 8: 0, stack: at(7), // a function of C, called by the evaluator,
		stack + 8: 0, stack + 16: at(2), // by another of C,
		stack + 24: 0, stack + 32: at(7), // by the evaluator,
		stack + 40: 0, stack + 48: at(3), // by the beginning
		0xfff8: 0x20000, 0x10000: 0x20000, 0x20010: 0x30000, // newest and main interpreter, its threads
		0x30008: 0x31000, 0x30018: own + 64, 0x31008: 0, 0x31018: own, 0x31020: 0x32000, 0x32008: frame(0),
	}
	// A call of the evaluator runs frames 0 and 1, the other one 3.
	for n, f := range []struct{ code, unit, mark int64 }{{1, 5, 0}, {2, -1, 1}, {0, 0, 3}, {3, 20000, 0}, {0, 0, 3}} {
		at := frame(int64(n))
		words[at], words[at+8], words[at+24] = object+f.code<<12, frame(int64(n)+1), f.mark
		words[at+16] = object + f.code<<12 + 0x80 + 2*f.unit
		rest(words, at)
	}
	words[frame(4)+8] = 0
	var identities [4]uint64
	for n := range int64(4) {
		identities[n] = codeAt(words, object+n<<12, n, 20+4*n)
	}
	rows := []row{{0x100, amd64(wire.UnwindSP, 0, 1)}, {0x200, amd64(wire.UnwindSP, 0, 2)}, {0x300, wire.UnwindStop},
		{0x700, amd64(wire.UnwindSP, 0, 2)}}
	first := []int64{function(1, 6, identities[1]), function(2, 0, identities[2])}
	last := []int64{function(3, wire.PythonFarAway, identities[3])}
	native := [][]int64{{at(1), at(7)}, {at(2), at(7)}, {at(3)}}
	for name, test := range map[string]struct {
		change map[int64]int64 // 0: cannot be read
		want   []int64
	}{
		"whole":                 {nil, slices.Concat(native[0], first, native[1], last, native[2])},
		"a thread that is none": {map[int64]int64{0x31018: own + 1}, slices.Concat(native...)},
		"no interpreter yet":    {map[int64]int64{0xfff8: 0, 0x10000: 0}, slices.Concat(native...)},
		"two interpreters":      {map[int64]int64{0xfff8: 0x21000}, slices.Concat(native...)},
		"a frame that cannot be read": {map[int64]int64{frame(3): 0},
			slices.Concat(native[0], first, native[1], native[2])},
		"code that cannot be read": {map[int64]int64{object + 2<<12 + 0x40: 0},
			slices.Concat(native[0], first[:1], native[1], native[2])},
	} {
		words := maps.Clone(words)
		for addr, word := range test.change {
			if words[addr] = word; word == 0 {
				delete(words, addr)
			}
		}
		got, why := walk(t, scene{convention: AMD64, rows: rows, pc: at(1), sp: stack, words: words,
			kernel: map[int64]int64{task + 48: own}})
		if !slices.Equal(got, test.want) || why != wire.UnwindReached {
			t.Errorf("%s: got %#x and reason %d, want %#x", name, got, why, test.want)
		}
	}
}

// A list of frames that leads in a circle, as hostile memory can hold it, ends at the limit.
func TestWalkOfPythonInACircle(t *testing.T) {
	const own, frame, object = 0x7f001000, 0x40000, 0x7f00_2000_0000
	words := map[int64]int64{stack: 0, stack + 8: code, 0xfff8: 0x20000, 0x10000: 0x20000, 0x20010: 0x30000,
		0x30018: own, 0x30020: 0x32000, 0x32008: frame,
		frame: object, frame + 8: frame, frame + 16: object, frame + 24: 0}
	rest(words, frame)
	codeAt(words, object, 0, 24)
	got, why := walk(t, scene{convention: AMD64, rows: []row{{0x700, amd64(wire.UnwindSP, 0, 2)}}, pc: code + 0x750,
		sp: stack, words: words, kernel: map[int64]int64{task + 48: own}})
	if len(got) != 20 || why != wire.UnwindLimit {
		t.Errorf("%d frames and reason %d, want 20 and %d", len(got), why, wire.UnwindLimit)
	}
}
