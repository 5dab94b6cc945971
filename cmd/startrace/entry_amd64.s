#include "textflag.h"

// startrace_entry asks whether there is a standard output, then goes where
// programs of Go begin: see stdout.go. The stack is as the kernel made it.
TEXT startrace_entry(SB),NOSPLIT|NOFRAME,$0
	MOVL $72, AX // fcntl
	MOVL $1, DI  // standard output
	MOVL $1, SI  // F_GETFD
	SYSCALL
	MOVQ AX, ·stdoutAtStart(SB)
	JMP  _rt0_amd64_linux(SB)
