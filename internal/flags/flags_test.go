package flags

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

var known = []Flag{{Long: "name", Short: "n", Value: "NAME"}, {Long: "by-file", Short: "b"}, {Long: "all", Short: "a"}}

// All ways to write a flag, and what is none.
func TestWords(t *testing.T) {
	for in, want := range map[string]string{
		"a - b":                              "a|-|b",
		"--name x y":                         "name=x|y",
		"--name=x --name= y":                 "name=x|name=|y",
		"-n x -ny -n=z":                      "name=x|name=y|name=z",
		"-ab -ban x":                         "all=true|by-file=true|by-file=true|all=true|name=x",
		"--by_file --by-file=x --no-by-file": "by-file=true|by-file=x|by-file=false",
		"--other=1 --no-name -x -ax -1 -1x":  "?--other|?--no-name|?-x|all=true|?-x|-1|-1x",
		"a -- --name x":                      "a|end 3",
		"--name -n":                          "name=-n",
		"--name":                             "name lacking",
		"-an":                                "all=true|name lacking",
	} {
		var got []string
		for w := range Words(strings.Fields(in), known) {
			switch {
			case w.End:
				got = append(got, fmt.Sprint("end ", len(w.Args)))
			case w.Lacking:
				got = append(got, w.Flag.Long+" lacking")
			case w.Flag != nil:
				got = append(got, w.Flag.Long+"="+w.Value)
			case w.Unknown != "":
				got = append(got, "?"+w.Unknown)
			default:
				got = append(got, w.Args...)
			}
		}
		if sorted := strings.Join(got, "|"); sorted != want {
			t.Errorf("%s: got %s, want %s", in, sorted, want)
		}
	}
}

// values are what a set of one flag of each kind has read.
type values struct {
	text  string
	texts []string
	n     int
	d     time.Duration
	on    bool
}

func newSet(v *values) *Set {
	s := &Set{}
	s.Text(Flag{Long: "text", Short: "t", Value: "T", Once: "or not at all"}, &v.text)
	s.Texts(Flag{Long: "texts", Value: "T"}, &v.texts)
	s.Number(Flag{Long: "number", Short: "n", Value: "N"}, &v.n)
	s.Time(Flag{Long: "time", Value: "D"}, &v.d)
	s.Switch(Flag{Long: "on", Short: "o"}, &v.on)
	s.Switch(Flag{Long: "help", Short: "h"}, new(bool))
	return s
}

// What arguments say is read, what stands in front of a file, everywhere, and among the flags of a script.
func TestSet(t *testing.T) {
	for _, tt := range []struct{ in, front, all, among string }{
		{"-t x --texts a --texts b -n 0x10 --time 2s -o", "x [a b] 16 2s true", "x [a b] 16 2s true",
			"x [a b] 16 2s true"},
		{"-o file -n 5", " [] 0 0s true: file -n 5", " [] 5 0s true: file", " [] 5 0s true: file"},
		{"-- -o", " [] 0 0s false: -- -o", " [] 0 0s false: -o", " [] 0 0s false: -- -o"},
		{"-o --no-on", " [] 0 0s false", " [] 0 0s false", " [] 0 0s false"},
		{"-n 010 -o=false", " [] 10 0s false", " [] 10 0s false", " [] 10 0s false"},
		{"-os v", " [] 0 0s true: -s v", "unknown flag -s", " [] 0 0s true: -s v"},
		{"-s -o -so", " [] 0 0s false: -s -o -so", "unknown flag -s", " [] 0 0s false: -s -o -so"},
		{"--tex x", " [] 0 0s false: --tex x", "unknown flag --tex (did you mean --text?)", " [] 0 0s false: --tex x"},
		{"--top 3 -t y", " [] 0 0s false: --top 3 -t y", "unknown flag --top", "y [] 0 0s false: --top 3"},
	} {
		others := []Flag{{Long: "skip", Short: "s", Value: "V"}, {Long: "top", Value: "N"}}
		for want, read := range map[string]func(*Set, []string) ([]string, error){
			"front " + tt.front: (*Set).Front, "all " + tt.all: (*Set).All,
			"among " + tt.among: func(s *Set, args []string) ([]string, error) { return s.Among(args, others) },
		} {
			var v values
			rest, err := read(newSet(&v), strings.Fields(tt.in))
			got := fmt.Sprint(v.text, " ", v.texts, " ", v.n, " ", v.d, " ", v.on)
			if len(rest) > 0 {
				got += ": " + strings.Join(rest, " ")
			}
			if err != nil {
				got = err.Error()
			}
			if _, want, _ := strings.Cut(want, " "); got != want {
				t.Errorf("%s: got %s, want %s", tt.in, got, want)
			}
		}
	}
}

// Values that no flag can have are refused by its name.
func TestMistakes(t *testing.T) {
	const nothing = "want a value that is neither empty nor 0"
	for in, want := range map[string]string{
		"--text":           "--text wants a value",
		"-on":              "--number wants a value",
		"--number -1":      "--number wants a value; one that begins with - is written --number=-1",
		"--number x":       `--number: got "x", want a number`,
		"--number=1e3":     `--number: got "1e3", want a number`,
		"--number 0":       `--number: got "0", ` + nothing,
		"--text=":          `--text: got "", ` + nothing,
		"--time 0s":        `--time: got "0s", ` + nothing,
		"--time 99999999h": `--time: got "99999999h", want at most 87600h, which is ten years`,
		"--time 87601h":    `--time: got "87601h", want at most 87600h, which is ten years`,
		"--time 3651d":     `--time: got "3651d", want at most 87600h, which is ten years`,
		"--time 5":         `--time: got "5", want a duration such as 100us, 5ms, 1.5s, 1h30m`,
		"--on=perhaps":     `--on: got "perhaps", want true or false`,
		"-n 1 --number 2":  "--number is given twice; give it once",
		"-t a -tb":         "--text is given twice; or not at all",
	} {
		if _, err := newSet(&values{}).Front(strings.Fields(in)); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", in, err, want)
		}
	}
}
