#include "textflag.h"

// startrace_entry asks whether there is a standard output, then goes where
// programs of Go begin: see stdout.go. The stack is as the kernel made it.
TEXT startrace_entry(SB),NOSPLIT|NOFRAME,$0
	MOVD $25, R8 // fcntl
	MOVD $1, R0  // standard output
	MOVD $1, R1  // F_GETFD
	SVC  $0
	MOVD R0, ·stdoutAtStart(SB)
	B    _rt0_arm64_linux(SB)
