#include "textflag.h"

// startrace_entry asks whether there is a standard output, and how many addresses
// there may be, then goes where programs of Go begin: see stdout.go and
// addresses.go. The stack is as the kernel made it.
TEXT startrace_entry(SB),NOSPLIT|NOFRAME,$0
	MOVL $72, AX // fcntl
	MOVL $1, DI  // standard output
	MOVL $1, SI  // F_GETFD
	SYSCALL
	MOVQ AX, ·stdoutAtStart(SB)
	MOVL $97, AX // getrlimit
	MOVL $9, DI  // RLIMIT_AS
	LEAQ ·addressLimit(SB), SI
	SYSCALL
	TESTQ AX, AX
	JNE   begin
	MOVQ  ·addressLimit(SB), AX
	CMPQ  AX, $819200000
	JCC   begin
	MOVL $1, AX // write
	MOVL $2, DI // standard error
	MOVQ ·fewAddresses(SB), SI
	MOVQ ·fewAddresses+8(SB), DX
	SYSCALL
	MOVL $231, AX // exit_group
	MOVL $1, DI
	SYSCALL

begin:
	JMP _rt0_amd64_linux(SB)
