package session

import (
	"encoding/binary"
	"errors"
	"os"
	"time"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/machine"
	"github.com/startrace/startrace/internal/output"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/procs"
	"github.com/startrace/startrace/internal/sideband"
)

// MaybeCommand must be the first call of main: this executable may also be what
// waits to become the command of -c (see package procs).
func MaybeCommand() { procs.MaybeChild() }

// A target is the processes that a run concerns, from the command line to the
// end: the command of -c, the process of -p, or all but startrace itself.
type target struct {
	*outside
	messages *output.Messages
	machine  *machine.Machine

	pid    int      // of -p
	follow bool     // what that starts is meant, too
	argv   []string // of -c

	child    *procs.Child // the command once it is held
	released bool         // the child is the command now
}

// hold starts the command of -c up to where it waits for release.
func (t *target) hold(apart *procs.Streams) (err error) {
	if len(t.argv) == 0 {
		return nil
	}
	t.childEnded.Store(false)
	t.released = false
	if t.child, err = procs.StartApart(t.argv, apart); err != nil {
		t.child = nil
		return err
	}
	if why := t.child.Unheld(); why != nil {
		t.messages.Verbosef("the first events may be those of starting %s: %v", t.argv[0], why)
	}
	return nil
}

// ofPlan says which processes the programs concern: they test numbers of the
// initial pid namespace. Unless it was asked for, the tracer never traces
// itself.
func (t *target) ofPlan() (of plan.Target, err error) {
	switch {
	case t.child != nil:
		return plan.Target{PID: t.child.InitPID(), Follow: true}, nil // what the command starts is part of it
	case t.pid > 0:
		of.Follow = t.follow
		of.PID, err = procs.InitPID(t.pid)
		return of, err
	}
	of.Self, err = procs.SelfInitPID()
	return of, t.machine.WithCause(err)
}

// process is the one that a number means, 0 the one that is traced.
func (t *target) process(pid int) (int, error) {
	switch {
	case pid != 0:
		return pid, nil
	case t.pid != 0:
		return t.pid, nil
	case t.child != nil:
		return t.child.PID(), nil
	}
	return 0, errors.New("of which process? usym(addr, e.pid)")
}

// band tells what the target maps, or all processes where there is none.
func (t *target) band() (*sideband.Band, error) {
	switch {
	case t.child != nil:
		return sideband.OpenProcess(t.child.PID())
	case t.pid > 0:
		return sideband.OpenProcess(t.pid)
	}
	return sideband.Open()
}

// release lets the command run. When it has ended, so does the run.
func (t *target) release() error {
	if t.child == nil {
		return nil
	}
	if err := t.child.Go(); err != nil {
		return err
	}
	t.released = true
	t.await(t.child)
	return nil
}

// commandGrace is how long the end of the run waits for a command after SIGTERM:
// short enough not to be felt after Ctrl-C. One that takes longer goes on alone.
const commandGrace = 200 * time.Millisecond

// stop ends a command that outlives the run: it was started for it.
func (t *target) stop() {
	switch {
	case t.child == nil || t.childEnded.Load():
		return
	case !t.released:
		t.child.Abandon()
		return
	}
	if err := t.child.Signal(unix.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.messages.Sayf("startrace: end the command: %v", err)
	}
	for end := time.Now().Add(commandGrace); !t.childEnded.Load() && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
}

// watch ends the run when the process of -p has ended; where what it started is
// traced as well, when all of these have. followed is their table, nil where
// there is none.
func (t *target) watch(followed *ebpf.Map) {
	if t.pid == 0 {
		return
	}
	await, err := procs.Ending(t.pid)
	if err != nil {
		t.messages.Verbosef("startrace: %v: its end does not end the run", err)
		return
	}
	go func() {
		await()
		for !allEnded(followed) {
			time.Sleep(endedInterval)
		}
		t.targetEnded.Store(true)
		t.wake()
	}()
}

// endedInterval is how often the run asks whether the followed processes have ended, once the first of them has.
const endedInterval = 100 * time.Millisecond

// followed is the table of the processes that the programs of a part follow; nil
// where they follow none.
func followed(p *part) *ebpf.Map {
	if p.loaded == nil || p.result.Follow < 0 {
		return nil
	}
	return p.loaded.Map(tree.ContainerMap(p.result.Follow))
}

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
