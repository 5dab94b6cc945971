package accept

import (
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// goAssembly is a program of Go with a function in assembly, which leaves something else in registers.
var goAssembly = map[string]string{
	"go.mod": "module example.com/sum\n\ngo 1.20\n",
	"main.go": `package main

func add(a, b int64) int64

func main() {
	if add(3, 4)+add(-10, 1) != -2 {
		panic("wrong")
	}
}
`,
	"add_amd64.s": `#include "textflag.h"
TEXT ·add(SB), NOSPLIT, $0-24
	MOVQ a+0(FP), AX
	ADDQ b+8(FP), AX
	MOVQ AX, ret+16(FP)
	MOVQ $77, AX
	MOVQ $78, BX
	RET
`,
	"add_arm64.s": `#include "textflag.h"
TEXT ·add(SB), NOSPLIT, $0-24
	MOVD a+0(FP), R0
	MOVD b+8(FP), R1
	ADD R1, R0, R0
	MOVD R0, ret+16(FP)
	MOVD $77, R0
	RET
`,
}

// Functions of Go in assembly have all on the stack, with debug information and without.
//
// > Functions of Go in assembly (`main.add.abi0`) are called with all on the stack.
// > Their `e.args[i]` are the words there.
// > Their result lies behind arguments whose size nobody knows, so `e.ret` is FAULT.
func TestGoAssembly(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	for _, command := range []string{"go build", "go build -ldflags=-w"} {
		binary := need.BuiltOf(t, command, goAssembly)
		text := `probe("ufunc:BIN:main.add.abi0", lambda e: print(e.start.args[0], e.start.args[1], e.ret))`
		e := startrace(t, "-q", script(t, strings.ReplaceAll(text, "BIN", binary)), "-c", binary).ok(t)
		if got, want := e.stdout, "3 4 <optimized out>\n-10 1 <optimized out>\n"; got != want {
			t.Errorf("%s: got %q, want %q", command, got, want)
		}
		listed := startrace(t, "list", "-v", "ufunc:"+binary+":main.add.abi0").ok(t).stdout
		if !strings.Contains(listed, "e.ret:       int    # nobody knows its place: it is FAULT") {
			t.Errorf("%s: got %s", command, listed)
		}
	}
}
