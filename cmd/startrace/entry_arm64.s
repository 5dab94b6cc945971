#include "textflag.h"

// startrace_entry asks whether there is a standard output, and how many addresses
// there may be, then goes where programs of Go begin: see stdout.go and
// addresses.go. The stack is as the kernel made it.
TEXT startrace_entry(SB),NOSPLIT|NOFRAME,$0
	MOVD $25, R8 // fcntl
	MOVD $1, R0  // standard output
	MOVD $1, R1  // F_GETFD
	SVC  $0
	MOVD R0, ·stdoutAtStart(SB)
	MOVD $163, R8 // getrlimit
	MOVD $9, R0   // RLIMIT_AS
	MOVD $·addressLimit(SB), R1
	SVC  $0
	CBNZ R0, begin
	MOVD ·addressLimit(SB), R0
	MOVD $819200000, R1
	CMP  R1, R0
	BHS  begin
	MOVD $64, R8 // write
	MOVD $2, R0  // standard error
	MOVD ·fewAddresses(SB), R1
	MOVD ·fewAddresses+8(SB), R2
	SVC  $0
	MOVD $94, R8 // exit_group
	MOVD $1, R0
	SVC  $0

begin:
	B _rt0_arm64_linux(SB)
