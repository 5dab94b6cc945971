package command

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/startrace/startrace/internal/escape"
	"github.com/startrace/startrace/internal/format"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/mistake"
	"github.com/startrace/startrace/internal/output"
	"github.com/startrace/startrace/internal/render"
	"github.com/startrace/startrace/internal/session"
	"github.com/startrace/startrace/stdlib"
)

// `startrace verify`: which scripts work on this kernel, as table and JSON.

// A verdict is what became of a script on this kernel.
type verdict string

// The verdicts. Only lacks is a failure: who asks for a program works when it is
// given one, and notTold may work.
const (
	works     verdict = "works"
	fallsBack verdict = "falls back"
	asks      verdict = "asks"
	notTold   verdict = "not told"
	lacks     verdict = "lacks"
)

var verdicts = []verdict{works, fallsBack, asks, notTold, lacks}

// A verified is a line of the table of Verify, as JSON has it.
type verified struct {
	// Name is the script as it was given, or the tool.
	Name string `json:"name"`
	// Verdict follows from the Outcome.
	Verdict verdict `json:"verdict"`
	*session.Outcome
}

// Verify compiles scripts for this kernel without loading them, all tools of the
// library if none is named, and says of each whether it works here, what it
// falls back to, or what it lacks. types is the file with the types of another
// kernel, "" for this one.
func Verify(o session.Options, types string) (exit int, err error) {
	defer session.Guard(&o, &exit, &err)
	out := output.New(o.Stdout)
	if err := out.SetFormat(o.Format); err != nil {
		return session.Failed, err
	}
	if f := out.Format(); f != render.Text && f != render.JSON {
		return session.Failed, mistake.Usagef("--format %s: verify prints text or json", f)
	}
	if err := out.Open(o.Output); err != nil {
		return session.Failed, err
	}
	where := "on this kernel"
	if types != "" {
		of, err := kernel.TypesOnly(types, "")
		if err != nil {
			return session.Failed, err
		}
		o.Kernel, where = &of, "on Linux "+of.Release+" or newer, by the types of "+types
	}
	list, err := verifyAll(o, o.Args)
	if err != nil {
		return session.Failed, err
	}
	if out.Format() == render.JSON {
		err = writeVerifiedJSON(out, list)
	} else {
		writeVerified(out, list, where)
	}
	out.Flush()
	for _, v := range list {
		if v.Verdict == lacks {
			exit = session.Failed
		}
	}
	if err == nil {
		err = out.Err()
	}
	return exit, err
}

func verifyAll(o session.Options, names []string) (list []verified, err error) {
	if len(names) == 0 {
		for _, m := range stdlib.Modules() {
			if m.Tool && !m.Verb {
				names = append(names, m.Name)
			}
		}
	}
	for _, name := range names {
		one := o
		one.Args, one.Stdout, one.Stderr, one.Format, one.Output = []string{name}, io.Discard, io.Discard, "", ""
		one.Waiting = o.Stderr
		found, err := session.Verify(one)
		if err != nil {
			return nil, err
		}
		list = append(list, verified{name, verdictOf(found), found})
	}
	return list, nil
}

func verdictOf(o *session.Outcome) verdict {
	switch {
	case o.Asks:
		return asks
	case o.Unknown:
		return notTold
	case len(o.Lacks) > 0:
		return lacks
	case len(o.FellBack) > 0:
		return fallsBack
	}
	return works
}

// writeVerified prints a line for each script, what there is to say of it below,
// and the sums.
func writeVerified(w io.Writer, list []verified, where string) {
	width, sums := 0, map[verdict]int{}
	for _, v := range list {
		width = max(width, utf8.RuneCountInString(escape.Line(v.Name)))
		sums[v.Verdict]++
	}
	for _, v := range list {
		what := fmt.Sprintf("%s, %s", format.Count(v.Points, "point"), format.Count(v.Programs, "program"))
		if len(v.Lacks) > 0 {
			what = mistake.Shorten(strings.Join(v.Lacks, "; "))
		}
		fmt.Fprintf(w, "%-*s  %-10s  %s\n", escape.Args([]any{width, v.Name, v.Verdict, what})...)
		for _, line := range v.FellBack {
			fmt.Fprintf(w, "%-*s  %s\n", width+12, "", escape.Line(line))
		}
		for _, line := range v.Warnings {
			fmt.Fprintf(w, "%-*s  warning: %s\n", width+12, "", escape.Line(line))
		}
	}
	var parts []string
	for _, v := range verdicts {
		if n := sums[v]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, sumWords[v]))
		}
	}
	fmt.Fprintf(w, "\n%s %s\n", strings.Join(parts, ", "), escape.Line(where))
}

// sumWords are the verdicts in the line of the sums.
var sumWords = map[verdict]string{works: "work", fallsBack: "by another way", asks: "with a program (-c, -p)",
	notTold: "that types alone do not tell", lacks: "not"}

func writeVerifiedJSON(w io.Writer, list []verified) error {
	enc := escape.JSONEncoder(w)
	for _, v := range list {
		if err := enc.Encode(v); err != nil {
			return fmt.Errorf("verify: %w", err)
		}
	}
	return nil
}
