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

// Input is what a Report is made of.
type Input struct {
	Script string // as the user named it
	Who    string // whose events count
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
	Errors []string
	Note   string // see Report
	Stages Stages
}

// Stages are the stages of the compiler that are shown.
type Stages struct {
	Types, IR, Asm bool
	// Pass is the pass after which the IR is shown, "" for none.
	Pass string
}

// A Callback is a function that timers or the end of the run call.
type Callback struct {
	When string `json:"when"` // "every 1s"
	Name string `json:"name"`
	Pos  string `json:"pos,omitempty"`
}

// A Report is what explain prints.
type Report struct {
	Script    string     `json:"script"`
	Who       string     `json:"who,omitempty"`
	Probes    []Probe    `json:"probes"`
	Callbacks []Callback `json:"callbacks,omitempty"`
	// Own are the programs that serve no single probe.
	Own     []Program `json:"own_programs,omitempty"`
	Maps    []Map     `json:"maps,omitempty"`
	Helpers []Helper  `json:"helpers,omitempty"`
	// Notes say which way was taken where this kernel lacks the one asked for.
	Notes  []string `json:"notes,omitempty"`
	Errors []string `json:"errors,omitempty"`
	// The stages that were asked for, and what must be known to read them.
	Note  string    `json:"note,omitempty"`
	Types string    `json:"types,omitempty"`
	IR    []IR      `json:"ir,omitempty"`
	Asm   []Listing `json:"asm,omitempty"`

	compiled bool
}

// A Probe is one probe() of the script.
type Probe struct {
	Name      string     `json:"name"`
	Pos       string     `json:"pos"`
	Points    []string   `json:"points"`
	Choices   []Choice   `json:"choices,omitempty"`
	Functions []Function `json:"functions"`
	Events    []Event    `json:"events,omitempty"`
	Spans     []Span     `json:"spans,omitempty"`
	Programs  []Program  `json:"programs,omitempty"`
	// Printed: the events have no handler, so a line is printed for each.
	Printed bool `json:"printed,omitempty"`
	// Keep is how many events the kernel keeps until dump() asks, 0: they are sent.
	Keep int `json:"keep,omitempty"`
}

// A Choice is a first(): what this kernel has of it.
type Choice struct {
	Chosen  []string `json:"chosen"`
	Refused []string `json:"refused,omitempty"` // and why
	Rest    int      `json:"not_tried,omitempty"`
}

// A Function is a function of a probe with the side it runs on.
type Function struct {
	Role string `json:"role"`
	Name string `json:"name"`
	Pos  string `json:"pos"`
	Side string `json:"side"` // "kernel" or "user"
	Why  string `json:"why"`
	// Gets are the parts of the event that are sent to a user half.
	Gets []string `json:"gets,omitempty"`
	// Calls are the functions of the script that it uses, on the same side.
	Calls []string `json:"calls,omitempty"`
	// Shares are the tables and aggregations that it uses.
	Shares []string `json:"shares,omitempty"`
	// Constants are captured values, which are part of the program.
	Constants []Constant `json:"constants,omitempty"`
}

// A Constant is a value of the script that a kernel half captured.
type Constant struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// An Event is a record that a probe sends.
type Event struct {
	Number int  `json:"number"`
	Start  bool `json:"start,omitempty"` // of the handler start=
	// Others are the numbers of events with the same layout, from other points.
	Others []int   `json:"same_layout,omitempty"`
	Header int     `json:"header_bytes"`
	Fields []Field `json:"fields"`
	Min    int     `json:"min_bytes"`
	Max    int     `json:"max_bytes"`
}

// A Field is a value in an event, a key or a map's value. Bytes of the text
// of strings, which follow the fixed part of an event, are in Text.
type Field struct {
	Name  string `json:"name"`
	Type  string `json:"type"`
	Off   int    `json:"offset"`
	Bytes int    `json:"bytes"`
	Text  int    `json:"text_bytes,omitempty"` // at most
}

// A Span is what is kept between the start and the end of a call.
type Span struct {
	Kept    []string `json:"kept"`
	Bytes   int      `json:"bytes"`
	Entries int      `json:"entries"`
	By      string   `json:"by"`
}

// A Program is one program in the kernel.
type Program struct {
	Name         string `json:"name"`
	Attached     string `json:"attached"`
	Times        int    `json:"attachments"`
	Instructions int    `json:"instructions"`
	// Calls are functions of the script that are called at several places.
	Calls []Called `json:"calls,omitempty"`
}

// A Called is a function of the script that a program calls at several places in
// the same way, or the body of a loop. Its code stands there once, as a subprogram, or at each call,
// and Why says why.
type Called struct {
	Name         string `json:"name"`
	Pos          string `json:"first_call"`
	Places       int    `json:"places"`
	Instructions int    `json:"instructions,omitempty"`
	Why          string `json:"why,omitempty"`
	// Rounds is set for a loop whose body is a function that the kernel calls, or
	// would if it could be: how often at most.
	Rounds int64 `json:"rounds,omitempty"`
}

// A Map is a piece of memory of the kernel.
type Map struct {
	Name    string  `json:"name"` // of the container in the script, else of the map
	Map     string  `json:"map"`
	Kind    string  `json:"kind"`
	What    string  `json:"what"`
	Key     []Field `json:"key,omitempty"`
	Value   []Field `json:"value,omitempty"`
	KeySize int     `json:"key_bytes,omitempty"`
	ValSize int     `json:"value_bytes,omitempty"`
	Entries int     `json:"entries"`
	Memory  int     `json:"memory_bytes"` // about
	Pos     string  `json:"pos,omitempty"`
}

// A Helper is a function of the kernel that programs call.
type Helper struct {
	Name  string `json:"name"`
	What  string `json:"what,omitempty"`
	Calls int    `json:"calls"` // places in all programs
}

// An IR is the intermediate code of a program behind a stage.
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
