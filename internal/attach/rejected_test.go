package attach

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cilium/ebpf/asm"

	"github.com/startrace/startrace/bpfgen"
	"github.com/startrace/startrace/bpfgen/tree"
)

// A rejected program and what is said about it in plain words. testdata/verifier
// has what kernels wrote about the same programs: STARTRACE_KEEP_LOGS=FOLDER makes
// TestRejected write it there.
type rejectedProgram struct {
	name  string
	words string
	code  func() asm.Instructions
}

// value loads the address of the 8 bytes of the sites map.
func mapValue(r asm.Register) asm.Instruction {
	return asm.LoadMapValue(r, 0, 0).WithReference(bpfgen.MapSites)
}

// end is how programs end.
func end(code ...asm.Instruction) asm.Instructions {
	return append(code, asm.Mov.Imm(asm.R0, 0), asm.Return())
}

// argument loads what the verifier knows nothing about.
func argument(r asm.Register) asm.Instruction { return asm.LoadMem(r, asm.R1, 0, asm.DWord) }

// lookup calls the lookup of entry 9 of the sites map: that it has entry 0 is
// known since 6.14.
func lookup() asm.Instructions {
	return asm.Instructions{
		asm.StoreImm(asm.RFP, -4, 9, asm.Word), asm.Mov.Reg(asm.R2, asm.RFP), asm.Add.Imm(asm.R2, -4),
		asm.LoadMapPtr(asm.R1, 0).WithReference(bpfgen.MapSites), asm.FnMapLookupElem.Call(),
	}
}

const (
	wordsLimit   = "not known to have a limit"
	wordsBeyond  = "beyond its end"
	wordsMissing = "may be missing"
	wordsNumber  = "a number is used as an address"
	wordsStack   = "memory on the stack"
	wordsUnset   = "not computed on some way"
	wordsLoop    = "a loop is not known to end"
	wordsHelper  = "does not offer to this kind of probe"
	wordsAligned = "not a multiple of the size"
	wordsKind    = "an argument of the wrong kind"
	wordsEvent   = "a part of the event"
	wordsForm    = "malformed"
	wordsUnknown = "this kernel does not know"
)

var rejectedPrograms = []rejectedProgram{
	{"unbounded", wordsLimit, func() asm.Instructions {
		return end(argument(asm.R2), mapValue(asm.R3), asm.Add.Reg(asm.R3, asm.R2),
			asm.LoadMem(asm.R0, asm.R3, 0, asm.DWord))
	}},
	{"unboundedstack", wordsLimit, func() asm.Instructions {
		return end(argument(asm.R2), asm.Mov.Reg(asm.R3, asm.RFP), asm.Add.Reg(asm.R3, asm.R2),
			asm.LoadMem(asm.R0, asm.R3, 0, asm.DWord))
	}},
	{"negative", wordsLimit, func() asm.Instructions {
		code := asm.Instructions{argument(asm.R2), asm.JSGT.Imm(asm.R2, 8, "out"), mapValue(asm.R1),
			asm.Mov.Imm(asm.R3, 0), asm.FnProbeReadKernel.Call()}
		return append(code, asm.Mov.Imm(asm.R0, 0).WithSymbol("out"), asm.Return())
	}},
	{"beyond", wordsBeyond, func() asm.Instructions {
		return end(mapValue(asm.R3), asm.LoadMem(asm.R0, asm.R3, 4096, asm.DWord))
	}},
	{"beyondvariable", wordsBeyond, func() asm.Instructions {
		return end(argument(asm.R2), mapValue(asm.R3), asm.And.Imm(asm.R2, 0xfff), asm.Add.Reg(asm.R3, asm.R2),
			asm.LoadMem(asm.R0, asm.R3, 0, asm.DWord))
	}},
	{"missing", wordsMissing, func() asm.Instructions {
		return append(lookup(), end(asm.LoadMem(asm.R0, asm.R0, 0, asm.DWord))...)
	}},
	{"missingsum", wordsMissing, func() asm.Instructions {
		return append(lookup(), end(asm.Add.Imm(asm.R0, 4))...)
	}},
	{"number", wordsNumber, func() asm.Instructions {
		return end(asm.Mov.Imm(asm.R3, 16), asm.LoadMem(asm.R0, asm.R3, 0, asm.DWord))
	}},
	{"times", wordsNumber, func() asm.Instructions {
		return end(mapValue(asm.R3), asm.Mul.Imm(asm.R3, 8), asm.LoadMem(asm.R0, asm.R3, 0, asm.DWord))
	}},
	{"stack", wordsStack, func() asm.Instructions {
		return end(asm.Mov.Imm(asm.R0, 0), asm.StoreMem(asm.RFP, -520, asm.R0, asm.DWord))
	}},
	{"stackhelper", wordsStack, func() asm.Instructions {
		return end(asm.Mov.Reg(asm.R1, asm.RFP), asm.Add.Imm(asm.R1, -8), asm.Mov.Imm(asm.R2, 16),
			asm.Mov.Imm(asm.R3, 0), asm.FnProbeReadKernel.Call())
	}},
	{"unset", wordsUnset, func() asm.Instructions { return end(asm.Mov.Reg(asm.R1, asm.R4)) }},
	{"endless", wordsLoop, func() asm.Instructions {
		code := asm.Instructions{asm.Mov.Imm(asm.R2, 0), asm.Mov.Imm(asm.R0, 0).WithSymbol("again"),
			asm.JEq.Imm(asm.R2, 0, "again")}
		return append(code, asm.Return())
	}},
	{"helper", wordsHelper, func() asm.Instructions {
		return end(asm.Mov.Imm(asm.R2, 0), asm.FnRedirect.Call())
	}},
	{"misaligned", wordsAligned, func() asm.Instructions {
		return end(asm.Mov.Imm(asm.R0, 0), asm.StoreMem(asm.RFP, -13, asm.R0, asm.DWord))
	}},
	{"kind", wordsKind, func() asm.Instructions {
		return end(asm.Mov.Imm(asm.R1, 5), asm.Mov.Reg(asm.R2, asm.RFP), asm.FnMapLookupElem.Call())
	}},
	{"event", wordsEvent, func() asm.Instructions { return end(asm.LoadMem(asm.R0, asm.R1, 2000, asm.DWord)) }},
	{"unreachable", wordsForm, func() asm.Instructions {
		return asm.Instructions{asm.Mov.Imm(asm.R0, 0), asm.Return(), asm.Mov.Imm(asm.R0, 1), asm.Return()}
	}},
}

// TestRejected loads programs that no verifier takes. The message must say why
// in plain words, and never in the verifier's.
func TestRejected(t *testing.T) {
	u := unitOf(tree.Attach{Way: tree.RawTracepoint{Name: "sys_enter"}})
	mustLoad(t, u) // skips without rights
	keep := os.Getenv("STARTRACE_KEEP_LOGS")
	for _, c := range rejectedPrograms {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("TMPDIR", t.TempDir())
			u.Spec.Programs["p0"].Instructions = c.code()
			_, err := Load(u, Options{})
			var v *VerifierError
			if !errors.As(err, &v) {
				t.Fatalf("got %v", err)
			}
			if !strings.Contains(err.Error(), c.words) || strings.Contains(err.Error(), v.Reason) {
				t.Errorf("got %q of %q, want %q", err, v.Reason, c.words)
			}
			checkKept(t, v)
			if keep != "" {
				writeLog(t, filepath.Join(keep, c.name+".log"), v.Log)
			}
		})
	}
}

// checkKept checks that the log is in a file for its owner alone, and that the
// message names it.
func checkKept(t *testing.T, v *VerifierError) {
	t.Helper()
	text, err := os.ReadFile(v.File)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(v.File)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), v.Log) || info.Mode().Perm() != 0o600 || !strings.Contains(v.Error(), v.File) {
		t.Errorf("%s has mode %v and %d bytes of %d; the message is %q", v.File, info.Mode(), len(text), len(v.Log), v)
	}
}

func writeLog(t *testing.T, file, log string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(log), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestRejectedLogs reads what kernels wrote about the same programs.
func TestRejectedLogs(t *testing.T) {
	read := 0
	for _, c := range rejectedPrograms {
		files, err := filepath.Glob(filepath.Join("testdata", "verifier", "*", c.name+".log"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			log, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			read++
			if got := plainWords(rejection(string(log))); !strings.Contains(got, c.words) {
				t.Errorf("%s: %q is %q, want %q", file, rejection(string(log)), got, c.words)
			}
			if rejectedInsn(string(log)) < 0 {
				t.Errorf("%s: no instruction", file)
			}
		}
	}
	if want := 3 * len(rejectedPrograms); read != want {
		t.Errorf("read %d logs, want those of 3 kernels: %d", read, want)
	}
}

// TestPlainWords has sentences of kernel/bpf/verifier.c that need another
// licence, kernel or size than the programs above.
func TestPlainWords(t *testing.T) {
	for sentence, words := range map[string]string{
		"tail_calls are not allowed when call stack of previous frames is 320 bytes. Too large": "more stack than a " +
			"program has",
		"R3 type=scalar expected=fp, pkt, pkt_meta," +
			" map_key, map_value, mem, ringbuf_mem, buf, trusted_ptr_": wordsKind,
		"cannot call GPL-restricted function from non-GPL compatible program":          "only programs under the GPL",
		"combined stack size of 2 calls is 544. Too large":                             "more stack than a program has",
		"BPF program is too large. Processed 1000001 insn":                             "more branches or longer loops",
		"The sequence of 8193 jumps is too complex.":                                   "more branches or longer loops",
		"back-edge from insn 12 to 3":                                                  wordsLoop,
		"R2 unbounded memory access, use 'var &= const' or 'if (var < const)'":         wordsLimit,
		"R1 unbounded memory access, make sure to bounds check any such access":        wordsLimit,
		"invalid indirect read from stack R2 off -16+8 size 16":                        wordsStack,
		"invalid indirect read from stack off -16+8 size 16":                           wordsStack,
		"invalid read from stack off -8+0 size 8":                                      wordsStack,
		"invalid stack type R1 off=-8 access_size=16":                                  wordsStack,
		"invalid variable-offset read from stack R2":                                   wordsStack,
		"R1 invalid mem access 'ringbuf_mem_or_null'":                                  wordsMissing,
		"Unreleased reference id=2 alloc_insn=5":                                       "not given back",
		"BPF_STX uses reserved fields":                                                 wordsUnknown,
		"unknown opcode db":                                                            wordsUnknown,
		"BPF_ATOMIC uses invalid atomic opcode e1":                                     wordsUnknown,
		"last insn is not an exit or jmp":                                              wordsForm,
		"a sentence of a kernel that is not yet written":                               "cannot be checked",
		"invalid access to memory, mem_size=16 off=8 size=16":                          wordsBeyond,
		"helper call is not allowed in probe":                                          wordsHelper,
		"R0 bitwise operator &= on pointer prohibited":                                 wordsNumber,
		"At program exit the register R0 has smin=2 smax=2 should have been in [0, 1]": "not one that is allowed",
	} {
		if got := plainWords(sentence); !strings.Contains(got, words) {
			t.Errorf("%q is %q, want %q", sentence, got, words)
		}
	}
}
