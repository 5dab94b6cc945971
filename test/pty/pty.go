// Package pty gives tests a terminal: programs run on one side of it, the test
// types on the other and looks at the screen.
package pty

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/internal/pty"
)

// A program at a terminal whose screen tests look at.

// A Terminal is a program at a terminal.
type Terminal struct {
	// Cmd is the program.
	Cmd    *exec.Cmd
	master *os.File
	done   chan struct{} // the program has closed its side

	mu     sync.Mutex
	screen screen
	raw    strings.Builder
}

// Start runs a program at a new terminal with a number of columns.
func Start(cmd *exec.Cmd, columns int) (*Terminal, error) {
	master, slave, err := pty.Open(24, uint16(columns))
	if err != nil {
		return nil, err
	}
	defer slave.Close()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	t := &Terminal{Cmd: cmd, master: master, done: make(chan struct{}), screen: screen{width: columns}}
	go t.read()
	return t, nil
}

func (t *Terminal) read() {
	defer close(t.done)
	buf := make([]byte, 4096)
	for {
		n, err := t.master.Read(buf)
		t.mu.Lock()
		t.raw.Write(buf[:n])
		t.screen.write(buf[:n])
		t.mu.Unlock()
		if err != nil { // EIO once the program has ended
			return
		}
	}
}

// Type sends keys.
func (t *Terminal) Type(keys string) error {
	_, err := t.master.WriteString(keys)
	return err
}

// Resize gives the terminal another width. What stands on the screen stays.
func (t *Terminal) Resize(columns int) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.screen.width = columns
	return unix.IoctlSetWinsize(int(t.master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: uint16(columns)})
}

// Screen is what stands on the screen, with what has scrolled off it.
func (t *Terminal) Screen() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.screen.text()
}

// Raw is all that the program wrote.
func (t *Terminal) Raw() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.raw.String()
}

// Await waits until the screen is as ok wants it, for as long as a slow machine
// may take.
func (t *Terminal) Await(what string, ok func(screen string) bool) error {
	for end := time.Now().Add(60 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if ok(t.Screen()) {
			return nil
		}
	}
	return fmt.Errorf("the screen never came to have %s:\n%s", what, t.Screen())
}

// Wait waits for the end of the program.
func (t *Terminal) Wait() error {
	err := t.Cmd.Wait()
	<-t.done
	t.master.Close()
	return err
}
