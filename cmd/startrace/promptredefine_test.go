package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What an attached probe uses is set anew: a filter, a table, a function of the
// kernel half and one of the user half. Each event meets the old or the new.
func TestPromptRedefines(t *testing.T) {
	p := startPrompt(t)
	p.enter(`n = count()`)
	p.enter(`least = 4`)
	p.press("def size(e):\r    return e.args.count\r\r")
	p.await("6>")
	p.enter(`w = probe("tracepoint:syscalls:sys_enter_write", lambda e: n[size(e)].add(), where = lambda e: ` +
		`e.args.count >= least and e.comm == "sh")`)
	p.round()
	p.want(p.enter(`sorted(n.items())`), "[(4, 900), (5, 1)]\n")

	p.want(p.enter(`n = count()`),
		"Replaced the count n of prompt:1:5\nAttached again with the new n: w (prompt:6:5)\n")
	p.round()
	p.want(p.enter(`sorted(n.items())`), "[(4, 900), (5, 1)]\n")

	p.want(p.enter(`least = 5`), "Attached again with the new least: w (prompt:6:5)\n")
	p.round()
	p.want(p.enter(`sorted(n.items())`), "[(4, 900), (5, 2)]\n")

	p.press("def size(e):\r    return e.args.count | 128\r\r")
	p.await("15>")
	if !strings.Contains(p.Screen(), "Attached again with the new size: w (prompt:6:5)\n15>") {
		t.Errorf("screen\n%s", p.Screen())
	}
	p.round()
	p.want(p.enter(`sorted(n.items())`), "[(4, 900), (5, 2), (133, 1)]\n")

	p.press("def tell(e):\r    printf(\"first %d\\n\", e.args.count)\r\r")
	p.await("19>")
	p.enter(`v = probe("tracepoint:syscalls:sys_enter_write", tell, where = lambda e: e.args.count == 5)`)
	p.round()
	p.awaitText("\nfirst 5\n")
	p.press("def tell(e):\r    printf(\"second %d\\n\", e.args.count)\r\r")
	p.await("23>")
	p.round()
	p.awaitText("\nsecond 5\n")
	if strings.Count(p.Screen(), "\nfirst 5\n") != 1 {
		t.Errorf("the old handler was called for a later event:\n%s", p.Screen())
	}
	p.want(p.enter(`len(probes)`), "2\n")
	p.leave()
}

// What keeps the old of a name is saved behind what it uses. It was saved in front of it: a script that did not run.
//
// > A chunk that keeps an old value has the new one in the file, and a message says so.
func TestPromptSavesInOrder(t *testing.T) {
	p := startPrompt(t)
	p.enter(`word = "one"`)
	p.enter(`tell = lambda: print(word)`)
	p.enter(`at_exit(tell)`)
	p.want(p.enter(`word = "two"`), "prompt:3 keeps the old word: enter it again\n")
	p.want(p.enter(`save("saved.star")`), "Saved 3 statements: startrace saved.star\n"+
		"prompt:3 keeps the old word here, and has the new one in saved.star\n")
	p.leave()
	saved, err := os.ReadFile(filepath.Join(p.dir, "saved.star"))
	if err != nil {
		t.Fatal(err)
	}
	p.want(string(saved), `# Saved from the prompt of startrace.
word = "two"
tell = lambda: print(word)
at_exit(tell)
`)
	p.want(p.runSaved(), "four\ntwo\n")
}

// What was done to a probe is gone with it: nothing keeps the old one, and it is not saved.
func TestPromptForgetsSwitches(t *testing.T) {
	p := startPrompt(t)
	p.enter(`w = probe("tracepoint:syscalls:sys_enter_write", lambda e: print("first"))`)
	for _, method := range []string{"disable", "detach"} {
		p.want(p.enter("w."+method+"()"), "")
		if list := p.enter("probes"); !strings.Contains(list, "sys_enter_write ("+method) {
			t.Errorf("after %s probes shows %s", method, list)
		}
	}
	p.want(p.enter(`w = probe("tracepoint:syscalls:sys_enter_write", where = lambda e: False)`),
		"Replaced the probe w of prompt:1:5\nAttached 1 probe\n")
	p.want(p.enter(`save("saved.star")`), "Saved 1 statement: startrace saved.star\n")
	p.leave()
}

// A table that has a map keeps its type: what it would become is said in words.
func TestPromptNamesTypes(t *testing.T) {
	p := startPrompt(t)
	p.enter(`t = table()`)
	p.enter(`w = probe("tracepoint:syscalls:sys_enter_write", kernel = lambda e: t.set(e.comm, e.pid))`)
	for code, want := range map[string]string{
		"t.set(e.comm, None)": "the value of table t would become an int of 64 bits without a sign or None here, " +
			"but it is an int of 64 bits without a sign since the probe of prompt:2:",
		"t.set(e.args.filename, 1)": "the key of table t would become a string with room for 264 bytes or " +
			"FAULT here, but it is a string with room for 16 bytes since the probe of prompt:2:",
	} {
		got := p.enterWrapped(`probe("tracepoint:syscalls:sys_enter_openat", kernel = lambda e: ` + code + `)`)
		if !strings.Contains(strings.Join(strings.Fields(got), " "), want) {
			t.Errorf("%s: got\n%s\nwant\n%s", code, got, want)
		}
	}
	p.leave()
}

// What the kernel keeps for dump() is the probe's own.
//
// > What a probe with `keep=` holds is gone with it.
func TestPromptForgetsKept(t *testing.T) {
	p := startPrompt(t)
	const kept = `w = probe("tracepoint:syscalls:sys_enter_write", keep = 100)`
	p.enter(kept)
	p.round()
	p.want(p.enter(kept), "Replaced the probe w of prompt:1:5\nAttached 1 probe\n")
	p.want(p.enter(`w.dump()`), "0\n")
	p.round()
	if got := p.enter(`w.dump()`); !strings.HasSuffix(got, "100\n") {
		t.Errorf("the new probe keeps nothing: %s", got)
	}
	p.leave()
}
