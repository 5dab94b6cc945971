package attach

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/bpf"
)

// Return probes made in kprobe_events, with room for many open calls (maxactive), and the calls that they missed.
//
// A return probe has memory for a number of calls that are open at a time, and
// does not see the others return. A perf event gets little of it, some for each
// CPU (register_kretprobe, kernel/kprobes.c), and does not tell what it missed.
// An event of tracefs takes a number and counts (Documentation/trace/kprobetrace.rst),
// but outlives its process: events carry the number of theirs, and who makes the
// next ones removes those of processes that have ended. While a perf event holds
// one the kernel removes it for nobody.

// returnGroup is the folder of our events in that of all.
const returnGroup = "startrace"

// openReturnEvents prepares to make events, and removes what others left. nil:
// tracefs is not there, or not open to this process.
func openReturnEvents(tracefs func() (string, error)) *returnEvents {
	if tracefs == nil {
		return nil
	}
	dir, err := tracefs()
	if err != nil {
		return nil
	}
	profile, err := os.Open(filepath.Join(dir, "kprobe_profile"))
	if err != nil {
		return nil
	}
	file, err := os.OpenFile(filepath.Join(dir, "kprobe_events"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		_ = profile.Close() // was only to be read
		return nil
	}
	r := &returnEvents{dir: dir, file: file, profile: profile,
		prefix: fmt.Sprintf("ret_%d_%.8s_", os.Getpid(), strings.ToLower(rand.Text()))}
	r.removeLeft()
	return r
}

// removeLeft removes the events of processes that have ended. A process of
// another namespace may only seem to have: its events are held.
func (r *returnEvents) removeLeft() {
	list, err := os.ReadDir(filepath.Join(r.dir, "events", returnGroup))
	if err != nil {
		return // there is none
	}
	for _, entry := range list {
		word := strings.Split(entry.Name(), "_")
		if len(word) != 4 || word[0] != "ret" {
			continue
		}
		pid, err := strconv.Atoi(word[1])
		if err == nil && errors.Is(unix.Kill(pid, 0), unix.ESRCH) {
			_ = r.remove(entry.Name()) // another run may be faster, or it is held
		}
	}
}

// Close closes the files. Events that were not removed stay, and the next run removes them (removeLeft).
func (r *returnEvents) Close() error { return errors.Join(r.file.Close(), r.profile.Close()) }

// create makes an event at the returns of a function, of which it follows calls
// at a time, and gives its name and its number for perf_event_open.
func (r *returnEvents) create(p *tree.Place, calls int) (name string, id uint64, err error) {
	r.made++
	name = r.prefix + strconv.Itoa(r.made)
	if _, err := fmt.Fprintf(r.file, "r%d:%s/%s %s\n", calls, returnGroup, name, returnPlace(p)); err != nil {
		return "", 0, fmt.Errorf("make a return probe: %w", err)
	}
	text, err := os.ReadFile(filepath.Join(r.dir, "events", returnGroup, name, "id"))
	if err == nil {
		id, err = strconv.ParseUint(string(bytes.TrimSpace(text)), 10, 64)
	}
	if err != nil { // no fault of the function, whatever the reason
		return "", 0, errors.Join(fmt.Errorf("find the number of a return probe: %v", err), r.remove(name))
	}
	return name, id, nil
}

// returnPlace is a function as kprobe_events takes it.
func returnPlace(p *tree.Place) string {
	switch {
	case p.Address != 0:
		return fmt.Sprintf("%#x", p.Address)
	case p.Module != "":
		return p.Module + ":" + p.Func
	}
	return p.Func
}

// remove takes an event away. The kernel refuses that while a perf event holds it.
func (r *returnEvents) remove(name string) error {
	if _, err := fmt.Fprintf(r.file, "-:%s/%s\n", returnGroup, name); err != nil {
		return fmt.Errorf("remove a return probe: %w", err)
	}
	return nil
}

// maxPasses is how often the list of events is read for some. The kernel gives a
// page of it at a time, and finds the next by its number: where an event of before
// is removed in between, by another process or for another probe, one is left out.
const maxPasses = 20

// missed sums the calls that events of these names did not follow; what it has
// found is no longer among the names.
func (r *returnEvents) missed(names map[string]bool) (n uint64, err error) {
	for range maxPasses {
		missed, err := readMissed(r.profile, names)
		if n += missed; err != nil {
			return n, fmt.Errorf("read what return probes missed: %w", err)
		}
		if len(names) == 0 {
			return n, nil
		}
	}
	return n, fmt.Errorf("read what return probes missed: %d of them are not in the list", len(names))
}

// readMissed goes through the list once.
func readMissed(list io.ReaderAt, names map[string]bool) (n uint64, err error) {
	lines := bufio.NewScanner(io.NewSectionReader(list, 0, math.MaxInt64))
	for lines.Scan() {
		// NAME HITS MISSED (probes_profile_seq_show, kernel/trace/trace_kprobe.c)
		word := strings.Fields(lines.Text())
		if len(word) != 3 || !names[word[0]] {
			continue
		}
		missed, err := strconv.ParseUint(word[2], 10, 64)
		if err != nil {
			return n, err
		}
		n += missed
		delete(names, word[0])
	}
	return n, lines.Err()
}

const (
	// mostCalls is how many calls of a function the kernel follows at most
	// (KRETPROBE_MAXACTIVE_MAX, kernel/trace/trace_kprobe.c).
	mostCalls = 4096
	// callMemory is what all the places of a program may take, callSize what the
	// memory of one call takes (struct kretprobe_instance), in bytes.
	callMemory = 64 << 20
	callSize   = 64
)

// followedCalls is how many calls of each of some functions are followed.
func followedCalls(places int) int { return min(mostCalls, callMemory/callSize/places) }

// returnOpener attaches prog to the returns of functions by events of tracefs,
// and otherwise where that fails.
func (l *Loaded) returnOpener(prog *program, cpu int, otherwise opener) opener {
	if l.returns == nil {
		l.returns = openReturnEvents(l.opts.Tracefs)
	}
	calls := followedCalls(len(prog.Attach.At()))
	prog.fewReturns = l.returns == nil
	return func(p *tree.Place) (spot, error) {
		if prog.fewReturns {
			return otherwise(p)
		}
		pt, err := l.openReturn(prog, p, calls, cpu)
		if err == nil || placeIsAtFault(err) {
			return pt, err
		}
		prog.fewReturns = true
		return otherwise(p)
	}
}

// openReturn attaches a program to the returns of one function by an event of tracefs, on which it then runs on all
// CPUs.
func (l *Loaded) openReturn(prog *program, p *tree.Place, calls, cpu int) (spot, error) {
	name, id, err := l.returns.create(p, calls)
	if err != nil {
		return spot{}, explainPlace(prog.Attach.Functions(), p, err)
	}
	attr := unix.PerfEventAttr{Type: unix.PERF_TYPE_TRACEPOINT, Config: id}
	event, err := bpf.OpenPerfEvent(&attr, -1, cpu, prog.code, cookieOf(prog.Attach.Functions(), p))
	if err != nil {
		return spot{}, errors.Join(err, l.returns.remove(name))
	}
	return spot{link: event, kind: returnPoint, event: name, module: p.Module}, nil
}

// FewReturns gives the probes at returns of which the kernel follows a few calls
// at a time and does not tell how many more it misses.
func (l *Loaded) FewReturns() []int {
	return l.probesOf(func(p *program) bool {
		return p.fewReturns || p.multi && p.Attach.Kind() == tree.AttachKretprobe && !l.opts.Features().KprobesCount
	})
}
