package diff

import (
	"cmp"
	"fmt"
	"os"
	"runtime"
	"testing"

	"github.com/startrace/startrace/test/need"
	"github.com/startrace/startrace/test/setting"
)

// TestAtKernelFunctions runs random programs at functions of the kernel, by each way to probe them.
func TestAtKernelFunctions(t *testing.T) {
	need.Loading(t)
	c, facts, seed := &checker{}, realFacts(), setting.Int(t, "DIFF_SEED", 1)
	if !facts.Features().Kprobe && !facts.Trampolines().There {
		t.Skip("needs a kernel with CONFIG_KPROBES")
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for i := range KernelFunctions {
		f := &KernelFunctions[i]
		if list, err := facts.MatchFunctions(f.Name); err != nil || len(list) == 0 {
			t.Logf("this kernel has %s in others: %v", f.Name, err)
			continue
		}
		call := f.call()
		number, ok := numberOf(call.Name)
		if !ok {
			t.Errorf("no call %s", call.Name)
			continue
		}
		makes, err := call.makes(number)
		if err != nil {
			t.Fatal(err)
		}
		happen := func(in *Input) error {
			f.derived(call, in)
			return makes(in)
		}
		inputs := call.Inputs(uint64(seed+i), 12)
		if !f.called(t, &scene{facts: facts, happen: happen, pid: os.Getpid(), inputs: inputs}) {
			t.Logf("this kernel has %s written out in its caller", f.Name)
			continue
		}
		for j, site := range f.Sites() {
			if (i+j+seed)%oneOf() != 0 {
				continue
			}
			c.compareScene(&scene{site: &site, pid: os.Getpid(), facts: facts, happen: happen,
				inputs: inputs}, uint64(1000*(seed+i)+100*j), howManyAt(t))
		}
	}
	c.bounded(t)
	c.reportScenes(t)
	if c.runs < 100 {
		t.Errorf("%d runs show little", c.runs)
	}
}

// called reports whether anything is seen of a function that the kernel has: its compiler may have written it out where
// it is called. Calls of other threads, as of Go's own that maps memory, are told apart as the sites do it.
func (f *KernelFunction) called(t *testing.T, s *scene) bool {
	s.site = &Site{Point: "func:" + f.Name}
	where := cmp.Or(f.Where, "True")
	st, err := s.compile(fmt.Sprintf("probe(%q, kernel = lambda e: 1, where = lambda e: %s)\n", s.site.Point, where))
	if err != nil {
		t.Fatal(err)
	}
	if err := st.load(s); err != nil {
		t.Fatal(err)
	}
	defer st.close()
	seen, err := st.happened(s, &s.inputs[0])
	if err != nil {
		t.Fatal(err)
	}
	return len(seen) > 0
}
