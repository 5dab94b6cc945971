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
		"--rows 0x10":                     "5000000 False False True 16 0.5 x fast ./trace None\n",
	} {
		if got, err := runFlags(t, args); err != nil || got != want {
			t.Errorf("%s: %q %v, want %q", args, got, err, want)
		}
	}
}

func TestFlagMistakes(t *testing.T) {
	for args, want := range map[string]string{
		"--treshold 5ms": "unknown flag --treshold (did you mean --threshold?)",
		"-z":             "unknown flag -z",
		"a b c":          `unexpected argument "c"`,
		"--rows many":    `--rows: got "many", want a number`,
		"--mode other":   `--mode: got "other", want one of fast, slow`,
		"--disk=perhaps": `--disk: got "perhaps", want true or false`,
		"--threshold 5":  `--threshold: got "5", want a duration such as 100us, 5ms, 1.5s, 1h30m`,
		"--rows":         `--rows wants a value: how many`,
	} {
		_, err := runFlags(t, args)
		var usage *builtins.UsageError
		if !errors.As(err, &usage) || usage.Msg != want {
			t.Errorf("%s: %v, want %s", args, err, want)
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
