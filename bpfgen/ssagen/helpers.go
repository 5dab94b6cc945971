package ssagen

// The numbers of the helpers of the kernel that programs call, and flags and errors of their calls.

// The helpers that programs call: include/uapi/linux/bpf.h. All are in 5.10
// where nothing else is said.
const (
	helperMapLookup          = 1
	helperMapUpdate          = 2
	helperMapDelete          = 3
	helperKtimeGetNS         = 5
	helperGetSMPProcessorID  = 8
	helperTailCall           = 12
	helperGetCurrentPidTgid  = 14
	helperGetCurrentUidGid   = 15
	helperGetCurrentComm     = 16
	helperGetCurrentTask     = 35
	helperGetStack           = 67
	helperGetCurrentCgroupID = 80
	helperFindVMA            = 180 // 5.17
	helperLoop               = 181 // 5.17
	helperSendSignal         = 109 // 5.3
	helperMapPush            = 87  // 4.20
	helperProbeReadUser      = 112
	helperProbeReadKernel    = 113
	helperProbeReadUserStr   = 114
	helperProbeReadKernelStr = 115
	helperRingbufOutput      = 130
	helperSeqWrite           = 127 // 5.7
	helperGetAttachCookie    = 174 // 5.15: for kprobes, uprobes, perf events

	helperGetCurrentAncestorCgroupID = 123 // 5.7

	helperGetCurrentTaskBTF = 158 // 5.11
	helperTaskPtRegs        = 175 // 5.15
)

// Flags of map updates.
const (
	updateAny     = 0
	updateNoExist = 1
	updateExist   = 2
)

// Flags of bpf_ringbuf_output.
const (
	ringNoWakeup    = 1
	ringForceWakeup = 2
)

// Errors of map updates and deletes.
const (
	errNoEnt = -2  // no such key
	errE2Big = -7  // no room in the map
	errExist = -17 // updateNoExist, and the key is there
)
