package session

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/bpfgen/infer"
	"github.com/startrace/startrace/internal/attach"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/stream"
	"github.com/startrace/startrace/starlark/repl"
)

// A prompt is a session whose script is typed while it runs. What is typed
// runs on the same goroutine as the callbacks: between two turns of the loop.
type prompt struct {
	s     *session
	in    repl.Input
	keys  *keyboard
	term  *terminal
	edit  *repl.Editor // nil where lines come as they are
	typed []*typedChunk

	containers attach.Shared
	fixed      infer.Types
	target     plan.Target
	// replaced are the probes that the chunk that runs replaces, once its own
	// are loaded: stopped until these are attached, then gone. What was not
	// attached is -1 once it is among the stopped.
	replaced []int
	stopped  []int
	gone     map[int]bool
	files    []string // that were loaded with their probes
	loaded   []string // the names that they set
	// repeating: what depends on a name that was set anew is attached again,
	// which is said once for all of it.
	repeating bool
	failed    bool
	inChunk   bool
	command   *promptCommand // of -c, nil for none
	asScript  bool           // the command runs because the input has ended
}

// promptFile is the file that all that is typed is a part of.
const promptFile = "prompt"

// Prompt reads what to trace from standard input: line by line from a terminal,
// or what a pipe gives.
func Prompt(o Options) (exit int, err error) {
	p := &prompt{gone: map[int]bool{}}
	p.fixed.Now = true
	p.term = newTerminal(&o)
	p.keys = newKeyboard(o.Stdin)
	defer guard(o, &exit, &err)
	defer p.term.restore()
	s := newSession(o)
	defer s.close()
	p.s, s.prompt = s, p
	if err := p.start(); err != nil {
		return Failed, tidy(err)
	}
	err = p.loop()
	p.term.leave()
	return s.finish(p.ended(err))
}

// start opens the output and the terminal. A terminal gets a greeting.
func (p *prompt) start() (err error) {
	s := p.s
	if err := s.apply(); err != nil {
		return err
	}
	s.screen = p.term.smart && s.Output == "" && s.Format == "text"
	if err := p.prepareCommand(); err != nil {
		return err
	}
	if p.target, err = s.target(); err != nil {
		return err
	}
	p.addWords()
	s.mayGrow()
	s.begin()
	s.declared.Store(true)
	p.keys.start(s.outside, s.host.Cancel)
	p.watchPrompt(s.Signals)
	if p.in.Pasted = !p.term.isTerminal; p.in.Pasted {
		return nil
	}
	s.messagef("startrace: probes attach while you type; help shows what there is, Ctrl-D leaves")
	if p.command != nil {
		s.messagef("%s waits; go() lets it run, once its probes are attached", s.argv[0])
	}
	if p.term.smart {
		p.edit = repl.NewEditor(readHistory(), p.complete)
		return p.term.edit()
	}
	return nil
}

// loop takes what was typed, delivers events and calls timers.
func (p *prompt) loop() error {
	s := p.s
	for !p.over() {
		p.ask()
		if done := p.takeInput(); p.over() {
			return nil
		} else if done {
			return p.runToEnd()
		}
		s.out.flush()
		if p.keys.waiting() {
			continue
		}
		p.ask() // for what comes next: nothing may happen for long
		if err := s.wait(s.untilTimer()); err != nil {
			return err
		}
		if err := p.turn(); err != nil {
			return err
		}
	}
	return nil
}

// turn is deliver between two chunks.
func (p *prompt) turn() error {
	err := p.deliver()
	p.s.host.Resume() // a second Ctrl-C may have ended a callback
	return err
}

// deliver delivers what has been recorded, and what the command has printed.
func (p *prompt) deliver() error {
	ended := p.s.childEnded.Load() // before what is delivered now
	p.relay(false)
	if err := p.s.turn(stream.Now()); err != nil {
		return err
	}
	p.s.out.flush()
	if ended {
		p.sayCommandEnded()
	}
	return nil
}

func (p *prompt) over() bool { return p.s.halted() || p.s.timeUp || p.s.interrupted.Load() }

// takeInput works off what has been typed. It reports whether the input has
// ended.
func (p *prompt) takeInput() (ended bool) {
	for !p.over() {
		var more bool
		if p.edit != nil {
			more, ended = p.takeKey()
		} else {
			more, ended = p.takeLine()
		}
		if ended {
			p.runAll(p.in.Flush())
		}
		if !more || ended {
			break
		}
	}
	return ended
}

// takeLine takes a line from a pipe or a terminal that cannot do more.
func (p *prompt) takeLine() (more, ended bool) {
	if p.keys.takeInterrupt() {
		p.in.Drop()
		p.term.abandoned()
		return true, false
	}
	line, ok, end := p.keys.line()
	if !ok {
		return false, end
	}
	p.term.answered()
	p.runAll(p.in.Add(line))
	return true, false
}

// ask shows the prompt: the number of the line, with a > where something new
// begins.
func (p *prompt) ask() {
	mark := "> "
	if p.in.Open() {
		mark = ". "
	}
	text := fmt.Sprintf("%d%s", p.in.Next(), mark)
	switch {
	case p.edit != nil:
		if searching := p.edit.Searching(); searching != "" {
			text = searching
		}
		p.term.draw(text, p.edit.Line(), p.edit.At())
	case p.term.isTerminal:
		p.term.ask(text)
	}
}

func (p *prompt) runAll(chunks []repl.Chunk) {
	for _, c := range chunks {
		if p.over() {
			return
		}
		p.run(c)
	}
}

// ended is the error that the run ends with.
func (p *prompt) ended(err error) error {
	p.saveHistory()
	if p.failed && !p.term.isTerminal {
		p.s.code = max(p.s.code, Failed)
	}
	return err
}

// The following are for sessions that may have no prompt.

func (p *prompt) shared() *attach.Shared {
	if p == nil {
		return nil
	}
	return &p.containers
}

// interrupted reports whether Ctrl-C ended the chunk that runs, or a signal the session.
func (p *prompt) interrupted() bool {
	return p != nil && (p.keys.interrupted() || p.s.interrupted.Load())
}

func (p *prompt) types() *infer.Types {
	if p == nil {
		return nil
	}
	return &p.fixed
}

func (p *prompt) room() int {
	if p == nil {
		return 0
	}
	return infer.Room
}

func (p *prompt) isGone(probe int) bool { return p != nil && p.gone[probe] }

// isTerminal reports whether w is one.
func isTerminal(w any) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}

// report prints an error of what was typed.
func (p *prompt) report(err error) {
	p.failed = true
	p.s.out.flush()
	fmt.Fprintln(p.s.errors, strings.TrimRight(tidy(err).Error(), "\n"))
}

var _ io.Writer = (*terminal)(nil)
