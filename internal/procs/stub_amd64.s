#include "textflag.h"

// What the stub finds in its image: see stub.go.
#define params $0x400078
#define START  0(R12)
#define REPORT 4(R12)
#define IMAGE  8(R12)
#define WHOAMI 12(R12)
#define NAME   16(R12)

// Two words below the stack, which nothing else uses: there are no calls and no
// signal handlers.
#define SCRATCH -64(BX)
#define NUMBER  -60(BX)

#define CALL(number) \
	MOVL $number, AX; \
	SYSCALL

// fcntl(fd, F_SETFD, FD_CLOEXEC). It fails for WHOAMI where there is none.
#define CLOSE_ON_EXEC(fd) \
	MOVL fd, DI; \
	MOVL $2, SI; \
	MOVL $1, DX; \
	CALL(72)

// write(REPORT, NUMBER, 4)
#define TELL \
	MOVL REPORT, DI; \
	LEAQ NUMBER, SI; \
	MOVL $4, DX; \
	CALL(1)

// func stubCode() *[stubSize]byte
TEXT ·stubCode(SB), NOSPLIT, $0-8
	LEAQ ·stub(SB), AX
	MOVQ AX, ret+0(FP)
	RET

// stub is never called here: its instructions become a program of their own.
TEXT ·stub(SB), NOSPLIT|NOFRAME, $0-0
	MOVQ SP, BX // argc, argv, environment
	MOVQ params, R12

	// prctl(PR_SET_NAME, NAME)
	MOVL $15, DI
	LEAQ NAME, SI
	CALL(157)
	CLOSE_ON_EXEC(START)
	CLOSE_ON_EXEC(REPORT)
	CLOSE_ON_EXEC(IMAGE)
	CLOSE_ON_EXEC(WHOAMI)

	MOVL  WHOAMI, AX
	MOVL  AX, SCRATCH
	MOVL  $0, NUMBER
	TESTL AX, AX
	JMI   ready

	// bpf(BPF_PROG_TEST_RUN, {SCRATCH: prog_fd, NUMBER: retval}, 8)
	MOVL  $10, DI
	LEAQ  SCRATCH, SI
	MOVL  $8, DX
	CALL(321)
	TESTQ AX, AX
	JNE   gone

ready:
	TELL

wait:
	// read(START, SCRATCH, 1), again if EINTR
	MOVL START, DI
	LEAQ SCRATCH, SI
	MOVL $1, DX
	CALL(0)
	CMPQ AX, $-4
	JEQ  wait
	CMPQ AX, $1
	JNE  gone

	// execve(argv[1], &argv[2], environment)
	MOVQ 16(BX), DI
	LEAQ 24(BX), SI
	MOVQ 0(BX), DX
	LEAQ 16(BX)(DX*8), DX
	CALL(59)
	NEGL AX
	MOVL AX, NUMBER
	TELL

gone:
	// exit_group(exitUnstarted)
	MOVL $127, DI
	CALL(231)
	UNDEF
