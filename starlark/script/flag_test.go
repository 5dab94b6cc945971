package script

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/startrace/startrace/builtins"
)

const flagScript = `"""Shows slow things."""
def main():
    print(flag("threshold", 5 * MSEC, "report waits of at least this long", type = duration, short = "t"),
          flag("disk", False, "per disk", short = "D"), flag("flags", False, short = "F"),
          flag("color", True, "in colours"),
          flag("rows", 20, "how many", short = "r"), flag("share", 0.5), flag("name_", "x"),
          flag("mode", "fast", "how", choices = ["fast", "slow"]),
          flag("bin", "./trace", "the program", positional = True), flag("arg", None, positional = True))
`

const flagDefaults = "5000000 False False True 20 0.5 x fast ./trace None\n"

func runFlags(t *testing.T, args string) (string, error) {
	t.Helper()
	h, rt, _ := newTest()
	if err := h.ParseText("flags.star", []byte(flagScript)); err != nil {
		t.Fatal(err)
	}
	err := h.Run(strings.Fields(args))
	return rt.out.String(), err
}

func TestFlags(t *testing.T) {
	for args, want := range map[string]string{
		"":                                flagDefaults,
		"--threshold 20ms --rows=3":       "20000000 False False True 3 0.5 x fast ./trace None\n",
		"-t 1s -DF":                       "1000000000 True True True 20 0.5 x fast ./trace None\n",
		"-Fr7 --no-color -t=2us":          "2000 False True False 7 0.5 x fast ./trace None\n",
		"-D /bin/ls --share 0.25 -- -x":   "5000000 True False True 20 0.25 x fast /bin/ls -x\n",
		"--disk=false a --mode slow -5":   "5000000 False False True 20 0.5 x slow a -5\n",
		"--bin /bin/a --rows -3 --name y": "5000000 False False True -3 0.5 y fast /bin/a None\n",
		"--rows 010":                      "5000000 False False True 10 0.5 x fast ./trace None\n",
		"--rows -007":                     "5000000 False False True -7 0.5 x fast ./trace None\n",
		"--rows 0":                        "5000000 False False True 0 0.5 x fast ./trace None\n",
		"-D=false -F=true":                "5000000 False True True 20 0.5 x fast ./trace None\n",
		"-FD=false":                       "5000000 False True True 20 0.5 x fast ./trace None\n",
		"--rows 0x10":                     "5000000 False False True 16 0.5 x fast ./trace None\n",
	} {
		if got, err := runFlags(t, args); err != nil || got != want {
			t.Errorf("%s: %q %v, want %q", args, got, err, want)
		}
	}
}

func TestFlagMistakes(t *testing.T) {
	for args, want := range map[string]string{
		"--treshold 5ms":    "unknown flag --treshold (did you mean --threshold?)",
		"-z":                "unknown flag -z",
		"a b c":             `unexpected argument "c"`,
		"--rows many":       `--rows: got "many", want a number`,
		"--mode other":      `--mode: got "other", want one of fast, slow`,
		"-D=perhaps":        `--disk: got "perhaps", want true or false`,
		"--rows 1e3":        `--rows: got "1e3", want a number`,
		"--disk=perhaps":    `--disk: got "perhaps", want true or false`,
		"--threshold 5":     `--threshold: got "5", want a duration such as 100us, 5ms, 1.5s, 1h30m`,
		"--rows":            `--rows wants a value: how many`,
		"--rows 3 -r 3":     `--rows is given twice; it has one value`,
		"--mode a --mode a": `--mode is given twice; it has one value`,
	} {
		_, err := runFlags(t, args)
		var usage *builtins.UsageError
		if !errors.As(err, &usage) || usage.Msg != want {
			t.Errorf("%s: %v, want %s", args, err, want)
		}
	}
}

// A default that is no value of the flag is a mistake of the script, in its line, whoever runs it.
func TestDefaultMistakes(t *testing.T) {
	for text, want := range map[string]string{
		`flag("x", "a", type = int)`:                  `1:5: flag x: default: got "a", want a number`,
		`flag("x", "a", type = float)`:                `1:5: flag x: default: got "a", want a number`,
		`flag("x", "a", type = bool)`:                 `1:5: flag x: default: got "a", want true or false`,
		`flag("x", "a", type = duration)`:             `1:5: flag x: default: got "a", want a duration`,
		`flag("x", "a", type = lambda t: fail("no"))`: `1:5: flag x: default: no`,
		`flag("x", 5, choices = ["a", "b"])`:          `1:5: flag x: default: got "5", want one of the choices: a, b`,
		`flag("x", 0.5, choices = ["a"])`:             `1:5: flag x: default: got "0.5", want one of the choices: a`,
		`flag("x", "c", choices = ["a"])`:             `1:5: flag x: default: got "c", want one of the choices: a`,
		`flag("x", 1.5, type = int)`:                  `1:5: flag x: default: got 1.5, want an int`,
		`flag("x", True, type = int)`:                 `1:5: flag x: default: got True, want an int`,
		`flag("x", 5, type = str)`:                    `1:5: flag x: default: got 5, want a string`,
		`flag("x", 5, type = bool)`:                   `1:5: flag x: default: got 5, want a bool`,
		`flag("x", [], type = float)`:                 `1:5: flag x: default: got [], want a float`,
		`flag("x", True, type = duration)`:            `1:5: flag x: default: got bool, want a duration`,
		`flag("x", 5, least = 10, most = 3)`:          `1:5: flag x: least: got 10, want at most 3, which is most`,
		`flag("x", least = 1, most = 0.5)`:            `1:5: flag x: least: got 1, want at most 0.5, which is most`,
	} {
		for _, args := range [][]string{nil, {"--help"}} {
			h, _, _ := newTest()
			if err := h.ParseText("f.star", []byte(text)); err != nil {
				t.Fatal(err)
			}
			var found Errors
			if err := h.Run(args); !errors.As(err, &found) || !strings.HasPrefix(found[0].Error(), "f.star:"+want) {
				t.Errorf("%s %s: got %v, want %s", text, args, err, want)
			}
		}
	}
	for _, text := range []string{`flag("x", 5, choices = ["4", "5"])`, `flag("x", None, choices = ["a"])`,
		`flag("x", "", choices = ["a"])`, `flag("x", "010", type = int)`, `flag("x", 1, type = float)`,
		`flag("x", 1.5e9, type = duration)`, `flag("x", 5, type = lambda t: t)`, `flag("x", least = 3, most = 3)`} {
		h, _, _ := newTest()
		if err := h.ParseText("f.star", []byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := h.Run(nil); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestHelp(t *testing.T) {
	want, err := os.ReadFile("testdata/help.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{"--help", "-h --rows many"} {
		out, err := runFlags(t, args)
		var help *HelpError
		if !errors.As(err, &help) || help.Text != string(want) || out != "" {
			t.Errorf("%s: printed %q and gave\n%v", args, out, err)
		}
	}
}

func TestFlagWords(t *testing.T) {
	h, _, _ := newTest()
	if err := h.ParseText("flags.star", []byte(flagScript)); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, w := range h.Flags() {
		s := w.Name + w.Short
		if w.Switch {
			s += "!"
		}
		got = append(got, s)
	}
	if s := strings.Join(got, " "); s != "thresholdt diskD! flagsF! color! rowsr share name mode bin arg" {
		t.Error(s)
	}
}
