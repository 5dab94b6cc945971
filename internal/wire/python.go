package wire

// Frames of Python
//
// An interpreter of Python runs functions of scripts by one function of its own, the evaluator. Behind each frame of
// the evaluator a walk puts the frames of the functions that this call of it runs, which the interpreter keeps in a
// list of its own. Where it has the list stands behind the entries of the table of the process, as words of 64 bits;
// PythonEval and PythonSize are 0 where there is no interpreter that is known.
//
//	*main → interpreter, interpreter + threads → thread, thread + next → thread, …
//	thread + frame → frame, frame + previous → frame, …          or thread + frame → x, x + indirect - 1 → frame
const (
	PythonEval     = iota // the address of the evaluator
	PythonSize            // its bytes
	PythonMain            // the address of the pointer to the main interpreter, behind that to the newest one
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
	PythonSerial          // in code: a number that differs from code to code, 4 bytes
	PythonName            // in code: the pointer to its name
	PythonBegin           // in code: where its instructions begin
	PythonVersion         // the version: see PythonVersionShift
	PythonWords
)

// An address of a user stack that has both bits of StackPython is the frame of a function of Python. The others say
// which instruction of which code it is:
//
//	3 2 | version 2 | mark of the code 4 | instruction 13 | address of the code / 16 43
//
// The version is the second number of Python's less PythonOldest. The mark are the lowest bits of the first line,
// PythonSerial and the hash that the name keeps, each bit of them 1 if an odd number of these three has 1 there. It
// tells most code apart that lies at one address in turns. Instructions have 2 bytes; the first is 1, and 0 is
// before it, where the function has just been called. PythonFarAway is one that the bits cannot say.
const (
	StackPython        = 3 << 62
	PythonVersionShift = 60
	PythonVersionBits  = 2
	PythonMarkShift    = 56
	PythonMarkBits     = 4
	PythonPlaceShift   = 43
	PythonPlaceBits    = 13
	PythonFarAway      = 1<<PythonPlaceBits - 1
	PythonAlign        = 4
	PythonHash         = 24 // in a name: its hash

	PythonOldest = 11
)
