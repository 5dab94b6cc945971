package prompt

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"go.starlark.net/starlark"
	"golang.org/x/sys/unix"
)

// The command of -c at the prompt: go(), what it prints.

// prepareCommand starts the command of -c and holds it.
func (p *prompt) prepareCommand() (err error) {
	if p.s.Command() == "" {
		return nil
	}
	c := &heldCommand{output: -1}
	if c.streams.In, err = os.Open(os.DevNull); err != nil {
		return err
	}
	if p.IsTerminal() {
		if err := c.catch(p.s.Wake); err != nil {
			return err
		}
	}
	p.command = c
	return p.s.HoldCommand(&c.streams)
}

// catch makes the command write into a pipe, and reads that as long as this
// process lives: the command can be started again.
func (c *heldCommand) catch(wake func()) error {
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC); err != nil {
		return fmt.Errorf("pipe: %w", err)
	}
	if err := unix.SetNonblock(fds[0], true); err != nil {
		return fmt.Errorf("pipe: %w", err)
	}
	c.output = fds[0]
	c.streams.Out = os.NewFile(uintptr(fds[1]), "output")
	c.streams.Err = c.streams.Out
	go func() {
		for {
			_, err := unix.Poll([]unix.PollFd{{Fd: int32(c.output), Events: unix.POLLIN}}, -1)
			if err != nil && !errors.Is(err, unix.EINTR) {
				return
			}
			c.take()
			wake()
		}
	}()
	return nil
}

// take reads what has been printed.
func (c *heldCommand) take() {
	c.mu.Lock()
	defer c.mu.Unlock()
	var buf [4096]byte
	for {
		n, err := unix.Read(c.output, buf[:])
		if n <= 0 || err != nil { // EAGAIN: there is no more
			return
		}
		c.printed = append(c.printed, buf[:n]...)
	}
}

// relay shows what the command has printed, in whole lines: events come between
// them. The last one may lack its end.
func (p *prompt) relay(last bool) {
	c := p.command
	if c == nil || c.output < 0 {
		return
	}
	c.take()
	c.mu.Lock()
	defer c.mu.Unlock()
	whole := bytes.LastIndexByte(c.printed, '\n') + 1
	if last && whole < len(c.printed) {
		c.printed = append(c.printed, '\n')
		whole = len(c.printed)
	}
	_, _ = p.Write(c.printed[:whole]) // the next write of results reports it
	c.printed = append([]byte(nil), c.printed[whole:]...)
}

// goOn is go(): it lets the command run, again if it has ended.
func (p *prompt) goOn(arg starlark.Value) (starlark.Value, error) {
	switch {
	case arg != nil:
		return nil, errors.New("go: got an argument, want none: go()")
	case p.command == nil:
		return nil, errors.New("go: there is no command to run: startrace -c CMD")
	case p.running():
		return nil, fmt.Errorf("go: %s is running", p.s.Command())
	case !p.s.Held(): // it has ended
		if err := p.s.HoldCommandAgain(&p.command.streams); err != nil {
			return nil, err
		}
	}
	return starlark.None, p.release()
}

func (p *prompt) release() error {
	p.command.said = false
	return p.s.RunCommand()
}

// sayCommandEnded says once that the command has ended, behind all that it
// printed and what was recorded of it.
func (p *prompt) sayCommandEnded() {
	c := p.command
	if c == nil || c.said {
		return
	}
	c.said = true
	p.relay(true)
	status, _ := p.s.CommandEnded()
	p.s.Messagef("%s has ended with status %d", p.s.Command(), status)
}

// runToEnd is what happens when the input has ended: from a pipe all is
// declared then, so the command runs to its end, as for a script.
func (p *prompt) runToEnd() error {
	s := p.s
	switch {
	case p.command == nil:
		return nil
	case p.IsTerminal():
		if !s.Released() {
			s.Messagef("%s was not run: go() lets it run", s.Command())
		}
		return nil
	case s.Held():
		s.AsScript()
		if err := p.release(); err != nil {
			return err
		}
	}
	return p.deliverWhile(func() bool { return p.running() && !p.s.Over() && !p.TakeInterrupt() })
}

// running reports whether the command runs, or has not yet been said to have
// ended.
func (p *prompt) running() bool { return p.command != nil && p.s.Released() && !p.command.said }
