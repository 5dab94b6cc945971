package wire

// What walks need of an interpreter of Python, in words.

// Frames of Python
//
// An interpreter of Python runs functions of scripts by one function of its own, the evaluator. Behind each frame of
// the evaluator a walk puts the frames of the functions that this call of it runs, which the interpreter keeps in a
// list of its own. Where it has the list stands behind the entries of the table of the process, as words of 64 bits;
// PythonEval and PythonSize are 0 where there is no interpreter that is known.
//
//	*main → interpreter, interpreter + threads → thread, thread + next → thread, …
//	thread + frame → frame, frame + previous → frame, …
//	or thread + frame → x, x + indirect - 1 → frame
const (
	PythonEval     = iota // the address of the evaluator
	PythonSize            // its bytes
	PythonMain            // the address of the pointer to the main interpreter; the newest one's is before it
	PythonThreads         // in an interpreter: the pointer to its first thread
	PythonNext            // in a thread: the pointer to the next one
	PythonThread          // in a thread: which thread of the system it is
	PythonFrame           // in a thread: the pointer to the innermost frame, or to what has it
	PythonIndirect        // 0, or 1 and where what PythonFrame leads to has the pointer to the frame
	PythonCode            // in a frame: the pointer to the code
	PythonPrevious        // in a frame: the pointer to the frame of the caller
	PythonPlace           // in a frame: the pointer to the instruction
	PythonMark            // in a frame: a byte
	PythonLast            // that has this value in the outermost frame of a call of the evaluator,
	PythonIsFrame         // which is that of a function if this is 1, and of none if it is 0
	PythonLine            // in code: the number of its first line, 4 bytes
	PythonFile            // in code: the pointers to its file, its name, a longer name, and its table of lines
	PythonWide            // in a string: where its text begins,
	PythonNarrow          // which is this earlier where all is ASCII
	PythonBegin           // in code: where its instructions begin
	PythonVersion         // the version: see PythonVersionShift
	PythonWords
)

// PythonFrameWords is how many words of a frame have all that is read of one, in each version.
const PythonFrameWords = 9

// An address of a user stack that has both bits of StackPython is the frame of a function of Python. The others say
// which instruction of which code it is:
//
//	3 2 | version 2 | identity 15 | instruction 13 | lowest bits of the address of the code / 16 32
//
// The version is the second number of Python's less PythonOldest. Instructions have 2 bytes; the first is 1, and 0 is
// before it, where the function has just been called. PythonFarAway is one that the bits cannot say. The identity tells
// the code from other code that the interpreter puts at the address later: see PythonIdentity.
const (
	StackPython         = 3 << 62
	PythonVersionShift  = 60
	PythonVersionBits   = 2
	PythonIdentityShift = 45
	PythonIdentityBits  = 15
	PythonPlaceShift    = 32
	PythonPlaceBits     = 13
	PythonFarAway       = 1<<PythonPlaceBits - 1
	PythonAlign         = 4

	PythonOldest = 11
)

// What the identity of code is made of lies in its strings: a string has its length, its hash and its state, a word
// each, from PythonLength on. PythonASCII is a bit of the state.
const (
	PythonLength = 16
	PythonHash   = 24
	PythonASCII  = 6
	// PythonTail is of how many bytes at the end of the file's name the identity is made. Of a shorter name it is made
	// of the last 8.
	PythonTail = 24
)

// PythonMix is what words are multiplied by.
const PythonMix = 0x9e3779b97f4a7c15

// PythonIdentity is the identity of code: of the number of its first line, the addresses of its file, name and table of
// lines, the hash of its name, the length of its file's name and the words at the end of that, 0 for those that are
// none. Modules that are loaded one after the other lie at one address, with all but the end of the file's name alike.
func PythonIdentity(words ...uint64) (mix uint64) {
	for _, w := range words {
		mix = (mix ^ w) * PythonMix
	}
	return mix >> (64 - PythonIdentityBits)
}
