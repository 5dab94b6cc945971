package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// > A block is one entry of the history: the up arrow recalls it whole, to be changed and entered again.
func TestPromptRecallsBlock(t *testing.T) {
	p := startPrompt(t)
	p.press("def f(x):\r    y = x + 1\r    return y\r\r")
	p.await("5>")
	p.want(p.enter("f(1)"), "2\n")
	p.press("\x1b[A\x1b[A")
	p.await("8.     return y")
	p.press(" * 10\r")
	p.await("10>")
	p.want(p.enter("f(1)"), "20\n")
	p.leave()
	p.again()
	p.press("\x12y = x") // of the run before
	p.press("\x01\r")
	p.await("5>")
	p.want(p.enter("f(2)"), "30\n")
	p.leave()
}

// The editor has the terminal, with its keys; what is printed meanwhile comes
// when it has ended.
//
// > `edit()` opens what was entered last in `$VISUAL` or `$EDITOR`. What the editor saves stands at the prompt, to be
// > entered.
func TestPromptEdit(t *testing.T) {
	const script = `#!/bin/sh
echo "edits $(cat "$1")"
read line
sed -i "s/one/$line/" "$1"
`
	p := newPromptTest(t)
	editor := filepath.Join(p.dir, "editor")
	if err := os.WriteFile(editor, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	p.again("VISUAL=", "EDITOR="+editor+" ")
	p.enter(wroteFive)
	p.press("x = [\r  \"one\"]\r")
	p.await("4>")
	p.press("edit()\r")
	p.awaitText("edits x = [\n  \"one\"]\n")
	p.round()
	p.press("two\r")
	p.await("6.   \"two\"]")
	p.awaitText("\nwrote 5\n") // before the prompt, or behind it where the event came late
	if screen := p.Screen(); strings.Index(screen, "\ntwo\n") > strings.Index(screen, "\nwrote 5\n") {
		t.Errorf("screen\n%s", screen)
	}
	p.press("\r")
	p.await("7>")
	p.want(p.enter("x"), "[\"two\"]\n")
	p.leave()
	p.again("VISUAL=false")
	p.want(p.enter("edit()"), "prompt:1:5: edit: false: exit status 1\n")
	p.leave()
}

func TestPromptCompletes(t *testing.T) {
	p := startPrompt(t)
	for _, c := range []struct{ typed, want string }{
		{"opens = quant\t", "1> opens = quantiles"},
		{`probe("tracep` + "\t", `1> probe("tracepoint:`},
		{`probe("tracepoint:syscalls:sys_enter_openat2` + "\t", `1> probe("tracepoint:syscalls:sys_enter_openat2`},
		{`probe("tracepoint:sched:sched_wakeup_n` + "\t", `1> probe("tracepoint:sched:sched_wakeup_new`},
		{`probe("tracepoint:syscalls:sys_enter_openat", lambda e: e.args.filen` + "\t",
			`1> probe("tracepoint:syscalls:sys_enter_openat", lambda e: e.args.filename`},
		{`probe("rawtracepoint:sched_switch", lambda e: e.args.next.real_pa` + "\t",
			`1> probe("rawtracepoint:sched_switch", lambda e: e.args.next.real_parent`},
		{`json.enc` + "\t", "1> json.encode"},
		{`probe("syscall:close", where = lambda e: e.start.args.` + "\t",
			`1> probe("syscall:close", where = lambda e: e.start.args.fd`},
	} {
		p.press(c.typed)
		p.await(c.want)
		p.press("\x15")
		p.awaitEmpty("1>")
	}
	for _, c := range []struct {
		typed string
		want  []string
	}{
		{`probe("tracepoint:sched:s`, []string{"sched_switch", "sched_process_exec", "sched_wakeup_new"}},
		{`probe("tracepoint:sched:sched_wakeup*`, []string{"sched_wakeup", "sched_wakeup_new"}},
		{`probe("syscall:read`, []string{"read", "readv", "readahead"}},
		{`probe("syscall:openat", lambda e: e.args.`, []string{"dfd", "filename", "flags", "mode"}},
		{`probe("syscall:{openat,close}", lambda e: e.args.`, []string{"dfd", "fd", "filename", "flags", "mode"}},
		{`def f(e): e.c`, []string{"cgroup", "comm", "cpu"}},
	} {
		p.completes(c.typed, c.want)
	}
	p.leave()
}

// completes checks what Tab shows above the line, which stays but for what all
// of the words have in common.
func (p *promptTest) completes(typed string, want []string) {
	p.Helper()
	p.press(typed)
	p.await("1> " + typed)
	before := strings.Count(p.Screen(), "\n")
	p.press("\t\t")
	if err := p.Await(fmt.Sprint("words ", want), func(screen string) bool {
		rows := strings.SplitAfter(screen, "\n")
		words := strings.Fields(strings.Join(rows[before-1:len(rows)-1], ""))
		return !slices.ContainsFunc(want, func(w string) bool {
			return !slices.Contains(words, w)
		}) && strings.HasPrefix(lastRow(screen), "1> "+typed)
	}); err != nil {
		p.Error(err)
	}
	p.press("\x15")
	p.awaitEmpty("1>")
}
