package diff

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/test/need"
	"github.com/startrace/startrace/test/setting"
)

// stackProgram takes stacks of some depths, as values and as keys.
func stackProgram(site *Site, depths []int) *Program {
	text := "qs_A = count(size = 512)\ndef qs(e):\n"
	var parts []string
	for i, n := range depths {
		parts = append(parts, fmt.Sprintf("e.stack(%d)", n))
		text += fmt.Sprintf("    qs_A[e.stack(%d), %d].add()\n", n, i)
	}
	return &Program{Name: "qs", Site: site, Text: text + "    return (" + strings.Join(parts, ", ") + ")\n"}
}

// compareStacks runs it at a scene: of one event both halves have the same stacks, and a stack of fewer frames is the
// beginning of one of more.
func compareStacks(t *testing.T, s *scene, depths []int) {
	t.Helper()
	p := stackProgram(s.site, depths)
	src, _, _ := s.scriptAt([]*Program{p})
	st, err := s.compile(src)
	if err != nil {
		t.Fatal(err)
	}
	if err := st.load(s); err != nil {
		t.Fatal(err)
	}
	defer st.close()
	for _, in := range s.inputs {
		got, err := st.happened(s, &in)
		if err != nil {
			t.Fatal(err)
		}
		inKernel, inUser := got[ran{0, false}].value, got[ran{1, false}].value
		if st.lost() {
			continue
		}
		if inKernel == nil || inUser == nil || !sameValue(inKernel, inUser) {
			t.Fatalf("%s: the kernel half has %v, the user half %v", s.site.Point, inKernel, inUser)
		}
		checkDepths(t, s.site.Point, depths, inKernel.(starlark.Tuple))
	}
	keys, err := held(st.state["qs_A"])
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range st.host.Env().Containers() {
		if c.Decl().Name != "qst_A" {
			continue
		}
		if list, err := held(c); err != nil || !sameValues(keys, list) {
			t.Errorf("%s: keys of the kernel half %v, of the user half %v, %v", s.site.Point, keys, list, err)
		}
	}
}

func checkDepths(t *testing.T, point string, depths []int, stacks starlark.Tuple) {
	t.Helper()
	longest := stacks[slices.Index(depths, slices.Max(depths))].(*refStack).addrs
	if len(longest) == 0 && (atLeast(6, 12) || !strings.HasPrefix(point, "tracepoint:syscalls:")) {
		t.Errorf("%s: there is no stack", point) // old kernels say that such a tracepoint is reached from user mode
	}
	for i, n := range depths {
		if got := stacks[i].(*refStack).addrs; !slices.Equal(got, longest[:min(n, len(longest))]) {
			t.Errorf("%s: a stack of %d frames is %#x, of all %#x", point, n, got, longest)
		}
	}
}

// TestKernelStacks takes stacks of the kernel of random depths where a system call and a function that it calls are
// seen.
func TestKernelStacks(t *testing.T) {
	need.Loading(t)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	facts, seed := realFacts(), setting.Int(t, "DIFF_SEED", 1)
	r := rand.New(rand.NewPCG(uint64(seed), 0x57ac))
	at := func(call *SystemCall, sites []Site, number int) {
		happen, err := call.makes(number)
		if err != nil {
			t.Fatal(err)
		}
		for _, site := range sites {
			depths := []int{100}
			for range 4 {
				depths = append(depths, 1+r.IntN(20))
			}
			compareStacks(t, &scene{site: &site, pid: os.Getpid(), facts: facts, happen: happen,
				inputs: call.Inputs(uint64(seed), 4)}, depths)
		}
	}
	number, _ := numberOf(Calls[0].Name)
	at(&Calls[0], Calls[0].Sites(number), number)
	if f := someFunction(t, facts); f != nil {
		number, _ := numberOf(f.Call)
		at(f.call(), f.Sites(), number)
	}
}

// someFunction is one of the kernel that is called; nil where functions cannot be probed.
func someFunction(t *testing.T, facts *kernel.Facts) *KernelFunction {
	t.Helper()
	if !facts.Features().Kprobe && !facts.Trampolines().There {
		return nil
	}
	for i := range KernelFunctions {
		f := &KernelFunctions[i]
		number, _ := numberOf(f.Call)
		makes, err := f.call().makes(number)
		if err != nil {
			t.Fatal(err)
		}
		list, err := facts.MatchFunctions(f.Name)
		if err == nil && len(list) > 0 && f.called(t, &scene{facts: facts, happen: makes, pid: os.Getpid(),
			inputs: f.call().Inputs(1, 1)}) {
			return f
		}
	}
	t.Error("no function of the kernel is seen")
	return nil
}
