#include "go_asm.h"
#include "textflag.h"

// startrace_entry asks whether there is a standard output, how many addresses there
// may be, how much data, and how many processes, then goes where programs of Go begin: see
// stdout.go, addresses.go and processes.go. The stack is as the kernel made it.
TEXT startrace_entry(SB),NOSPLIT|NOFRAME,$0
	MOVD $25, R8 // fcntl
	MOVD $1, R0  // standard output
	MOVD $1, R1  // F_GETFD
	SVC  $0
	MOVD R0, ·stdoutAtStart(SB)
	MOVD $·limits(SB), R20

limit:
	MOVD $163, R8 // getrlimit
	MOVD limit_resource(R20), R0
	MOVD $·limitNow(SB), R1
	SVC  $0
	CBNZ R0, enough
	MOVD ·limitNow(SB), R0
	MOVD limit_least(R20), R1
	CMP  R1, R0
	BHS  enough
	MOVD limit_refusal(R20), R1
	MOVD limit_refusal+8(R20), R2
	B    refuse

enough:
	ADD  $limit__size, R20
	MOVD $·limits+(const_limitCount*limit__size)(SB), R1
	CMP  R1, R20
	BNE  limit

processes:
	MOVD $220, R8    // clone
	MOVD $0x4111, R0 // CLONE_VM | CLONE_VFORK | SIGCHLD
	MOVD $0, R1      // on the same stack: nobody changes it
	MOVD $0, R2
	MOVD $0, R3
	MOVD $0, R4
	SVC  $0
	CMP  $0, R0
	BLT  failed
	BGT  made
	MOVD $15, R19 // in the child: so many threads are to be there beside it

another:
	MOVD $220, R8     // clone
	MOVD $0x50f00, R0 // CLONE_VM | _FS | _FILES | _SIGHAND | _THREAD | _SYSVSEM
	MOVD $0, R1
	MOVD $0, R2
	MOVD $0, R3
	MOVD $0, R4
	SVC  $0
	CMP  $0, R0
	BEQ  stay
	BLT  few
	SUB  $1, R19
	CBNZ R19, another
	B    leave

few:
	MOVD R0, ·processError(SB)

leave:
	MOVD $94, R8 // exit_group, with which the threads end
	MOVD $0, R0
	SVC  $0

stay:
	MOVD $73, R8 // ppoll, of nothing and for ever
	MOVD $0, R0
	MOVD $0, R1
	MOVD $0, R2
	MOVD $0, R3
	SVC  $0
	B    stay

failed:
	MOVD R0, ·processError(SB)
	B    tried

made:
	MOVD $260, R8 // wait4 of R0: the child has ended when its threads have
	MOVD $0, R1
	MOVD $0, R2
	MOVD $0, R3
	SVC  $0

tried:
	MOVD ·processError(SB), R0
	CMP  $-11, R0 // EAGAIN
	BNE  begin
	MOVD ·fewProcesses(SB), R1
	MOVD ·fewProcesses+8(SB), R2

refuse:
	MOVD $64, R8 // write
	MOVD $2, R0  // standard error
	SVC  $0
	MOVD $94, R8 // exit_group
	MOVD $1, R0
	SVC  $0

begin:
	B _rt0_arm64_linux(SB)
