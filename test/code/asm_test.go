package code

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/cilium/ebpf/btf"

	"github.com/startrace/startrace/bpfgen"
	"github.com/startrace/startrace/internal/explain"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/test/smallkernel"
)

// TestAsm looks at the instructions that stand for lines of the scripts in
// testdata/asm. A line says in a comment what it wants of its own, joined by
// "; ":
//
//	# asm: REGEXP   they match
//	# once: REGEXP  they match at one place
//	# not: REGEXP   they do not match
func TestAsm(t *testing.T) {
	files, err := filepath.Glob("testdata/asm/*.star")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	facts := smallKernel(t)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, chunk := range strings.Split(string(text), "\n---\n") {
			title, _, _ := strings.Cut(strings.TrimPrefix(chunk, "# "), "\n")
			t.Run(title, func(t *testing.T) { checkAsm(t, chunk, facts) })
		}
	}
}

var wish = regexp.MustCompile(`# (asm|once|not): `)

func checkAsm(t *testing.T, text string, facts *kernel.Facts) {
	lines := asmByLine(t, text, facts)
	wishes := 0
	for i, line := range strings.Split(text, "\n") {
		at := wish.FindAllStringSubmatchIndex(line, -1)
		for k, m := range at {
			end := len(line)
			if k+1 < len(at) {
				end = at[k+1][0]
			}
			kind, expr := line[m[2]:m[3]], strings.TrimSpace(line[m[1]:end])
			re, err := regexp.Compile(expr)
			if err != nil {
				t.Fatal(err)
			}
			n := len(re.FindAllString(lines[i+1], -1))
			if kind == "asm" && n == 0 || kind == "once" && n != 1 || kind == "not" && n != 0 {
				t.Errorf("line %d: %s: %q matches %d times in\n%s", i+1, kind, expr, n,
					strings.ReplaceAll(lines[i+1], "; ", "\n"))
			}
			wishes++
		}
	}
	if wishes == 0 {
		t.Error("no line wants anything")
	}
}

// asmByLine gives the instructions for each line of a script.
func asmByLine(t *testing.T, text string, facts *kernel.Facts) map[int]string {
	in := input(t, "t.star", text, facts, bpfgen.Options{Arch: "amd64"})
	in.Stages = explain.Stages{Asm: true}
	report, unit := explain.New(in), in.Unit
	out := map[int]string{}
	for _, l := range report.Asm {
		raw, line := unit.Lines[l.Program], 0
		for _, ins := range l.Insns {
			for len(raw) > 0 && raw[0].Insn <= ins.N {
				line, raw = int(raw[0].Pos.Line), raw[1:]
			}
			if out[line] != "" {
				out[line] += "; "
			}
			out[line] += ins.Text
		}
	}
	return out
}

// smallKernel has the types that the scripts use, on every machine the same.
func smallKernel(t testing.TB) *kernel.Facts {
	s32 := &btf.Int{Name: "int", Size: 4, Encoding: btf.Signed}
	u32 := &btf.Int{Name: "unsigned int", Size: 4}
	task := &btf.Struct{Name: "task_struct", Size: 24, Members: []btf.Member{
		{Name: "pid", Type: s32, Offset: 32}, {Name: "tgid", Type: s32, Offset: 64},
	}}
	ptr := &btf.Pointer{Target: task}
	task.Members = append(task.Members, btf.Member{Name: "parent", Type: ptr, Offset: 128})
	return kernel.Open(kernel.Options{BTF: smallkernel.BTF(t,
		task, smallkernel.Tracepoint("sched_wakeup", btf.FuncParam{Name: "p", Type: ptr}),
		smallkernel.Tracepoint("sched_switch", btf.FuncParam{Name: "prev", Type: ptr},
			btf.FuncParam{Name: "next", Type: ptr},
			btf.FuncParam{Name: "prev_state", Type: u32}),
	)})
}
