package line

import (
	"errors"
	"os"
	"strings"
)

// Console: lines read at a terminal or pipe, and output above them.

// An InputKind says what an Input is.
type InputKind uint8

// The kinds.
const (
	Nothing   InputKind = iota
	Line                // Text has been entered
	Abandoned           // Ctrl-C was pressed: what has begun is to be forgotten
	Ended               // there will be no more
)

// An Input is what was typed.
type Input struct {
	// Kind says which of the other fields count.
	Kind InputKind
	// Text is a line, or the lines of a block that was recalled as one.
	Text string
	// Pasted: it is one of several lines that were pasted.
	Pasted bool
}

// Options are what a console needs of those who read from it.
type Options struct {
	// Wake is called by other goroutines when there is something to take.
	Wake func()
	// Cancel ends what the interpreter runs; other goroutines call it.
	Cancel func(reason string)
	// Complete gives the words that could stand behind a text. It is called by
	// Take.
	Complete func(before string) Completion
}

// A Console reads lines, and writes above the line that is edited.
type Console struct {
	Options
	keys    *keyboard
	term    *terminal
	edit    *editor // nil where lines come as they are
	history *history
	suggest string // what the next line begins with
}

// New makes a console of the place of standard input and output. Nothing is
// read before Start.
func New(in *os.File, out *os.File) *Console {
	t := &terminal{in: in, w: out}
	t.isTerminal = IsTerminal(in) && IsTerminal(out)
	kind := os.Getenv("TERM")
	t.smart = t.isTerminal && kind != "dumb" && kind != ""
	return &Console{term: t, keys: newKeyboard(in), history: &history{}}
}

// IsTerminal reports whether somebody types and reads.
func (c *Console) IsTerminal() bool { return c.term.isTerminal }

// Edits reports whether the terminal can move its cursor, so that output goes
// above the line.
func (c *Console) Edits() bool { return c.term.smart }

// Start begins to read. Where lines cannot be edited, because there is no
// pseudo terminal to be had, they come as they are, and the error says why.
func (c *Console) Start(o Options) (err error) {
	c.Options = o
	if c.term.smart {
		err = c.startEditor()
	}
	c.keys.edited = c.edit != nil
	c.keys.start(o.Wake, o.Cancel)
	return err
}

func (c *Console) startEditor() (err error) {
	defer func() {
		if err != nil {
			c.term.restore()
			c.term.smart = false
		}
	}()
	if err := c.keys.mayPause(); err != nil {
		return err
	}
	if err := c.term.edit(); err != nil {
		return err
	}
	e, err := newEditor(c.keys, c.term, c.Wake)
	if err != nil {
		return err
	}
	c.edit, c.history = e, readHistory()
	c.keys.in, c.term.in, c.term.w = e.in, e.in, e.out
	for _, entry := range c.history.entries {
		e.liner.AppendHistory(forLiner(entry))
	}
	return nil
}

// Ask shows a prompt, unless it stands there.
func (c *Console) Ask(p Prompt) {
	switch {
	case c.edit != nil:
		c.edit.ask(p, c.suggest)
		c.suggest = ""
	case c.term.isTerminal:
		c.term.ask(p.String())
	}
}

// Suggest lets the next line begin with a text, which can be edited.
func (c *Console) Suggest(text string) { c.suggest = text }

// Lend gives the terminal to another program, as it was before Start. It is
// taken back by back; what is written until then is shown afterwards. Lines
// must be edited, and none be asked for.
func (c *Console) Lend() (in, out *os.File, back func() error, err error) {
	if c.edit == nil {
		return nil, nil, nil, errors.New("lines are not edited at this terminal")
	}
	resume, err := c.keys.pause()
	if err != nil {
		return nil, nil, nil, err
	}
	back = func() error {
		defer resume()
		return c.term.takeBack()
	}
	if err := c.term.lend(); err != nil {
		return nil, nil, nil, errors.Join(err, back())
	}
	return c.edit.in, c.edit.out, back, nil
}

// Take takes what was typed, and answers Tab. It does not wait.
func (c *Console) Take() Input {
	if c.edit == nil {
		return c.takeLine()
	}
	if q := c.edit.question(); q != nil {
		q.answer <- c.tab(q.before)
	}
	return c.edit.take()
}

// maxOfferRows bounds how much completion shows at once.
const maxOfferRows = 20

// tab is what Tab adds to the line. What could be added is shown above it.
func (c *Console) tab(before string) string {
	if strings.TrimSpace(before[strings.LastIndexByte(before, '\n')+1:]) == "" {
		return "    "
	}
	added, offers := c.Complete(before).added(before)
	if len(offers) > 0 {
		_, _ = c.Write([]byte(columns(offers, c.term.width(), maxOfferRows))) // the next write of results reports it
	}
	return added
}

// takeLine takes a line from a pipe or a terminal that cannot do more.
func (c *Console) takeLine() Input {
	if c.keys.takeInterrupt() {
		c.term.abandoned()
		return Input{Kind: Abandoned}
	}
	line, ok, ended := c.keys.line()
	switch {
	case ok:
		c.term.answered()
		return Input{Kind: Line, Text: line, Pasted: !c.term.isTerminal}
	case ended:
		return Input{Kind: Ended}
	}
	return Input{}
}

// Waiting reports whether Take would give an interrupt at once.
func (c *Console) Waiting() bool { return c.edit == nil && c.keys.waiting() }

// Interrupt is Ctrl-C that came as a signal, from any goroutine.
func (c *Console) Interrupt() {
	if c.edit != nil {
		c.keys.take([]byte{interruptKey}, false)
	} else {
		c.keys.signal()
	}
	c.Wake()
}

// Begin says that what was entered runs: Ctrl-C ends it. It reports false if
// Ctrl-C came before.
func (c *Console) Begin() bool { return c.keys.begin() }

// Done says that it has ended.
func (c *Console) Done() { c.keys.done() }

// Interrupted reports whether Ctrl-C ended what runs.
func (c *Console) Interrupted() bool { return c.keys.interrupted() }

// TakeInterrupt reports whether Ctrl-C came while nothing ran, once.
func (c *Console) TakeInterrupt() bool { return c.keys.takeInterrupt() }

// Remember adds an entry to the history: a line, or a block of several.
func (c *Console) Remember(entry string) {
	if c.edit != nil {
		c.history.add(entry)
		c.edit.liner.AppendHistory(forLiner(entry))
	}
}

// SaveHistory adds what was entered to the history of all runs.
func (c *Console) SaveHistory() error { return c.history.save() }

// Write shows results and messages, above the line that is edited.
func (c *Console) Write(b []byte) (int, error) { return c.term.Write(b) }

// Fresh begins a new row, if something was printed that ended in the middle of
// one.
func (c *Console) Fresh() { c.term.fresh() }

// Leave removes the prompt.
func (c *Console) Leave() { c.term.leave() }

// Restore gives the terminal back as it was. It may be called at any time, by
// any goroutine.
func (c *Console) Restore() { c.term.restore() }
