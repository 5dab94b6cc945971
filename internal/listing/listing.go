// Package listing finds what a script could probe: the points of every kind
// that match a pattern, with their arguments, and the layouts of the kernel's
// types. It writes them as text or JSON.
//
// It reads facts about the kernel and about programs; it changes nothing.
package listing

import (
	"debug/dwarf"
	"iter"
	"slices"
	"sync"

	"github.com/startrace/startrace/internal/binary"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/locals"
	"github.com/startrace/startrace/internal/signature"
	"github.com/startrace/startrace/internal/usdt"
)

// Source, Point, Result and Layout: what a list asks and has.

// A Point is one point as probe() takes it, or one form of points.
type Point struct {
	// Name is the point as probe() takes it.
	Name string `json:"point"`
	// Kind is its first word, the long one.
	Kind string `json:"kind"`
	// Module is the kernel's module that has it, File the program.
	Module string `json:"module,omitempty"`
	File   string `json:"file,omitempty"`
	// Where says where in the file it is: an address, a line.
	Where string `json:"where,omitempty"`
	// Fields are those that e has because of the point, as scripts write them.
	Fields []Field `json:"fields,omitempty"`
	// Format is how the kernel itself prints the event.
	Format string `json:"format,omitempty"`
	// Notes say what is special about it, a sentence each.
	Notes []string `json:"notes,omitempty"`

	detail func(*Point) // fills in what -v shows
}

// escaped is the point with each of its texts as f has it, the point itself if that
// changes nothing, as nearly always.
func (p *Point) escaped(f func(string) string) *Point {
	changed := false
	escape := func(text *string) {
		was := *text
		*text = f(was)
		changed = changed || *text != was
	}
	out := *p
	for _, text := range []*string{&out.Name, &out.Module, &out.File, &out.Where, &out.Format} {
		escape(text)
	}
	if len(p.Notes)+len(p.Fields) > 0 {
		out.Notes, out.Fields = slices.Clone(p.Notes), slices.Clone(p.Fields)
	}
	for i := range out.Notes {
		escape(&out.Notes[i])
	}
	for i := range out.Fields {
		field := &out.Fields[i]
		for _, text := range []*string{&field.Name, &field.C, &field.Type, &field.Note} {
			escape(text)
		}
	}
	if !changed {
		return p
	}
	return &out
}

// A Field is a part of e.
type Field struct {
	Name string `json:"name"` // "e.args.filename"
	// C is the declaration in C, "" where there is none.
	C    string `json:"c,omitempty"`
	Type string `json:"type"` // what the script gets: "int", "string"
	// Size is in bytes; 0 where it has no size of its own.
	Size int `json:"size,omitempty"`
	// Note says what else there is to know, in a few words.
	Note string `json:"note,omitempty"`
}

// A Result is what a pattern found.
type Result struct {
	// Points are what the pattern matched, Types the types of the kernel; Kinds are set instead where there was no
	// pattern.
	Points []*Point
	Types  []*Layout
	Kinds  []*Summary
	// Problems say what could not be looked at, Hints what to try instead where
	// nothing was found.
	Problems []error
	Hints    []string

	// verbose: the text has details.
	verbose bool
}

// All gives the points one by one, with their details if the source was verbose.
func (r *Result) All() iter.Seq[*Point] {
	return func(yield func(*Point) bool) {
		for _, p := range r.Points {
			if !yield(r.full(p)) {
				return
			}
		}
	}
}

// full is a point with its details if the source was verbose. A pattern can match
// all functions of the kernel, so these are not kept.
func (r *Result) full(p *Point) *Point {
	if !r.verbose || p.detail == nil {
		return p
	}
	full := *p
	p.detail(&full)
	return &full
}

// Empty reports whether nothing was found.
func (r *Result) Empty() bool { return len(r.Points)+len(r.Types)+len(r.Kinds) == 0 }

func (r *Result) problem(err error) {
	if err == nil {
		return
	}
	for _, have := range r.Problems {
		if have.Error() == err.Error() {
			return
		}
	}
	r.Problems = append(r.Problems, err)
}

func (r *Result) hint(text string) {
	if text != "" {
		r.Hints = append(r.Hints, text)
	}
}

// A Source is where points are looked for.
type Source struct {
	// Facts know the kernel.
	Facts *kernel.Facts
	// Programs know the files of user programs.
	Programs Programs
	// Traced says that there is one traced program, which patterns may leave out.
	Traced bool
	// NoCounters: the CPU of this machine counts nothing.
	NoCounters bool
	// Verbose: points have their details.
	Verbose bool

	// known has the Field of each TypeID that has been looked at, nameless: there are far
	// fewer than arguments.
	known *sync.Map
}

// Programs finds points of user programs (package binary).
type Programs interface {
	// Names finds the functions of a file that a query means.
	Names(q binary.Query) ([]binary.Listed, *binary.File, error)
	// SourceFiles are the source files of a file that match a pattern.
	SourceFiles(file, pattern string) ([]string, *binary.File, error)
	// Functions are those of a file that a query means.
	Functions(q binary.Query) ([]binary.Function, *binary.File, error)
	// Inside says why no probe may stand so many bytes behind a function's start.
	Inside(at *binary.File, fn binary.Function, offset uint64) error
	// Lines are the places of a line of a source file in a file.
	Lines(file, source string, line int) ([]binary.Function, *binary.File, error)
	// Locals are the variables in sight so many bytes behind a function's start.
	Locals(at *binary.File, fn binary.Function, inside uint64) ([]locals.Variable, error)
	// Static finds the static probes of a file that match PROVIDER:NAME or NAME.
	Static(file, pattern string) ([]usdt.StaticProbe, *binary.File, error)
	// Line gives the file and line of the source, "" if they are not known.
	Line(at *binary.File, addr uint64) string
	// Changed is what debug information says of the function at an address, as a compiler has changed its calls; nil
	// where it says nothing.
	Changed(at *binary.File, addr uint64, by signature.Alteration) *signature.Signature
	// Type is the type at a place in the debug information of a file, as one of btf.
	Type(at *binary.File, off dwarf.Offset, btf *kernel.BTF) (kernel.TypeID, error)
	// Mapped gives the paths of the files with code that the traced process has mapped.
	Mapped() ([]string, error)
}

// A Summary says what there is of a kind.
type Summary struct {
	// Kind is the long word, Short the short one, "" where there is none.
	Kind  string `json:"kind"`
	Short string `json:"short,omitempty"`
	// What says in a sentence what the points of the kind are.
	What string `json:"what"`
	// Form is how they are written.
	Form string `json:"form"`
	// Examples are points as scripts write them.
	Examples []string `json:"examples"`
	Count    *int     `json:"count,omitempty"` // nil where that is not known
	// Groups are how many there are in each category or module, the largest first.
	Groups []Group `json:"groups,omitempty"`
}

// A Group is a category of tracepoints, or a module with functions: its Name, and how many there are in it, Count.
type Group struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
}

// A Layout is a type of the kernel, or a member of one.
type Layout struct {
	Type string `json:"type"` // "struct task_struct", "struct task_struct.mm"
	// C is the type as C has it where Type names a member or a typedef; "" otherwise.
	C string `json:"c,omitempty"`
	// Size is in bytes, 0 for what has none.
	Size   int    `json:"size"`
	Offset int    `json:"offset,omitempty"` // of a member: from the start of the struct that it is in
	In     string `json:"in,omitempty"`     // that struct
	// Members are those of a struct or union, Values the names of an enum.
	Members []Member `json:"members,omitempty"`
	Values  []Value  `json:"values,omitempty"`
}

// A Member is a member of a struct or union; an anonymous one has members.
type Member struct {
	// Name is "" for an anonymous struct or union.
	Name string `json:"name,omitempty"`
	// C is the declaration in C.
	C string `json:"c"`
	// Offset is in bytes from the start of the struct that was asked for.
	Offset int `json:"offset"`
	// Size is in bytes; 0 for a bit-field, which has Bits bits from the bit Bit of the byte at Offset on.
	Size int `json:"size,omitempty"`
	Bit  int `json:"bit,omitempty"`
	Bits int `json:"bits,omitempty"`
	// Type is what the script gets: "int", "string".
	Type string `json:"type"`
	// Members are those of an anonymous struct or union.
	Members []Member `json:"members,omitempty"`
}

// A Value is a name of an enum, Name, and its number, Value.
type Value struct {
	Name  string `json:"name"`
	Value int64  `json:"value"`
}
