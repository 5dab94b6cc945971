package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/startrace/startrace/internal/escape"
	"github.com/startrace/startrace/test/tried"
)

// looking are the command lines that look at a script without running it for its events. %s is the script, in quotes.
var looking = []string{
	"%s --help", "explain %s", "explain --format json %s", "audit %s", "audit --format json %s", "verify %s",
	"verify --format json %s", "complete bash startrace\\ %s\\ --", "-q --nonsense %s", "%s --nonsense",
}

// runLooking runs one of them with more flags behind the command.
func runLooking(t *testing.T, program, line, script string, flags ...string) (shown string) {
	t.Helper()
	command, rest, isCommand := strings.Cut(line, " ")
	if !isCommand || strings.HasPrefix(command, "%") || strings.HasPrefix(command, "-") {
		command, rest = "", line
	}
	text := fmt.Sprintf("%s %s %s %s 2>&1", program, command, strings.Join(flags, " "), fmt.Sprintf(rest, `"$FILE"`))
	cmd := exec.Command("sh", "-c", text)
	cmd.Env = append(os.Environ(), "FILE="+script)
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return string(out)
}

// What a stranger's script is called, and what it says of itself and its flags, acts on no terminal, whichever command
// shows it.
//
// > What a script says of itself, by `--help`, `explain`, `audit`, `verify` or the completion of a shell, has its line
// > feeds and tabs, and all else escaped.
func TestStrangersWordsAreEscaped(t *testing.T) {
	const special = "\x1b[31m\a\u009b\u202e\xff"
	script := filepath.Join(t.TempDir(), special+"\nFORGED.star")
	quoted := strings.NewReplacer("\x1b", `\x1b`, "\a", `\a`, "\xff", "").Replace(special)
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(script, []byte(strings.ReplaceAll(text, "SPECIAL", quoted)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	program := asStartrace(t)
	scripts := []string{
		`"""SPECIAL."""` + "\n" + `x = flag("some", "SPECIAL", "SPECIAL")` +
			"\nprobe('interval:1s', lambda e: print(1))\n",
		"probe('syscall:SPECIAL', lambda e: print(1))\n",
		"fail('SPECIAL')\n",
		"print(1\n",
		"load('./SPECIAL\\nFORGED.star', 'x')\n",
		"probe('interval:1s', lambda e: print(e.nosuch))\n",
	}
	for _, text := range scripts {
		write(text)
		for _, line := range looking {
			shown := runLooking(t, program, line, script)
			if strings.Contains(shown, "\nFORGED") {
				t.Errorf("%s of %q: the name of the script makes a line:\n%s", line, text, shown)
			}
			for at, size := escape.Next(shown, 0); at >= 0; at, size = escape.Next(shown, at+size) {
				if c := shown[at]; c != '\n' && c != '\t' {
					t.Errorf("%s of %q: %q is shown", line, text, shown[at:at+size])
					break
				}
			}
		}
	}
	tried.Many(t, "%d commands, %d scripts", len(looking), len(scripts))
}

// Who looks at a script does not run it: nothing is written and no command runs, whatever is granted.
//
// > `explain`, `audit` and `verify` run the top level and `main()` of a script, for it declares its probes there.
// > They write no file and run no command, also where `--allow-write` or `--allow-run` is given.
// > `run()` then gives the status 0 and no output.
func TestLookingDoesNothing(t *testing.T) {
	program := asStartrace(t)
	ends := []string{"", "exit(0)\n", "fail('no more')\n", "probe('interval:1s', lambda e: nothing)\n"}
	for _, end := range ends {
		dir := t.TempDir()
		deeds := fmt.Sprintf(`    run(["touch", "%s/ran"])
    write_file("written", "some")
    append_file("%[1]s/added", "some")
`, dir)
		script := filepath.Join(t.TempDir(), "deeds.star")
		text := "def deeds():\n" + deeds + "def main():\n" + deeds + "at_exit(deeds)\nafter(0, deeds)\n" +
			"probe('interval:1s', lambda e: print(1))\ndeeds()\n" + end
		if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, line := range looking {
			for _, flags := range [][]string{nil, {"--allow-run"}, {"--allow-run", "--allow-write", dir}} {
				shown := runLooking(t, program, line, script, flags...)
				if made, err := os.ReadDir(dir); err != nil || len(made) > 0 {
					t.Fatalf("%s with %v has made %v, %v: %s", line, flags, made, err, shown)
				}
			}
		}
	}
	tried.Many(t, "%d commands, %d scripts", len(looking), len(ends))
}

// A message about a name or a pattern of any length can be read.
func TestLongNames(t *testing.T) {
	program, script := asStartrace(t), filepath.Join(t.TempDir(), "long.star")
	long := strings.Repeat("a", 100000)
	texts := []string{long + "()\n", "load('" + long + "', 'x')\n", "fail.x" + long + "\n",
		"x = flag('" + long + "!', 1)\n", "x = const('" + long + "')\n"}
	for _, point := range []string{"", "tracepoint:", "syscall:", "kprobe:", "fentry:", "uprobe:", "uprobe:/bin/sh:",
		"nosuch:", "interval:", "usdt:", "iter:", "lsm:"} {
		texts = append(texts, "probe('"+point+long+"*', lambda e: print(1))\n")
	}
	for _, text := range texts {
		if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, line := range []string{"%s", "verify %s", "audit %s"} {
			if shown := runLooking(t, program, line, script); len(shown) > 8000 {
				t.Errorf("%s of %.40s…: %d bytes: %.200s", line, text, len(shown), shown)
			}
		}
	}
	tried.Many(t, "%d scripts, %d commands", len(texts), 3)
}
