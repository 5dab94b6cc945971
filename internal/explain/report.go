// Package explain says what a compiled script does, in words for people who
// know no eBPF: which function runs where and why, what each event carries,
// what is attached to what, which memory and functions of the kernel are used.
//
// New collects facts into a Report, which prints as text (WriteText) and as
// JSON. Everything is read from what the compiler made; nothing is computed
// twice, so a Report cannot say something else than what is loaded.
package explain

import (
	"github.com/startrace/startrace/bpfgen"
	"github.com/startrace/startrace/bpfgen/infer"
	"github.com/startrace/startrace/internal/plan"
)

// Report, what `explain` prints, and its stages --types, --ir, --asm.

// Input is what a Report is made of.
type Input struct {
	Script string // as the user named it
	Who    string // whose events count
	// Plan is what the script has declared.
	Plan   *plan.Plan
	Result *infer.Result // nil where inference could not begin
	Unit   *bpfgen.Unit  // nil where the script has mistakes
	// CPUs are those that are online, PossibleCPUs those that the kernel makes
	// room for.
	CPUs, PossibleCPUs int
	// Callbacks are functions that the session calls without an event.
	Callbacks []Callback
	// Source gives a line of a script, counted from 1; "" where there is none.
	Source func(file string, line int) string
	// Errors are the mistakes of the script, each with its place.
	Errors []string
	Note   string // see Report
	// Stages are what is shown of the compiler.
	Stages Stages
}

// Stages are the stages of the compiler that are shown: the trees (Types), the SSA (IR), the instructions (Asm).
type Stages struct {
	Types, IR, Asm bool
	// Cost asks for what each program costs at most, for an Audit.
	Cost bool
	// Pass is the pass after which the IR is shown, "" for none.
	Pass string
}

// A Callback is a function that timers or the end of the run call.
type Callback struct {
	When string `json:"when"` // "every 1s"
	// Name is the function's.
	Name string `json:"name"`
	// Pos is where the function stands; "" for one that is not of the script.
	Pos string `json:"pos,omitempty"`
}

// A Report is what explain prints.
type Report struct {
	// Script is the script as the user named it.
	Script string `json:"script"`
	// Who says whose events count, in a sentence.
	Who string `json:"who,omitempty"`
	// Probes are those of the script, in its order.
	Probes []Probe `json:"probes"`
	// Callbacks are the functions that are called without an event.
	Callbacks []Callback `json:"callbacks,omitempty"`
	// Own are the programs that serve no single probe.
	Own []Program `json:"own_programs,omitempty"`
	// Maps are the kernel's memory for containers, spans and the rest.
	Maps []Map `json:"maps,omitempty"`
	// Helpers are the functions of the kernel that programs call.
	Helpers []Helper `json:"helpers,omitempty"`
	// Notes say which way was taken where this kernel lacks the one asked for.
	Notes []string `json:"notes,omitempty"`
	// Errors are the mistakes of the script, each with its place.
	Errors []string `json:"errors,omitempty"`
	// Note says what must be known to read the stages, of which those that were asked for follow: Types has the trees
	// of all programs as text, IR a text for each program and stage, Asm the instructions.
	Note  string    `json:"note,omitempty"`
	Types string    `json:"types,omitempty"`
	IR    []IR      `json:"ir,omitempty"`
	Asm   []Listing `json:"asm,omitempty"`

	// compiled: there are programs, so their sizes are known.
	compiled bool
}

// A Probe is one probe() of the script.
type Probe struct {
	// Name is that of name=, or the points.
	Name string `json:"name"`
	// Pos is the place of the call.
	Pos string `json:"pos"`
	// Points are those that its patterns matched on this kernel.
	Points []string `json:"points"`
	// Choices are what this kernel has of each first().
	Choices []Choice `json:"choices,omitempty"`
	// Functions are those that the script gave it.
	Functions []Function `json:"functions"`
	// Events are the records that it sends.
	Events []Event `json:"events,omitempty"`
	// Spans are what is kept between starts and ends.
	Spans []Span `json:"spans,omitempty"`
	// Programs are those that serve it.
	Programs []Program `json:"programs,omitempty"`
	// Printed: the events have no handler, so a line is printed for each.
	Printed bool `json:"printed,omitempty"`
	// Keep is how many events the kernel keeps until dump() asks, 0: they are sent.
	Keep int `json:"keep,omitempty"`
}

// A Choice is a first(): what this kernel has of it.
type Choice struct {
	// Chosen are the points that are used.
	Chosen  []string `json:"chosen"`
	Refused []string `json:"refused,omitempty"` // and why
	// Rest is how many alternatives behind these were not tried.
	Rest int `json:"not_tried,omitempty"`
}

// A Function is a function of a probe with the side it runs on.
type Function struct {
	// Role is what the function is to the probe: "where", "handler", "start", "kernel", "key", "event".
	Role string `json:"role"`
	// Name and Pos are those of the function, or "" where there is none, as of a line that startrace prints.
	Name string `json:"name"`
	Pos  string `json:"pos"`
	Side string `json:"side"` // "kernel" or "user"
	// Why says why it runs on that side.
	Why string `json:"why"`
	// Gets are the parts of the event that are sent to a user half.
	Gets []string `json:"gets,omitempty"`
	// Makes are the changes of tables and cells that the kernel makes for a user half.
	Makes []string `json:"makes,omitempty"`
	// Calls are the functions of the script that it uses, on the same side.
	Calls []string `json:"calls,omitempty"`
	// Shares are the tables and aggregations that it uses.
	Shares []string `json:"shares,omitempty"`
	// Constants are captured values, which are part of the program.
	Constants []Constant `json:"constants,omitempty"`
}

// A Constant is a value of the script that a kernel half captured: the Name by which the function knows it, and the
// Value as the script would write it.
type Constant struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// An Event is a record that a probe sends.
type Event struct {
	// Number is the one by which records of it are known.
	Number int  `json:"number"`
	Start  bool `json:"start,omitempty"` // of the handler start=
	// Others are the numbers of events with the same layout, from other points.
	Others []int `json:"same_layout,omitempty"`
	// Header is how many bytes stand before the fields: the number, the CPU, the time.
	Header int `json:"header_bytes"`
	// Fields are what user space gets.
	Fields []Field `json:"fields"`
	// Min is how many bytes such a record has without the text of strings, Max with as much text as there is room for.
	Min int `json:"min_bytes"`
	Max int `json:"max_bytes"`
}

// A Field is a value in an event, a key or a map's value. Bytes of the text
// of strings, which follow the fixed part of an event, are in Text.
type Field struct {
	// Name is the expression as the script has it, or what the field is.
	Name string `json:"name"`
	// Type is the field's in words: "int of 64 bits".
	Type string `json:"type"`
	// Off is where it begins, in bytes from the start of the event, key or value.
	Off   int `json:"offset"`
	Bytes int `json:"bytes"`
	Text  int `json:"text_bytes,omitempty"` // at most
}

// A Span is what is kept between the start and the end of a call.
type Span struct {
	// Kept are the values, each with its type in words.
	Kept []string `json:"kept"`
	// Bytes is how much one entry takes, without its key.
	Bytes int `json:"bytes"`
	// Entries is how many can be open at a time.
	Entries int `json:"entries"`
	// By says by what an end finds its start: "thread", or "key" with its type.
	By string `json:"by"`
}

// A Program is one program in the kernel.
type Program struct {
	// Name is the program's in the kernel.
	Name string `json:"name"`
	// Attached says at what, in words; Times is at how many places that is.
	Attached string `json:"attached"`
	Times    int    `json:"attachments"`
	// Instructions is how many there are, with those of subprograms; a 64-bit load counts two.
	Instructions int `json:"instructions"`
	// Code is the program whose instructions this one has, which then has none of its own.
	Code string `json:"same_as,omitempty"`
	// Calls are functions of the script that are called at several places.
	Calls []Called `json:"calls,omitempty"`
}

// A Called is a function of the script that a program calls at several places in
// the same way, or the body of a loop. Its code stands there once, as a subprogram, or at each call,
// and Why says why.
type Called struct {
	// Name is the function's, or what the loop is.
	Name string `json:"name"`
	// Pos is the place of the first call.
	Pos string `json:"first_call"`
	// Places is at how many places it is called.
	Places int `json:"places"`
	// Instructions is how many its code has, where it stands once.
	Instructions int    `json:"instructions,omitempty"`
	Why          string `json:"why,omitempty"`
	// Rounds is set for a loop whose body is a function that the kernel calls, or
	// would if it could be: how often at most.
	Rounds int64 `json:"rounds,omitempty"`
}

// A Map is a piece of memory of the kernel.
type Map struct {
	Name string `json:"name"` // of the container in the script, else of the map
	Map  string `json:"map"`
	// Kind is the kernel's kind of map: "hash".
	Kind string `json:"kind"`
	// What says what it is for.
	What string `json:"what"`
	// Key and Value are the layouts of a key and a value; nil where the script has no part in them.
	Key   []Field `json:"key,omitempty"`
	Value []Field `json:"value,omitempty"`
	// KeySize and ValSize are the bytes of a key and of a value.
	KeySize int `json:"key_bytes,omitempty"`
	ValSize int `json:"value_bytes,omitempty"`
	// Entries is for how many there is room.
	Entries int `json:"entries"`
	Memory  int `json:"memory_bytes"` // about
	// Pos is where the container was declared; "" for maps of startrace itself.
	Pos string `json:"pos,omitempty"`
}

// A Helper is a function of the kernel that programs call.
type Helper struct {
	// Name is the kernel's for it: "bpf_probe_read_kernel".
	Name string `json:"name"`
	// What says in words what it does; "" where nothing is known of it.
	What  string `json:"what,omitempty"`
	Calls int    `json:"calls"` // places in all programs
}

// An IR is the intermediate code of a program behind a stage: the name of the Program, the name of the Stage, and the
// Text.
type IR struct {
	Program string `json:"program"`
	Stage   string `json:"stage"`
	Text    string `json:"text"`
}

// New makes the report of in.
func New(in *Input) *Report {
	r := &Report{Script: in.Script, Who: in.Who, Callbacks: in.Callbacks, Errors: in.Errors, Note: in.Note,
		Probes: []Probe{}}
	for _, p := range in.Plan.Probes {
		r.Probes = append(r.Probes, in.probe(p))
	}
	if in.Result != nil {
		for _, n := range in.Result.Notes {
			r.Notes = append(r.Notes, n.Error())
		}
	}
	if in.Unit == nil {
		return r
	}
	r.compiled = true
	r.Own = in.programs(-1)
	r.Maps = in.maps()
	r.Helpers = in.helpers()
	if in.Stages.Types {
		r.Types = in.Unit.Tree.String()
	}
	r.IR = in.intermediate()
	if in.Stages.Asm {
		r.Asm = in.listings()
	}
	return r
}

// intermediate is the IR that was asked for.
func (in *Input) intermediate() (out []IR) {
	for _, p := range in.Unit.Tree.Programs {
		d := in.Unit.Dumps[p.Name]
		if d == nil {
			continue
		}
		if in.Stages.IR {
			out = append(out, IR{p.Name, "built", d.IR}, IR{p.Name, "improved", d.Opt},
				IR{p.Name, "lowered", d.Machine})
		}
		for _, run := range d.Passes {
			out = append(out, IR{p.Name, passStage(in.Stages.Pass, run), run.Text})
		}
	}
	return out
}
