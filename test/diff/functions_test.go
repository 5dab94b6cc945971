package diff

import (
	"os"
	"runtime"
	"testing"
)

// TestAtKernelFunctions runs random programs at functions of the kernel, by each way to probe them.
func TestAtKernelFunctions(t *testing.T) {
	needBPF(t)
	c, facts, seed := &checker{}, realFacts(), setting(t, "DIFF_SEED", 1)
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
		for j, site := range f.Sites() {
			if (i+j+seed)%oneOf() != 0 {
				continue
			}
			c.compareScene(&scene{site: &site, pid: os.Getpid(), facts: facts, happen: happen,
				inputs: call.Inputs(uint64(seed+i), 12)}, uint64(1000*(seed+i)+100*j), howManyAt(t))
		}
	}
	c.bounded(t)
	c.reportScenes(t)
	if c.runs < 100 {
		t.Errorf("%d runs show little", c.runs)
	}
}
