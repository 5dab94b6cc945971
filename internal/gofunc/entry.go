package gofunc

// Where a probe at the entry of a function of Go stands: behind the check of the stack.

// How far the look at an entry goes: the longest check has eight instructions,
// and before morestack every register of arguments is stored, behind it loaded.
const (
	checkLength = 16
	blockLength = 160
)

// Entry gives where a probe on the function's entry belongs: behind the check
// of the stack. On amd64 a function begins as
//
//	entry:  CMPQ SP, 16(R14)          // is there room? (the limit is in g)
//	        JLS  grow
//	        PUSHQ BP                  // ← the probe
//	        …
//	grow:   MOVQ AX, 8(SP)            // arguments to memory
//	        CALL runtime.morestack_noctxt
//	        MOVQ 8(SP), AX
//	        JMP  entry
//
// A call that finds too little room executes the entry twice, and would be
// counted twice. At the place behind the branch the arguments are still in
// their registers and the stack pointer is as it was: the check uses R12 (R16,
// R17 on arm64), the frame comes later.
//
// The check has many forms (small, large and huge frames, before 1.17 with g
// from thread storage), so it is known by what it leads to: a branch near the
// entry to a block that calls and then jumps back to the entry. Nothing else
// does: the entry of a function that calls is its prologue, never a loop. A
// function without such a branch (a leaf, assembly) is probed at 0.
func Entry(arch string, code []byte) (int, error) {
	next, err := decoder(arch, code)
	if err != nil {
		return 0, err
	}
	entry, at := 0, 0
	for range checkLength {
		if at >= len(code) {
			break
		}
		in, err := next(code, at)
		if err != nil || in.kind == ret || in.kind == jump || in.kind == leave || in.kind == leaveByMemory ||
			in.kind == call {
			break // what was found stands
		}
		at += in.size
		if in.kind == branch && in.target > at && growsStack(next, code, in.target) {
			entry = at
		}
	}
	return entry, nil
}

// growsStack says whether a block calls and jumps back to the entry.
func growsStack(next decode, code []byte, at int) bool {
	calls := 0
	for range blockLength {
		if at < 0 || at >= len(code) {
			return false
		}
		in, err := next(code, at)
		switch {
		case err != nil || in.kind == ret || in.kind == leave || in.kind == leaveByMemory || in.kind == data:
			return false
		case in.kind == call:
			calls++
		case in.kind == jump:
			return calls == 1 && in.target == 0
		}
		at += in.size
	}
	return false
}
