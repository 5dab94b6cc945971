package bpf

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
)

// What stays beside the library has its reason measured here: docs/rationale.md has the numbers.

// userReader reads 8 bytes of a program's memory, from address 0.
func userReader() asm.Instructions {
	return asm.Instructions{
		asm.Mov.Reg(asm.R1, asm.RFP), asm.Add.Imm(asm.R1, -8), asm.Mov.Imm(asm.R2, 8), asm.Mov.Imm(asm.R3, 0),
		asm.FnProbeReadUser.Call(), asm.Mov.Imm(asm.R0, 0), asm.Return(),
	}
}

// loaders are the ways to load a program.
var loaders = map[string]func() (*ebpf.Program, error){
	"own": func() (*ebpf.Program, error) {
		return Load(&Program{Name: "bench", Type: ebpf.RawTracepoint, Instructions: userReader()}, nil)
	},
	"library": func() (*ebpf.Program, error) {
		return ebpf.NewProgramWithOptions(&ebpf.ProgramSpec{Name: "bench", Type: ebpf.RawTracepoint,
			Instructions: userReader(), License: "GPL"}, ebpf.ProgramOptions{LogDisabled: true})
	},
}

// TestLockdownLibrary needs a kernel booted with lockdown=confidentiality: that takes a program that reads a program's
// memory, and the library loads another one, which it refuses. When the library's is taken, too, the own loader has one
// reason less.
func TestLockdownLibrary(t *testing.T) {
	mode, err := os.ReadFile("/sys/kernel/security/lockdown")
	if err != nil || !bytes.Contains(mode, []byte("[confidentiality]")) {
		t.Skip("needs a kernel booted with lockdown=confidentiality (make test-vm)")
	}
	p, err := loaders["own"]()
	if err != nil {
		t.Fatal(err)
	}
	p.Close()
	if p, err := loaders["library"](); err == nil {
		p.Close()
		t.Error("the library loads it, too: of the reasons for an own loader only the time is left " +
			"(BenchmarkFirstLoad)")
	}
}

// firstLoad names the loader that a process is to measure.
const firstLoad = "STARTRACE_FIRST_LOAD"

// TestMain is also the process of BenchmarkFirstLoad: it says how many ns its first load takes.
func TestMain(m *testing.M) {
	load := loaders[os.Getenv(firstLoad)]
	if load == nil {
		os.Exit(m.Run())
	}
	began := time.Now()
	p, err := load()
	took := time.Since(began)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	p.Close()
	fmt.Println(took.Nanoseconds())
}

// BenchmarkFirstLoad is what the first program of a process costs: the library tests what the kernel can do.
func BenchmarkFirstLoad(b *testing.B) {
	rawTracepoint(b, asm.Mov.Imm(asm.R0, 0), asm.Return()) // skips without rights
	for _, name := range []string{"own", "library"} {
		b.Run(name, func(b *testing.B) {
			total, runs := 0, 0
			for b.Loop() {
				total, runs = total+measureFirst(b, name), runs+1
			}
			b.ReportMetric(float64(total)/float64(runs)/1000, "µs/first-load")
		})
	}
}

// measureFirst gives what the first load takes in a process of its own, in ns.
func measureFirst(b *testing.B, loader string) int {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), firstLoad+"="+loader)
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	ns, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil {
		b.Fatal(err)
	}
	return ns
}

// BenchmarkLoad is what each further program costs.
func BenchmarkLoad(b *testing.B) {
	rawTracepoint(b, asm.Mov.Imm(asm.R0, 0), asm.Return()) // skips without rights
	for _, name := range []string{"own", "library"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p, err := loaders[name]()
				if err != nil {
					b.Fatal(err)
				}
				p.Close()
			}
		})
	}
}
