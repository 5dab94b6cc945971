// Package point is the table of the kinds of points: tracepoint:, kprobe:, usdt: and so on. A row says of a kind what
// others would otherwise each know by its name: how its patterns are written, what it adds to the event, how it is
// listed, what the kernel must have for it, and which words of other tracers mean it.
//
// A file holds a family of kinds, whose patterns mean the same things (kprobe:, fentry: and func: all mean functions
// of the kernel). What is done with them is elsewhere, a function for each family: bpfgen/points finds the points and
// their arguments, bpfgen/infer makes the event of them, internal/listing lists them, internal/attach attaches
// programs. TestPoints (points_test.go at the root) goes over this table and fails where one of these has no answer
// for a kind.
//
// It is data: nothing here changes after the start, and nothing asks the kernel but the functions that are given facts.
package point

import (
	"fmt"
	"slices"
	"strings"

	"github.com/startrace/startrace/internal/kernel"
)

// Family and Kind: what a row of the table of kinds of points has.

// A Family are the kinds whose patterns mean the same things.
type Family struct {
	Name string // as in "no family NAME"
	// Calls is the form of its points whose events are whole calls, "" where it has none.
	Calls string
	// Kinds are those that the word stands for.
	Kinds []*Kind
}

// A List is where the kernel shows which points of a kind it has.
type List uint8

// The lists. NoList: the points are found elsewhere, or need no list. A row says so, too: the zero value is no answer.
const (
	NoList List = 1 + iota
	Tracefs
	BTF
)

// A Kind is a kind of points: the first field of a pattern, and what it means.
type Kind struct {
	Name  string // "kprobe", as scripts write it and as e.probe begins
	Short string // "k"; "" where there is none
	// Family has the kind; it is set when the table is made.
	Family *Family

	// Form is what follows the name, for lists: "FUNCTION[+OFFSET]". Wanted is the same in messages about
	// a pattern that has too few fields, where it is not Form.
	Form, Wanted string
	// Min and Max are how many fields there are, one where a row says nothing. The last one takes the rest of the text
	// with its colons.
	Min, Max int
	// Mistake says of the text of a point what is wrong with it, where it is written as another tracer would have it;
	// nil: nothing is known.
	Mistake func(text, rest string) error
	// InPrograms: points are in programs and libraries, and names of C++ may stand in them, with their commas.
	InPrograms bool
	// TakesOffset: a function may be followed by + and a number of bytes.
	TakesOffset bool

	What     string   // what the points are, in a line
	Examples []string // whole points
	// Gives are the parts of e that it adds: args, ret, duration, depth. A kind that adds none says so by an empty
	// list, since nil is no answer.
	Gives []string

	// Set is what the points are chosen from, where these can be counted without naming a program: kinds with one set
	// have as many points. "": they cannot.
	Set string
	// Bare: names without a kind are looked for here. BareTraced: so they are where one process is traced.
	Bare, BareTraced bool
	// EveryCPU: the points beat on every CPU, as samples of what runs there; else on one.
	EveryCPU bool
	// Few: the kind alone, without a pattern, lists all of them.
	Few bool
	// Categories: a name has a category in front of it.
	Categories bool
	// OfModules: modules of the kernel bring more of them while a script runs.
	OfModules bool
	// Blacklisted: the kernel's list of functions that must not be probed applies.
	Blacklisted bool

	// ListedBy is what the kernel must show so that its points can be found.
	ListedBy List
	// Ways are those by which it is attached, the one that is wanted first: one of them must be there.
	Ways []*Way
	// Lacking says whether this kernel cannot attach such probes, and why if that is known; nil: attaching tells.
	Lacking func(f *kernel.Facts) (lacking bool, why string)

	// Preempted is what to write instead where no event may be missed and the kernel may preempt the programs of the
	// kind; "" where it never preempts them, or where they have another way there.
	Preempted string

	// Foreign are words of other tracers in the place of the name, with what to do here.
	Foreign map[string]string
}

// Has reports whether the kind adds a part to the event.
func (k *Kind) Has(part string) bool { return slices.Contains(k.Gives, part) }

// Calls reports whether an event of the kind is a whole call of a function, from its entry to its return.
func (k *Kind) Calls() bool { return k.Has("duration") }

// Returns reports whether the points of the kind are where functions return.
func (k *Kind) Returns() bool { return k.Has("ret") && !k.Calls() }

// AttachedBy reports whether a way is one of those by which it is attached.
func (k *Kind) AttachedBy(way kernel.Way) bool {
	return slices.ContainsFunc(k.Ways, func(w *Way) bool { return w.Name == way })
}

// Fields splits the text of a point of the kind into what follows the name.
func (k *Kind) Fields(text string) ([]string, error) {
	_, rest, ok := strings.Cut(text, ":")
	if k.Mistake != nil {
		if err := k.Mistake(text, rest); err != nil {
			return nil, err
		}
	}
	fields := Split(rest, k.Max)
	if !ok || len(fields) < k.Min || fields[0] == "" {
		return nil, fmt.Errorf("%q: want %s:%s", text, k.Name, k.Wanted)
	}
	return fields, nil
}

// Split splits at colons outside of braces into at most n fields.
func Split(s string, n int) []string {
	var out []string
	depth, from := 0, 0
	for i := 0; i < len(s) && len(out) < n-1; i++ {
		switch s[i] {
		case '{':
			depth++
		case '}':
			depth--
		case ':':
			if depth == 0 {
				out = append(out, s[from:i])
				from = i + 1
			}
		}
	}
	return append(out, s[from:])
}
