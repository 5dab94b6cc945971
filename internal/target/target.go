// Package target has the processes that a run concerns: the command of -c, which it
// starts, holds and lets run; the processes of -p; or all but startrace itself. Of these
// a scope can leave those of one cgroup or user.
package target

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/internal/bell"
	"github.com/startrace/startrace/internal/machine"
	"github.com/startrace/startrace/internal/output"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/procs"
	"github.com/startrace/startrace/internal/sideband"
)

// -p and -c: which processes a run concerns, what is done at their end (`commandGrace`), and the message that one has
// ended.

// A Target is the processes that a run concerns, from the command line to the
// end: the command of -c, the processes of -p, or all but startrace itself.
type Target struct {
	// bell is rung when the command or the process has ended.
	bell *bell.Bell
	// messages takes what is to be said of the command.
	messages *output.Messages
	// machine adds to an error why this machine or this user cannot do what was asked.
	machine *machine.Machine

	// numbers translates those of processes here into those of programs.
	numbers *procs.Numbers

	pids   []int    // of -p
	follow bool     // what these start is meant, too
	argv   []string // of -c
	scope  found    // of --cgroup, --container and --user

	child    *procs.Child // the command once it is held
	released bool         // the child is the command now
	loaded   bool         // the child has the command's memory: its program is there, if nothing has run yet

	// Ended is called, on another goroutine, when the command or the process of -p
	// has ended; nil: nobody wants to know at once.
	Ended func()

	// Other goroutines write these.
	running atomic.Pointer[procs.Child] // the command once it runs
	status  atomic.Int32                // of the command as shells have it, once it has ended
	// commandEnded: status is that of the command.
	commandEnded atomic.Bool
	processEnded atomic.Bool // all those of -p
}

// New makes a target of all processes. The bell is rung when one has ended.
func New(b *bell.Bell, m *output.Messages, of *machine.Machine) *Target {
	return &Target{bell: b, messages: m, machine: of, numbers: procs.NewNumbers(of.Facts().BTF)}
}

// Numbers translates numbers of processes here into those of programs.
func (t *Target) Numbers() *procs.Numbers { return t.numbers }

// Choose says which processes are meant: those of -p, and with follow what they
// start, or the command of -c; of these those in a scope.
func (t *Target) Choose(pids []int, follow bool, argv []string, scope Scope) (err error) {
	t.pids, t.follow, t.argv = pids, follow, argv
	t.scope, err = scope.find()
	return err
}

// First is the first process of -p, 0 where there is none: files are looked for as
// it sees them.
func (t *Target) First() int {
	if len(t.pids) == 0 {
		return 0
	}
	return t.pids[0]
}

// Command is the program of -c, "" for none.
func (t *Target) Command() string {
	if len(t.argv) == 0 {
		return ""
	}
	return t.argv[0]
}

// Held reports whether the command waits for Release.
func (t *Target) Held() bool { return t.child != nil && !t.released }

// Released reports whether the command has been let run.
func (t *Target) Released() bool { return t.released }

// Started reports whether there is a command, held or released.
func (t *Target) Started() bool { return t.child != nil }

// CommandEnded reports whether the command has ended, and with which status.
func (t *Target) CommandEnded() (status int, ended bool) {
	return int(t.status.Load()), t.commandEnded.Load()
}

// ProcessEnded reports whether the processes of -p have ended.
func (t *Target) ProcessEnded() bool { return t.processEnded.Load() }

// Ready returns when the held command does nothing but wait, so that probes do not
// see how it gets there.
func (t *Target) Ready() error {
	if t.child == nil {
		return nil
	}
	return t.child.Ready()
}

// Forget waits for a command that could not be let run, and forgets it.
func (t *Target) Forget() {
	_, _ = t.child.Wait() // it has said why
	t.child = nil
}

// Abort tells the command, which was started for the run, to end: the process ends
// at once. Any goroutine may call it.
func (t *Target) Abort() {
	if c := t.running.Load(); c != nil && !t.commandEnded.Load() {
		_, _ = c.SignalFamily(unix.SIGTERM) // there is nobody left to tell
	}
}

// await waits until the command has ended.
func (t *Target) await(c *procs.Child) {
	t.running.Store(c)
	go func() {
		if status, err := c.Wait(); err == nil {
			t.status.Store(int32(status))
		}
		t.commandEnded.Store(true)
		t.ended()
	}()
}

func (t *Target) ended() {
	if t.Ended != nil {
		t.Ended()
	}
	t.bell.Ring()
}

// Hold starts the command of -c up to where it waits for Release.
func (t *Target) Hold(apart *procs.Streams) (err error) {
	if len(t.argv) == 0 {
		return nil
	}
	t.commandEnded.Store(false)
	t.released, t.loaded = false, false
	if t.child, err = procs.StartApart(t.argv, apart); err != nil {
		t.child = nil
		return err
	}
	if why := t.child.Unheld(); why != nil {
		t.messages.Verbosef("the first events may be those of starting %s: %v", t.argv[0], why)
	}
	return nil
}

// OfPlan says which processes the programs concern: they test numbers of the
// initial pid namespace. Unless it was asked for, the tracer never traces
// itself.
func (t *Target) OfPlan() (of plan.Target, err error) {
	of.Cgroup, of.User = t.scope.cgroup, t.scope.user
	switch {
	case t.child != nil:
		of.PID, of.Follow = t.child.InitPID(), true // what the command starts is part of it
		return of, nil
	case len(t.pids) > 0:
		of.Follow = t.follow
		list, err := t.programNumbers()
		if err == nil {
			of.PID, of.Also = list[0], list[1:]
		}
		return of, t.machine.WithCause(err)
	}
	of.Self, err = procs.SelfInitPID()
	return of, t.machine.WithCause(err)
}

// programNumbers are those by which programs know the processes of -p.
func (t *Target) programNumbers() (list []int, err error) {
	for _, pid := range t.pids {
		n, err := t.numbers.Program(pid)
		if err != nil {
			return nil, err
		}
		list = append(list, n)
	}
	return list, nil
}

// Descendants are what the processes of -p have started that is followed, too, by the
// numbers of the initial pid namespace. What starts meanwhile is for the programs.
func (t *Target) Descendants() (list []int) {
	if !t.follow || len(t.pids) == 0 {
		return nil
	}
	for _, pid := range procs.Descendants(t.pids) {
		if n, err := t.numbers.Kernel(pid); err == nil { // else it has ended
			list = append(list, n)
		}
	}
	return list
}

// Process is the one that a number of programs means, 0 the one that is traced.
func (t *Target) Process(pid int) (int, error) {
	switch {
	case pid != 0:
		return t.numbers.Sight(pid), nil
	case len(t.pids) > 0:
		return t.pids[0], nil
	case t.child != nil:
		return t.child.PID(), nil
	}
	return 0, errors.New("of which process? usym(addr, e.pid)")
}

// Band tells what the target maps, or all processes where there is none.
func (t *Target) Band() (*sideband.Band, error) {
	switch {
	case t.child != nil:
		return sideband.OpenProcess(t.child.PID())
	case len(t.pids) == 1 && !t.follow:
		return sideband.OpenProcess(t.pids[0])
	}
	return sideband.Open()
}

// Loaded gives the number of the command's process once it has the command's
// memory.
func (t *Target) Loaded() (pid int, loaded bool) {
	if t.child == nil || !t.loaded {
		return 0, false
	}
	return t.child.PID(), true
}

// Number gives the number by which programs know a process, by the one by which it is known here.
func (t *Target) Number(pid int) (number uint32, known bool) {
	if t.child != nil && t.child.PID() == pid {
		return uint32(t.child.InitPID()), true
	}
	n, err := t.numbers.Kernel(pid)
	return uint32(n), err == nil
}

// PIDs are the processes of -p, and where it was asked for what they have started.
func (t *Target) PIDs() []int {
	if !t.follow || len(t.pids) == 0 {
		return t.pids
	}
	return append(slices.Clone(t.pids), procs.Descendants(t.pids)...)
}

// Members are the processes that are traced now, by the numbers they have here, and whether what they start is traced,
// too; none: all processes.
func (t *Target) Members() (pids []int, follow bool) {
	if t.child != nil {
		return []int{t.child.PID()}, true
	}
	return t.PIDs(), t.follow
}

// Stops reports whether the command can be stopped when it has its memory, for what Release calls then.
func (t *Target) Stops() bool { return t.child != nil && t.child.Unheld() == nil }

// Release lets the command run. When it has ended, so does the run. What is called while it is stopped may ask for its
// memory.
func (t *Target) Release(at procs.Stops) error {
	if t.child == nil {
		return nil
	}
	if loaded := at.Loaded; loaded != nil {
		at.Loaded = func() error {
			t.loaded = true
			return loaded()
		}
	}
	if err := t.child.Go(at); err != nil {
		return err
	}
	t.released, t.loaded = true, true
	t.await(t.child)
	return nil
}

// commandGrace is how long the end of the run waits for a command after SIGTERM:
// short enough not to be felt after Ctrl-C. One that takes longer goes on alone.
const commandGrace = 200 * time.Millisecond

// Stop ends a command that outlives the run, with all that it has started: it was
// started for the run.
func (t *Target) Stop() {
	switch {
	case t.child == nil || t.commandEnded.Load():
		return
	case !t.released:
		t.child.Abandon()
		return
	}
	family, err := t.child.SignalFamily(unix.SIGTERM)
	if err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.messages.Sayf("startrace: end the command: %v", err)
	}
	defer family.Close()
	goesOn := func() bool { return !t.commandEnded.Load() || len(family.Alive()) > 0 }
	for end := time.Now().Add(commandGrace); goesOn() && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	if !t.commandEnded.Load() {
		t.messages.Sayf("The command has not ended by SIGTERM, and goes on: it is process %d", t.child.PID())
	}
	for _, pid := range family.Alive() {
		t.messages.Sayf("What the command has started has not ended by SIGTERM, and goes on: it is process %d", pid)
	}
}

// Watch ends the run when the processes of -p have ended; where what they started is
// traced as well, when all of these have. followed is their table, nil where
// there is none.
func (t *Target) Watch(followed *ebpf.Map) {
	if len(t.pids) == 0 {
		return
	}
	var awaits []func()
	for _, pid := range t.pids {
		await, err := procs.Ending(pid)
		if err != nil {
			t.messages.Verbosef("startrace: %v: its end does not end the run", err)
			return
		}
		awaits = append(awaits, await)
	}
	if !t.follow {
		followed = nil
	}
	go func() {
		for _, await := range awaits {
			await()
		}
		for !allEnded(followed) {
			time.Sleep(endedInterval)
		}
		t.processEnded.Store(true)
		t.ended()
	}()
}

// SayEnded says that the processes of -p have ended.
func (t *Target) SayEnded() string {
	if len(t.pids) == 1 {
		return fmt.Sprintf("Process %d has ended", t.pids[0])
	}
	return fmt.Sprintf("All %d processes have ended", len(t.pids))
}

// endedInterval is how often the run asks whether the followed processes have ended, once the first of them has.
const endedInterval = 100 * time.Millisecond

// allEnded reports whether none of the processes in the table of the followed runs any more. One stays there until it
// has been waited for.
func allEnded(followed *ebpf.Map) bool {
	if followed == nil {
		return true
	}
	var key, value []byte
	list := followed.Iterate()
	for list.Next(&key, &value) {
		if !procs.Ended(int(binary.NativeEndian.Uint32(key))) {
			return false
		}
	}
	return list.Err() == nil // else programs changed the table meanwhile
}
