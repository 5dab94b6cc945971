package repl

import (
	"slices"
	"strings"
)

// Which chunks of a session are written by save().

// A Typed is a chunk that ran, for saving.
type Typed struct {
	// Text is what was typed.
	Text string
	// Assigned are the names that it sets, Used all names in it.
	Assigned, Used []string
	// Acts: it does something that lasts, beside setting names: it attached
	// probes that are still there, set a timer, changed a list.
	Acts bool
	// Gone are names that it set to what is gone: a probe that was replaced, or
	// None.
	Gone []string
}

// Standing gives the chunks that still mean something: those that act, those
// whose names have not been set again, and those that these need.
func Standing(all []Typed) (out []Typed) {
	wanted := map[string]bool{} // names for which the last that sets them is looked for
	set := map[string]bool{}    // names that are set further down
	for i := len(all) - 1; i >= 0; i-- {
		t := all[i]
		stands := t.Acts
		for _, name := range t.Assigned {
			stands = stands || wanted[name] || !set[name] && !slices.Contains(t.Gone, name)
		}
		if !stands {
			continue
		}
		for _, name := range t.Assigned {
			delete(wanted, name)
			set[name] = true
		}
		for _, name := range t.Used {
			wanted[name] = true
		}
		out = append(out, t)
	}
	slices.Reverse(out)
	return out
}

// Script is the text of chunks as one file.
func Script(header string, chunks []Typed) string {
	var b strings.Builder
	b.WriteString(header)
	for _, c := range chunks {
		text := strings.TrimRight(c.Text, "\n \t")
		if strings.Contains(text, "\n") {
			b.WriteString("\n")
		}
		b.WriteString(text + "\n")
	}
	return b.String()
}
