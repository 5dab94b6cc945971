package script

import (
	"errors"
	"slices"
	"strings"

	"go.starlark.net/syntax"

	"github.com/startrace/startrace/builtins"
	"github.com/startrace/startrace/internal/plan"
)

// All mistakes of a script at once: what is wrong is taken out, and the rest run again.
//
// A script that does not run has often more than one mistake. A Survey finds
// the others: it runs the script once more without effect, takes what is wrong
// out of the text, and goes on. What is missing then is unknown, and what
// follows from that is no mistake.

// mostRuns bounds the mistakes that a survey takes out, mostSteps what it runs of
// a script each time: what comes after that is not looked at.
const (
	mostRuns  = 50
	mostSteps = 2_000_000
)

// unknownName stands in the text for an expression that was taken out.
const unknownName = "unknown_"

// AllMistakes gives the mistakes of the script that h has parsed, or failed to
// parse; first are those that are known. What is declared in spite of them is
// given to compile, for the mistakes of its kernel halves: an error with
// Unwrap() []error, each a Placed.
func (h *Host) AllMistakes(first Errors, args []string, compile func(*plan.Plan) error) Errors {
	s := &surveyor{from: h, args: args, lost: make(map[string]bool), noted: make(map[string]bool),
		lines: strings.Split(h.text, "\n")}
	s.note(first)
	for range mostRuns {
		if s.run() {
			break
		}
	}
	if s.plan != nil && len(s.plan.Probes) > 0 {
		s.note(placedErrors(compile(s.plan)))
	}
	s.found.Sort()
	return s.found
}

// Placed is an error that knows its place.
type Placed interface {
	// Place is the place, and the message without it.
	Place() (plan.Pos, string)
}

func placedErrors(err error) (out Errors) {
	var many interface{ Unwrap() []error }
	if !errors.As(err, &many) {
		return nil
	}
	for _, e := range many.Unwrap() {
		if p, ok := e.(Placed); ok {
			pos, msg := p.Place()
			out = append(out, &Error{Pos: pos, Msg: msg})
		}
	}
	return out
}

// outermost is the innermost place in the script's own text on the way to a
// mistake.
func (h *Host) outermost(e *Error) position {
	if e.Pos.Filename() == h.name {
		return placeOf(e.Pos)
	}
	for _, fr := range slices.Backward(e.Trace) {
		if fr.Pos.Filename() == h.name {
			return placeOf(fr.Pos)
		}
	}
	return position{}
}

// note keeps mistakes that are new and follow from none before.
func (s *surveyor) note(es Errors) {
	for _, e := range es {
		if errors.Is(e, errNoRoom) {
			continue // the first one is known, and what else takes too much depends on what is garbage by now
		}
		if text := e.Error(); !strings.Contains(e.Msg, plan.UnknownType) && !s.noted[text] {
			s.noted[text] = true
			s.found = append(s.found, e)
		}
	}
}

// Sort puts mistakes in the order of the text.
func (es Errors) Sort() {
	slices.SortStableFunc(es, func(a, b *Error) int {
		if a.Pos.Filename() != b.Pos.Filename() {
			return strings.Compare(a.Pos.Filename(), b.Pos.Filename())
		}
		switch at, bt := placeOf(a.Pos), placeOf(b.Pos); {
		case at.before(bt):
			return -1
		case bt.before(at):
			return 1
		}
		return 0
	})
}

// run runs what is left of the script and reports whether that is the end.
func (s *surveyor) run() (done bool) {
	h := New(s.options())
	h.survey, h.name = s, s.from.name
	h.thread.SetMaxExecutionSteps(mostSteps)
	f, err := h.parse(s.from.name, []byte(strings.Join(s.lines, "\n")))
	if err == nil {
		h.main = f
		h.env.Flags.Words = h.flagWords(f)
		h.env.Flags.Args = s.args
		h.env.Muted = true
		err = h.explain(h.runMain())
	}
	var wrong Errors
	if err == nil || !errors.As(err, &wrong) || h.thread.ExecutionSteps() >= mostSteps {
		s.plan = h.Plan()
		return true
	}
	if f == nil && s.whole {
		return true // something was taken out badly
	}
	s.whole = f != nil
	s.note(wrong)
	return !s.mend(h, f, wrong)
}

// mend makes names unknown that nothing defines, and takes out what else is
// wrong; it reports whether the script is another one now.
func (s *surveyor) mend(h *Host, f *file, wrong Errors) (changed bool) {
	for _, e := range wrong {
		if rest, ok := strings.CutPrefix(e.Msg, "undefined: "); ok {
			name, _, _ := strings.Cut(rest, " ")
			changed = changed || !s.lost[name]
			s.lost[name] = true
		} else if at := h.outermost(e); at != (position{}) && s.takeOut(f, at) {
			return true // the places of the others may have moved
		}
	}
	return changed
}

func (s *surveyor) options() Options {
	o := s.from.opts
	o.Warn, o.Runtime = nil, builtins.Idle{}
	if room := o.Room; room != nil {
		o.Room = func(bytes uint64) error {
			if room(bytes) != nil {
				return errNoRoom
			}
			return nil
		}
	}
	return o
}

// errNoRoom is what a survey says of what takes too much memory.
var errNoRoom = errors.New("this takes too much memory")

// unknown reports whether a name stands for something that was taken out, or
// that the resolver does not know and that has been reported.
func (s *surveyor) unknown(name string) bool { return name == unknownName || s.lost[name] }

// takeOut takes the statement at a place out of the text; without a tree it is
// the block of lines that begins at the margin.
func (s *surveyor) takeOut(f *file, at position) bool {
	if f == nil {
		return s.takeBlock(int(at.line))
	}
	st := statementAt(f.tree.Stmts, at)
	if st == nil {
		return false
	}
	from, to := st.Span()
	keep := "pass"
	switch st := st.(type) {
	case *syntax.AssignStmt:
		if id, ok := st.LHS.(*syntax.Ident); ok {
			keep = id.Name + " = " + unknownName
		} else {
			s.loseNames(st.LHS)
		}
	case *syntax.ReturnStmt:
		keep = "return " + unknownName
	default:
		s.loseAll(st)
	}
	return s.replace(placeOf(from), placeOf(to), keep)
}

// replace puts text into the place of a part of the script, whose lines stay.
func (s *surveyor) replace(from, to position, text string) bool {
	if from.line < 1 || int(to.line) > len(s.lines) {
		return false
	}
	first, last := []rune(s.lines[from.line-1]), []rune(s.lines[to.line-1])
	head, tail := string(first[:min(int(from.col)-1, len(first))]), string(last[min(int(to.col)-1, len(last)):])
	tail = strings.TrimLeft(tail, ")]}") // the tree ends some nodes before their bracket
	was := strings.Join(s.lines[from.line-1:to.line], "\n")
	for i := from.line; i < to.line; i++ {
		s.lines[i] = ""
	}
	if strings.HasPrefix(strings.TrimSpace(tail), "#") {
		tail = ""
	}
	s.lines[from.line-1] = head + text + tail
	return strings.Join(s.lines[from.line-1:to.line], "\n") != was
}

// takeBlock takes out the lines from the one at the margin above to the next
// such one. The names in it may be assigned there.
func (s *surveyor) takeBlock(line int) bool {
	if line < 1 || line > len(s.lines) {
		return false
	}
	from := line - 1
	for from > 0 && !atMargin(s.lines[from]) {
		from--
	}
	to := line
	for to < len(s.lines) && !atMargin(s.lines[to]) {
		to++
	}
	some := false
	for i := from; i < to; i++ {
		some = some || s.lines[i] != ""
		for _, w := range lex(s.lines[i]) {
			s.lost[w.text] = true
		}
		s.lines[i] = ""
	}
	return some
}

// atMargin reports whether a line begins a statement at the margin.
func atMargin(line string) bool {
	return line != "" && !strings.ContainsAny(line[:1], " \t#)]}\r") && !strings.HasPrefix(line, "else") &&
		!strings.HasPrefix(line, "elif")
}

// statementAt is the smallest statement around a place.
func statementAt(list []syntax.Stmt, at position) syntax.Stmt {
	for _, st := range list {
		from, to := st.Span()
		if at.before(placeOf(from)) || placeOf(to).before(at) {
			continue
		}
		for _, inner := range blocksOf(st) {
			if found := statementAt(inner, at); found != nil {
				return found
			}
		}
		return st
	}
	return nil
}

func blocksOf(st syntax.Stmt) [][]syntax.Stmt {
	switch st := st.(type) {
	case *syntax.DefStmt:
		return [][]syntax.Stmt{st.Body}
	case *syntax.ForStmt:
		return [][]syntax.Stmt{st.Body}
	case *syntax.IfStmt:
		return [][]syntax.Stmt{st.True, st.False}
	}
	return nil
}

// loseNames makes the names in an expression unknown.
func (s *surveyor) loseNames(n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		if id, ok := n.(*syntax.Ident); ok {
			s.lost[id.Name] = true
		}
		return true
	})
}

// loseAll makes the names unknown that a statement binds.
func (s *surveyor) loseAll(st syntax.Stmt) {
	syntax.Walk(st, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.AssignStmt:
			s.loseNames(n.LHS)
		case *syntax.DefStmt:
			s.lost[n.Name.Name] = true
		case *syntax.LoadStmt:
			for _, to := range n.To {
				s.lost[to.Name] = true
			}
		}
		return true
	})
}
