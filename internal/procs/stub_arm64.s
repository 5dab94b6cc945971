#include "textflag.h"

// What the stub finds in its image: see stub.go.
#define START  0(R20)
#define REPORT 4(R20)
#define IMAGE  8(R20)
#define WHOAMI 12(R20)
#define NAME   16

// Two words below the stack, which nothing else uses: there are no calls and no
// signal handlers.
#define SCRATCH -64(R19)
#define NUMBER  -60(R19)

#define CALL(number) \
	MOVD $number, R8; \
	SVC

// fcntl(fd, F_SETFD, FD_CLOEXEC). It fails for WHOAMI where there is none.
#define CLOSE_ON_EXEC(fd) \
	MOVW fd, R0; \
	MOVD $2, R1; \
	MOVD $1, R2; \
	CALL(25)

// write(REPORT, NUMBER, 4)
#define TELL \
	MOVW REPORT, R0; \
	SUB  $60, R19, R1; \
	MOVD $4, R2; \
	CALL(64)

// func stubCode() *[stubSize]byte
TEXT ·stubCode(SB), NOSPLIT, $0-8
	MOVD $·stub(SB), R0
	MOVD R0, ret+0(FP)
	RET

// stub is never called here: its instructions become a program of their own.
TEXT ·stub(SB), NOSPLIT|NOFRAME, $0-0
	MOVD RSP, R19         // argc, argv, environment
	MOVD $0x400000, R20
	ADD  $0x78, R20

	// prctl(PR_SET_NAME, NAME)
	MOVD $15, R0
	ADD  $NAME, R20, R1
	CALL(167)
	CLOSE_ON_EXEC(START)
	CLOSE_ON_EXEC(REPORT)
	CLOSE_ON_EXEC(IMAGE)
	CLOSE_ON_EXEC(WHOAMI)

	MOVW WHOAMI, R3
	MOVW R3, SCRATCH
	MOVW ZR, NUMBER
	TBNZ $31, R3, ready

	// bpf(BPF_PROG_TEST_RUN, {SCRATCH: prog_fd, NUMBER: retval}, 8)
	MOVD $10, R0
	SUB  $64, R19, R1
	MOVD $8, R2
	CALL(280)
	CBNZ R0, gone

ready:
	TELL

wait:
	// read(START, SCRATCH, 1), again if EINTR
	MOVW START, R0
	SUB  $64, R19, R1
	MOVD $1, R2
	CALL(63)
	CMP  $-4, R0
	BEQ  wait
	CMP  $1, R0
	BNE  gone

	// execve(argv[1], &argv[2], environment)
	MOVD 0(R19), R3
	ADD  $16, R19, R2
	ADD  R3<<3, R2, R2
	MOVD 16(R19), R0
	ADD  $24, R19, R1
	CALL(221)
	NEGW R0, R0
	MOVW R0, NUMBER
	TELL

gone:
	// exit_group(exitUnstarted)
	MOVD $127, R0
	CALL(94)
	UNDEF
