// Package python knows where interpreters of Python (CPython) keep the frames of functions of scripts, and what names
// and lines code has: by a table of versions, as the interpreter's structs are no interface and change with each.
//
// Memory of a process is foreign data: what is wrong there leaves frames without names.
package python

import (
	"encoding/binary"
	"runtime"

	"github.com/startrace/startrace/internal/elffile"
	"github.com/startrace/startrace/internal/wire"
)

// Which versions of Python are known and where each keeps its frames (`releases`), a row each.

// A release is a version: where it has what is read, in bytes behind the begin of each struct.
type release struct {
	main    uint64 // _PyRuntimeState.interpreters.main
	threads uint64 // PyInterpreterState.threads.head
	// Of PyThreadState: next, thread_id and native_thread_id; current_frame, or cframe, which has indirect - 1 bytes
	// behind its begin a current_frame.
	next, id, nativeID, frame, indirect uint64
	// Of _PyInterpreterFrame: f_code or f_executable, previous, prev_instr or instr_ptr; the byte that is last in the
	// outermost frame of a call of the evaluator, and whether that is of a function.
	code, previous, place, mark, last uint64
	isFrame                           bool
	object                            objects
}

// objects are the places in what code consists of.
type objects struct {
	// Of PyCodeObject: co_firstlineno, co_filename, co_name, co_linetable and co_code_adaptive.
	first, file, name, lines, begin int
	// plain and wide are the sizes of PyASCIIObject and PyCompactUnicodeObject, behind which text lies.
	plain, wide int
}

// releases are those that are known, by the second number. offsetof of each version's own headers gave
// them (Include/internal/pycore_runtime.h, pycore_interp.h, pycore_frame.h, Include/cpython/code.h).
var releases = map[int]release{
	11: {main: 48, threads: 16, next: 8, id: 152, nativeID: 160, frame: 56, indirect: 1 + 8, code: 32, previous: 48,
		place: 56, mark: 68, last: 1, isFrame: true, // is_entry
		object: objects{first: 72, file: 112, name: 120, lines: 136, begin: 184, plain: 48, wide: 72}},
	12: {main: 48, threads: 72, next: 8, id: 136, nativeID: 144, frame: 56, indirect: 1 + 0, code: 0, previous: 8,
		place: 56, mark: 70, last: 3, // FRAME_OWNED_BY_CSTACK
		object: objects{first: 68, file: 112, name: 120, lines: 136, begin: 192, plain: 40, wide: 56}},
	13: {main: 640, threads: 7344, next: 8, id: 152, nativeID: 160, frame: 72, code: 0, previous: 8,
		place: 56, mark: 70, last: 3,
		object: objects{first: 68, file: 112, name: 120, lines: 136, begin: 200, plain: 40, wide: 56}},
}

// Evaluator is the function that runs functions of scripts.
const Evaluator = "_PyEval_EvalFrameDefault"

// An Interpreter is one in a file, by the addresses that the file has.
type Interpreter struct {
	eval, size, runtime uint64
	minor               int
}

// Of finds the interpreter in a file; nil where there is none, or of no version that is known.
func Of(f *elffile.File) *Interpreter {
	state, ok, err := f.Section(".PyRuntime")
	if err != nil || !ok || f.ByteOrder() != binary.LittleEndian {
		return nil
	}
	version, err := f.Variable("Py_Version")
	if err != nil || version.Size != 8 {
		return nil // since 3.11
	}
	number, err := f.Code(version.Addr, 8)
	evaluators, failed := f.Lookup(Evaluator)
	if err != nil || len(number) != 8 || failed != nil || len(evaluators) == 0 {
		return nil
	}
	major, minor := number[3], int(number[2])
	l, known := releases[minor]
	if major != 3 || !known || minor >= 13 && !l.describes(state.Data) {
		return nil
	}
	return &Interpreter{evaluators[0].Addr, evaluators[0].Size, state.Addr, minor}
}

// describes compares a release with what interpreters since 3.13 say of themselves (_Py_DebugOffsets of
// Include/internal/pycore_runtime.h): one without a global lock has another one, and so can a later release.
func (l *release) describes(state []byte) bool {
	const cookie, words = "xdebugpy", 44
	if len(state) < 8*words || string(state[:len(cookie)]) != cookie {
		return false
	}
	const freeThreaded = 2
	o := &l.object
	for i, want := range map[int]uint64{freeThreaded: 0, 5: l.main - 8, 9: l.threads, 21: l.next, 23: l.frame, 24: l.id,
		25: l.nativeID, 29: l.previous, 30: l.code, 31: l.place, 33: l.mark, 35: uint64(o.file), 36: uint64(o.name),
		38: uint64(o.lines), 39: uint64(o.first), 43: uint64(o.begin)} {
		if binary.LittleEndian.Uint64(state[8*i:]) != want {
			return false
		}
	}
	return true
}

// Words are those of the table of a process (package wire, "Frames of Python") whose loader has added something to the
// addresses of the file.
func (i *Interpreter) Words(loaded uint64) (w [wire.PythonWords]uint64) {
	l := releases[i.minor]
	w[wire.PythonEval], w[wire.PythonSize] = i.eval+loaded, i.size
	w[wire.PythonMain], w[wire.PythonThreads] = i.runtime+loaded+l.main, l.threads
	w[wire.PythonNext], w[wire.PythonThread] = l.next, l.id
	if runtime.GOARCH == "arm64" { // where the C library keeps something before a thread's own variables
		w[wire.PythonThread] = l.nativeID
	}
	w[wire.PythonFrame], w[wire.PythonIndirect] = l.frame, l.indirect
	w[wire.PythonCode], w[wire.PythonPrevious], w[wire.PythonPlace] = l.code, l.previous, l.place
	w[wire.PythonMark], w[wire.PythonLast] = l.mark, l.last
	if l.isFrame {
		w[wire.PythonIsFrame] = 1
	}
	w[wire.PythonLine], w[wire.PythonBegin] = uint64(l.object.first), uint64(l.object.begin)
	w[wire.PythonFile] = uint64(l.object.file)
	w[wire.PythonWide], w[wire.PythonNarrow] = uint64(l.object.wide), uint64(l.object.wide-l.object.plain)
	w[wire.PythonVersion] = wire.StackPython | uint64(i.minor-wire.PythonOldest)<<wire.PythonVersionShift
	return w
}
