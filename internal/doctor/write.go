package doctor

import (
	"fmt"
	"io"
	"strings"

	"github.com/startrace/startrace/internal/escape"
)

// The doctor's report as text and as JSON, and its first line, the judgement.

// WriteJSON writes the report as one object.
func (r *Report) WriteJSON(w io.Writer) error {
	enc := escape.JSONEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(r)
}

// WriteText writes the judgement in the first line, the remedy in the second,
// and below all that was looked at.
func (r *Report) WriteText(w io.Writer) error {
	var b strings.Builder
	r.judge(&b)
	width := 0
	for _, f := range r.Findings {
		width = max(width, len(f.Subject))
	}
	b.WriteByte('\n')
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "  %-4s  %-*s  %s\n", f.State, width, f.Subject, escape.Line(f.Text))
		if f.Remedy != "" {
			fmt.Fprintf(&b, "  %-4s  %-*s  %s\n", "", width, "", f.Remedy)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// judge writes the judgement and the problems.
func (r *Report) judge(b *strings.Builder) {
	if len(r.Problems) == 0 {
		b.WriteString("This machine can be traced.\n")
		return
	}
	for i, p := range r.Problems {
		begin := "Also: "
		switch {
		case i > 0 && p.Loss != "":
			begin = "Also, but for " + p.Loss + ": "
		case i > 0:
		case r.Verdict == Fails:
			begin = "This machine cannot be traced: "
		case p.Loss != "":
			begin = "This machine can be traced, but for " + p.Loss + ": "
		default:
			begin = "This machine can be traced. Still, "
		}
		fmt.Fprintf(b, "%s%s.\nRemedy: %s.\n", begin, p.Cause, p.Remedy)
	}
}
