package mutate

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/builtins"
	"github.com/startrace/startrace/internal/attach"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/machine"
	"github.com/startrace/startrace/starlark/script"
	"github.com/startrace/startrace/test/resident"
	"github.com/startrace/startrace/test/setting"
)

func TestMain(m *testing.M) {
	resident.InGuest()
	m.Run()
}

// fewest are the scripts that every run tries; the short form tries a third of them. MUTATE_SCRIPTS sets their number
// and MUTATE_SEED the first seed; MUTATE_LOAD=1 loads all that compile into the kernel, not one in ten; MUTATE_SHOW=1
// prints each script and message.
const fewest = 300

const needBTF = "needs BTF of the kernel (CONFIG_DEBUG_INFO_BTF, /sys/kernel/btf/vmlinux): %v"

// TestMutated changes good scripts: each gives a unit that the kernel accepts or messages for its author, in words of
// the product, with their place.
func TestMutated(t *testing.T) {
	corpus, err := Read("../../stdlib/*.star", "../../examples/*.star", "../../bpfgen/infer/testdata/*.star")
	if err != nil {
		t.Fatal(err)
	}
	facts := thisKernel()
	if _, err := facts.BTF(); err != nil {
		t.Skipf(needBTF, err)
	}
	least := fewest
	if testing.Short() {
		least /= 3
	}
	first, n := uint64(setting.Int(t, "MUTATE_SEED", 1)), uint64(setting.Int(t, "MUTATE_SCRIPTS", least))
	t.Logf("seeds %d to %d; MUTATE_SEED=%d MUTATE_SCRIPTS=1 MUTATE_SHOW=1 shows one", first, first+n-1, first)
	r := &runner{t: t, corpus: corpus, facts: facts, load: os.Geteuid() == 0, each: 10}
	if os.Getenv("MUTATE_LOAD") != "" {
		r.each = 1
	}
	if !r.load {
		t.Log("programs are not loaded into the kernel: needs root")
	}
	r.all(first, n)
	t.Log(r.counts())
}

// TestCorpus loads the good scripts as they are, so that the changed ones begin from something.
func TestCorpus(t *testing.T) {
	corpus, err := Read("../../stdlib/*.star", "../../examples/*.star")
	if err != nil {
		t.Fatal(err)
	}
	facts := thisKernel()
	if _, err := facts.BTF(); err != nil {
		t.Skipf(needBTF, err)
	}
	if os.Geteuid() != 0 {
		t.Skip("needs root (CAP_BPF) to load BPF programs")
	}
	for _, s := range corpus.Scripts {
		res := Compile(s.Name, s.Text, facts)
		if lack := lacking(s.Name, facts); lack != "" {
			if res.Err == nil || !strings.HasSuffix(res.Err.Error(), ": "+lack) {
				t.Errorf("%s: got %v, want %q", s.Name, res.Err, lack)
			}
		} else if res.Err != nil {
			t.Errorf("%s: %v", s.Name, res.Err)
		} else if res.Unit != nil {
			if err := loads(res, facts); err != nil && !refusedTrampoline(res, err) {
				t.Errorf("%s: %v", s.Name, err)
			}
		}
	}
}

// thisKernel is the running kernel with what it has; one that has no kprobes, with what the newest ones have: programs
// are loaded here and not attached.
func thisKernel() *kernel.Facts {
	if attach.Features().Kprobe {
		return machine.Open().Facts()
	}
	return kernel.Open(kernel.Options{})
}

// newPoints are tracepoints that a script of the corpus cannot do without and that the oldest kernels lack.
var newPoints = map[string]kernel.TracepointName{
	"klockstat.star#0": {Group: "lock", Name: "contention_begin"}, // Linux 5.19
}

// lacking is the message that the author of a script gets on this kernel for want of a tracepoint, "" for none.
func lacking(script string, facts *kernel.Facts) string {
	point, ok := newPoints[script]
	if !ok {
		return ""
	}
	var missing *kernel.NoPointError
	if _, err := facts.Tracepoint(point.Group, point.Name); errors.As(err, &missing) {
		return missing.Error()
	}
	return ""
}

type runner struct {
	t      *testing.T
	corpus *Corpus
	facts  *kernel.Facts
	load   bool
	each   int // one in so many is loaded

	mu     sync.Mutex
	ended  [Skipped + 1]int
	loaded int
}

func (r *runner) all(first, n uint64) {
	seeds := make(chan uint64)
	var wait sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wait.Add(1)
		go func() {
			defer wait.Done()
			for seed := range seeds {
				r.one(seed)
			}
		}()
	}
	for i := range n {
		seeds <- first + i
	}
	close(seeds)
	wait.Wait()
}

func (r *runner) one(seed uint64) {
	name, text := r.corpus.Make(seed)
	res := Compile("mutated.star", text, r.facts)
	if os.Getenv("MUTATE_SHOW") != "" {
		r.t.Logf("seed %d, of %s: %v\n%s\n%v", seed, name, res.Stage, text, res.Err)
	}
	r.mu.Lock()
	r.ended[res.Stage]++
	try := res.Unit != nil && r.load && (r.ended[Compiled]-1)%r.each == 0
	if try {
		r.loaded++
	}
	r.mu.Unlock()
	if bad := badMessage(res.Err); bad != "" {
		r.t.Errorf("seed %d, of %s: %s\n%v", seed, name, bad, res.Err)
	}
	if try {
		var complex *attach.ComplexityError // a message with a place: loops in loops whose bounds the kernel computes
		if err := loads(res, r.facts); err != nil && !errors.As(err, &complex) && !refusedTrampoline(res, err) {
			r.t.Errorf("seed %d, of %s: the kernel: %v", seed, name, err)
		}
	}
}

// refusedTrampoline: some machines refuse trampolines altogether, which only a program that is loaded tells.
func refusedTrampoline(res Result, err error) bool {
	return errors.Is(err, unix.EPERM) && slices.ContainsFunc(res.Unit.Tree.Programs, func(p *tree.Program) bool {
		return p.Attach.Kind() == tree.AttachFentry || p.Attach.Kind() == tree.AttachFexit
	})
}

func loads(res Result, facts *kernel.Facts) error {
	l, err := attach.Load(res.Unit, attach.Options{TracepointID: func(group, name string) (uint64, error) {
		tp, err := facts.Tracepoint(group, name)
		if err != nil {
			return 0, err
		}
		return uint64(tp.ID), nil
	}, Features: facts.Features})
	if err != nil {
		return err
	}
	return l.Close()
}

func (r *runner) counts() string {
	var out []string
	for s, n := range r.ended {
		out = append(out, fmt.Sprintf("%s %d", Stage(s), n))
	}
	return strings.Join(out, ", ") + fmt.Sprintf("; loaded %d", r.loaded)
}

var placed = regexp.MustCompile(`^[^:\s]+\.star:[0-9]+:[0-9]+: \S`)

// insider are words that an author of scripts need not know, and what Go prints where a message was made badly.
var insider = regexp.MustCompile(`%!|\*syntax\.|\*starlark\.|starlark\.|<nil>|panic|goroutine|` +
	`runtime error|SSA|internal error|0xc000|plan\.|tree\.|infer:|unhandled|unknown_|unknown value|unexpected kind`)

// badMessage says what is wrong with a message, "" for nothing.
func badMessage(err error) string {
	var usage *builtins.UsageError
	var stage *StageError
	var panicked *PanicError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &panicked):
		return "a panic"
	case errors.As(err, &stage):
		return "an error where there are no messages for authors"
	case errors.As(err, &usage):
		return ""
	}
	for _, line := range strings.Split(err.Error(), "\n") {
		if line == "" {
			return "an empty message"
		}
	}
	var found script.Errors
	if errors.As(err, &found) {
		for _, e := range found {
			if !placed.MatchString(e.Error()) {
				return "a message without its place: " + e.Error()
			}
		}
	}
	if !placed.MatchString(err.Error()) {
		return "a message without its place"
	}
	if at := insider.FindString(err.Error()); at != "" {
		return "a word of insiders: " + at
	}
	return ""
}
