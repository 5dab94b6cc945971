package machine

import (
	"errors"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/bpfgen/refusal"
	"github.com/startrace/startrace/internal/attach"
	"github.com/startrace/startrace/internal/doctor"
	"github.com/startrace/startrace/internal/kernel"
)

// The cause in the machine or in the rights for which probes could not be attached.

// What every kernel has and what rarely happens, to try probes on; for
// functions see tried.
const (
	triedGroup      = "sched"
	triedTracepoint = "sched_kthread_stop"
	triedIterator   = "bpf_iter_task"
	triedHook       = "bpf_lsm_sb_pivotroot"
)

// Trial is what to try probes on.
func (m *Machine) Trial() *attach.Trial {
	t := &attach.Trial{
		Function: tried, RawTracepoint: triedTracepoint,
		TracepointID: func() (uint64, error) { return m.TracepointID(triedGroup, triedTracepoint) },
	}
	if b, err := m.facts.BTF(); err == nil {
		function, _ := b.Named(kernel.KindFunc, tried)
		iterator, _ := b.Named(kernel.KindFunc, triedIterator)
		hook, _ := b.Named(kernel.KindFunc, triedHook)
		t.Trampoline, t.Iterator, t.Hook = uint32(function), uint32(iterator), uint32(hook)
	}
	return t
}

// WithCause gives err, which kept the probes from being attached, with the
// cause where that lies in the machine or in the rights of this process.
func (m *Machine) WithCause(err error) error {
	var rejected *attach.VerifierError
	if err == nil || errors.As(err, &rejected) { // the verifier's EACCES is no lack of rights
		return err
	}
	read, readErr := doctor.Read(m.facts)
	if readErr != nil {
		return err // the less telling of the two is better than the wrong one
	}
	var mistakes refusal.Diags
	if errors.As(err, &mistakes) {
		return m.explainMistakes(read, err)
	}
	return doctor.Explain(read, err)
}

// explainMistakes tells those of the script from those of the machine: a
// message has the words of what could not be read.
func (m *Machine) explainMistakes(read *doctor.Machine, err error) error {
	text := err.Error()
	for _, closed := range []error{read.Tracefs, read.BTF} {
		if closed != nil && strings.Contains(text, closed.Error()) {
			return doctor.Explain(read, &unreadable{err, closed})
		}
	}
	if strings.Contains(text, "this kernel has no") && m.facts.Trampolines().Denied {
		return doctor.Explain(read, &unreadable{err, unix.EPERM}) // it may have it
	}
	return err
}

// unreadable is a list of mistakes whose reason is what could not be read.
type unreadable struct {
	mistakes, reason error
}

func (e *unreadable) Error() string { return e.mistakes.Error() }
func (e *unreadable) Unwrap() error { return e.reason }
