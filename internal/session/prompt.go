package session

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/bpfgen/infer"
	"github.com/startrace/startrace/internal/attach"
	"github.com/startrace/startrace/internal/line"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/stream"
	"github.com/startrace/startrace/starlark/repl"
)

// A prompt is a session whose script is typed while it runs. What is typed
// runs on the same goroutine as the callbacks: between two turns of the loop.
type prompt struct {
	s  *session
	in repl.Input
	*line.Console
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
	p.takeConsole(&o)
	defer guard(o, &exit, &err)
	defer p.Restore()
	s := newSession(o)
	defer s.close()
	p.s, s.prompt = s, p
	if err := p.start(); err != nil {
		return Failed, tidy(err)
	}
	err = p.loop()
	p.Leave()
	return s.finish(p.ended(err))
}

// start opens the output and the terminal. A terminal gets a greeting.
func (p *prompt) start() (err error) {
	s := p.s
	if err := s.apply(); err != nil {
		return err
	}
	s.screen = p.Edits() && s.Output == "" && s.Format == "text"
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
	if err := p.Start(line.Options{Wake: s.wake, Cancel: s.host.Cancel, Complete: p.complete}); err != nil {
		s.messagef("startrace: lines are not edited here: %v", err)
	}
	p.watchPrompt(s.Signals)
	if !p.IsTerminal() {
		return nil
	}
	s.messagef("startrace: probes attach while you type; help shows what there is, Ctrl-D leaves")
	if p.command != nil {
		s.messagef("%s waits; go() lets it run, once its probes are attached", s.argv[0])
	}
	return nil
}

// takeConsole takes the place of standard output and error, where they are a
// terminal.
func (p *prompt) takeConsole(o *Options) {
	out, _ := o.Stdout.(*os.File)
	p.Console = line.New(o.Stdin, out)
	if !p.IsTerminal() {
		return
	}
	o.Stdout = p.Console
	if line.IsTerminal(o.Stderr) {
		o.Stderr = p.Console
	}
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
		if p.Waiting() {
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
		switch in := p.Take(); in.Kind {
		case line.Nothing:
			return false
		case line.Line:
			p.enter(in)
		case line.Abandoned:
			p.remember(p.in.Text())
			p.in.Drop()
		case line.Ended:
			p.runAll(p.in.Flush())
			return true
		}
		p.ask()
	}
	return false
}

// enter takes what was entered: a line, or a block that was recalled as one.
func (p *prompt) enter(in line.Input) {
	lines := strings.Split(in.Text, "\n")
	for i, text := range lines {
		p.in.Pasted = in.Pasted || i < len(lines)-1
		p.gather(p.in.Add(text))
	}
	if p.in.Pasted = false; len(lines) > 1 && p.in.Open() {
		p.gather(p.in.Add("")) // as the empty line that ended it when it was typed
	}
}

// gather remembers and runs whole chunks.
func (p *prompt) gather(chunks []repl.Chunk) {
	for _, c := range chunks {
		p.remember(c.Text)
	}
	p.runAll(chunks)
}

func (p *prompt) remember(chunk string) { p.Remember(strings.TrimRight(chunk, "\n")) }

// ask shows the prompt.
func (p *prompt) ask() { p.Ask(line.Prompt{Number: p.in.Next(), Open: p.in.Open()}) }

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
	if err := p.SaveHistory(); err != nil {
		p.s.messagef("startrace: the history is not kept: %v", err)
	}
	if p.failed && !p.IsTerminal() {
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
	return p != nil && (p.Interrupted() || p.s.interrupted.Load())
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

// report prints an error of what was typed.
func (p *prompt) report(err error) {
	p.failed = true
	p.s.out.flush()
	fmt.Fprintln(p.s.errors, strings.TrimRight(tidy(err).Error(), "\n"))
}

// watchPrompt passes signals on: an interrupt ends what runs, the others end
// the session in order, a second one of them at once.
func (p *prompt) watchPrompt(signals <-chan os.Signal) {
	s := p.s
	go func() {
		for sig := range signals {
			if sig == unix.SIGINT {
				p.Interrupt()
				continue
			}
			if s.interrupted.Swap(true) {
				p.Restore()
				s.abort()
			}
			s.host.Cancel(line.Interrupted)
			s.wake()
		}
	}()
}
