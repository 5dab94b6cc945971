#include "go_asm.h"
#include "textflag.h"

// startrace_entry asks whether there is a standard output, how many addresses there
// may be, how much data, and how many processes, then goes where programs of Go begin: see
// stdout.go, addresses.go and processes.go. The stack is as the kernel made it.
TEXT startrace_entry(SB),NOSPLIT|NOFRAME,$0
	MOVL $72, AX // fcntl
	MOVL $1, DI  // standard output
	MOVL $1, SI  // F_GETFD
	SYSCALL
	MOVQ AX, ·stdoutAtStart(SB)
	LEAQ ·limits(SB), BX

limit:
	MOVL $97, AX // getrlimit
	MOVQ limit_resource(BX), DI
	LEAQ ·limitNow(SB), SI
	SYSCALL
	TESTQ AX, AX
	JNE   enough
	MOVQ  ·limitNow(SB), AX
	CMPQ  AX, limit_least(BX)
	JCC   enough
	MOVQ  limit_refusal(BX), SI
	MOVQ  limit_refusal+8(BX), DX
	JMP   refuse

enough:
	ADDQ $limit__size, BX
	LEAQ ·limits+(const_limitCount*limit__size)(SB), AX
	CMPQ AX, BX
	JNE  limit

processes:
	MOVL  $56, AX     // clone
	MOVL  $0x4111, DI // CLONE_VM | CLONE_VFORK | SIGCHLD
	XORL  SI, SI      // on the same stack: nobody changes it
	XORL  DX, DX
	XORL  R10, R10
	XORL  R8, R8
	SYSCALL
	CMPQ  AX, $0
	JLT   failed
	JGT   made
	MOVL  $15, R12 // in the child: so many threads are to be there beside it

another:
	MOVL $56, AX      // clone
	MOVL $0x50f00, DI // CLONE_VM | _FS | _FILES | _SIGHAND | _THREAD | _SYSVSEM
	SYSCALL
	CMPQ AX, $0
	JEQ  stay
	JLT  few
	SUBL $1, R12
	JNE  another
	JMP  leave

few:
	MOVQ AX, ·processError(SB)

leave:
	MOVL $231, AX // exit_group, with which the threads end
	XORL DI, DI
	SYSCALL

stay:
	MOVL $34, AX // pause
	SYSCALL
	JMP  stay

failed:
	MOVQ AX, ·processError(SB)
	JMP  tried

made:
	MOVQ AX, DI
	MOVL $61, AX // wait4: the child has ended when its threads have
	XORL SI, SI
	XORL DX, DX
	XORL R10, R10
	SYSCALL

tried:
	MOVQ ·processError(SB), AX
	CMPQ AX, $-11 // EAGAIN
	JNE  begin
	MOVQ ·fewProcesses(SB), SI
	MOVQ ·fewProcesses+8(SB), DX

refuse:
	MOVL $1, AX // write
	MOVL $2, DI // standard error
	SYSCALL
	MOVL $231, AX // exit_group
	MOVL $1, DI
	SYSCALL

begin:
	JMP _rt0_amd64_linux(SB)
