package prompt

import (
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/internal/line"
	"github.com/startrace/startrace/internal/mistake"
	"github.com/startrace/startrace/internal/session"
	"github.com/startrace/startrace/starlark/repl"
)

// The loop of the prompt: its first line, lines read, chunks run, signals.

// Run reads what to trace from standard input: line by line from a terminal,
// or what a pipe gives.
func Run(o session.Options) (exit int, err error) {
	p := &prompt{}
	p.takeConsole(&o)
	defer p.Restore()
	live := session.NewLive(o, p.Interrupted)
	defer live.Close()
	p.s = live
	guarded := live.Guarded(func() error {
		exit, err = p.run()
		return nil
	})
	if guarded != nil {
		return session.Failed, guarded
	}
	return exit, err
}

// takeConsole takes the place of standard output and error, where they are a
// terminal.
func (p *prompt) takeConsole(o *session.Options) {
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

func (p *prompt) run() (exit int, err error) {
	if err := p.start(); err != nil {
		return session.Failed, mistake.Tidy(err)
	}
	err = p.loop()
	p.Leave()
	if err := p.SaveHistory(); err != nil {
		p.s.Messagef("startrace: the history is not kept: %v", err)
	}
	return p.s.Finish(err, !p.IsTerminal())
}

// start opens the output and the terminal. A terminal gets a greeting.
func (p *prompt) start() error {
	if err := p.s.Open(); err != nil {
		return err
	}
	if err := p.prepareCommand(); err != nil {
		return err
	}
	p.addWords()
	if err := p.s.Begin(); err != nil {
		return err
	}
	err := p.Start(line.Options{Wake: p.s.Wake, Cancel: p.s.Host().Cancel, Complete: p.complete})
	if err != nil {
		p.s.Messagef("startrace: lines are not edited here: %v", err)
	}
	p.watch(p.s.Signals())
	if !p.IsTerminal() {
		return nil
	}
	p.s.Messagef("startrace: probes attach while you type; help shows what there is, Ctrl-D leaves")
	if p.command != nil {
		p.s.Messagef("%s waits; go() lets it run, once its probes are attached", p.s.Command())
	}
	return nil
}

// watch passes signals on: an interrupt ends what runs, the others end the
// session in order, a second one of them at once.
func (p *prompt) watch(signals <-chan os.Signal) {
	go func() {
		for sig := range signals {
			if sig == unix.SIGINT {
				p.Interrupt()
			} else if p.s.End() {
				p.Restore()
				p.s.Abort()
			}
		}
	}()
}

// loop takes what was typed, delivers events and calls timers.
func (p *prompt) loop() error {
	for !p.s.Over() {
		p.ask()
		if done := p.takeInput(); p.s.Over() {
			return nil
		} else if done {
			return p.runToEnd()
		}
		p.s.Flush(false)
		if p.Waiting() {
			continue
		}
		p.ask() // for what comes next: nothing may happen for long
		if err := p.s.Wait(); err != nil {
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
	p.s.Host().Resume() // a second Ctrl-C may have ended a callback
	return err
}

// takeInput works off what has been typed. It reports whether the input has
// ended.
func (p *prompt) takeInput() (ended bool) {
	for !p.s.Over() {
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
	for _, c := range chunks {
		if strings.TrimSpace(c.Text) != "edit()" {
			p.latest = c.Text
		}
	}
}

func (p *prompt) remember(chunk string) { p.Remember(strings.TrimRight(chunk, "\n")) }

func (p *prompt) runAll(chunks []repl.Chunk) {
	for _, c := range chunks {
		if p.s.Over() {
			return
		}
		p.runChunk(c)
	}
}

// ask shows the prompt.
func (p *prompt) ask() { p.Ask(line.Prompt{Number: p.in.Next(), Open: p.in.Open()}) }
