package explain

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/cilium/ebpf/asm"
)

// The kernel functions (helpers) that programs call, in words, a row each (`helperWords`).

// helperWords say what the kernel's functions do that programs call (man 7
// bpf-helpers).
var helperWords = map[asm.BuiltinFunc]string{
	asm.FnMapLookupElem:              "finds an entry of a table",
	asm.FnMapUpdateElem:              "puts an entry into a table",
	asm.FnMapDeleteElem:              "takes an entry out of a table",
	asm.FnProbeReadKernel:            "reads memory of the kernel; a bad address is no harm",
	asm.FnProbeReadKernelStr:         "reads a string of the kernel",
	asm.FnProbeReadUser:              "reads memory of the traced program",
	asm.FnProbeReadUserStr:           "reads a string of the traced program",
	asm.FnKtimeGetNs:                 "the time, in ns since boot",
	asm.FnGetCurrentPidTgid:          "the numbers of the thread and its process",
	asm.FnGetCurrentUidGid:           "the numbers of the user and the group",
	asm.FnGetCurrentComm:             "the name of the thread",
	asm.FnGetCurrentTask:             "the kernel's description of the thread",
	asm.FnGetCurrentCgroupId:         "the cgroup of the thread",
	asm.FnGetSmpProcessorId:          "the number of the CPU",
	asm.FnRingbufOutput:              "sends an event",
	asm.FnRingbufReserve:             "makes room for an event",
	asm.FnRingbufSubmit:              "sends an event whose room was made before",
	asm.FnRingbufDiscard:             "gives back the room of an event",
	asm.FnTailCall:                   "goes on in another program",
	asm.FnLoop:                       "runs a piece of the program several times",
	asm.FnGetStackid:                 "the number of the stack",
	asm.FnGetStack:                   "the stack",
	asm.FnGetFuncIp:                  "the address of the traced function",
	asm.FnGetAttachCookie:            "which of its points the program runs for",
	asm.FnSendSignal:                 "sends a signal",
	asm.FnOverrideReturn:             "makes a kernel function return at once",
	asm.FnProbeWriteUser:             "writes memory of the traced program",
	asm.FnPerfEventOutput:            "sends an event",
	asm.FnPerfEventReadValue:         "reads a counter of the CPU",
	asm.FnPerfProgReadValue:          "reads the counter that caused the event",
	asm.FnGetNsCurrentPidTgid:        "the numbers of the thread and its process, as its container sees them",
	asm.FnSnprintf:                   "makes a text",
	asm.FnSeqWrite:                   "writes what the reader of an iterator gets",
	asm.FnMapPushElem:                "keeps an event among the last",
	asm.FnForEachMapElem:             "runs a piece of the program for each entry of a table",
	asm.FnGetFuncArg:                 "an argument of the traced function",
	asm.FnGetFuncRet:                 "the result of the traced function",
	asm.FnCopyFromUser:               "reads memory of the traced program, also what is not loaded",
	asm.FnTaskPtRegs:                 "the registers of a thread",
	asm.FnFindVma:                    "the memory area of an address",
	asm.FnDPath:                      "the path of a file",
	asm.FnKtimeGetBootNs:             "the time, in ns since boot and with sleep",
	asm.FnGetPrandomU32:              "a random number",
	asm.FnProbeRead:                  "reads memory",
	asm.FnProbeReadStr:               "reads a string",
	asm.FnGetCurrentTaskBtf:          "the kernel's description of the thread",
	asm.FnMapLookupPercpuElem:        "finds an entry of another CPU",
	asm.FnGetNumaNodeId:              "the number of the memory node",
	asm.FnGetCurrentAncestorCgroupId: "a cgroup above that of the thread",
}

// helpers counts the calls of kernel functions in all programs, the most
// frequent first.
func (in *Input) helpers() (out []Helper) {
	calls := map[asm.BuiltinFunc]int{}
	for _, p := range in.Unit.Spec.Programs {
		for _, ins := range p.Instructions {
			if ins.IsBuiltinCall() {
				calls[asm.BuiltinFunc(ins.Constant)]++
			}
		}
	}
	for fn, n := range calls {
		out = append(out, Helper{helperName(fn), helperWords[fn], n})
	}
	slices.SortFunc(out, func(a, b Helper) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), strings.Compare(a.Name, b.Name))
	})
	return out
}

// helperName is the name that the kernel's documents use.
func helperName(fn asm.BuiltinFunc) string {
	var b strings.Builder
	b.WriteString("bpf")
	for _, c := range strings.TrimPrefix(fn.String(), "Fn") {
		if unicode.IsUpper(c) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(c))
	}
	return b.String()
}
