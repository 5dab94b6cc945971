package main

import (
	"debug/elf"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/startrace/startrace/test/target"
)

// The architectures of guests: QEMU, machine, compilers.

// arch is an architecture that QEMU emulates and Debian has kernels for.
type arch struct {
	name     string // as Go and Debian have it
	emulator string
	machine  []string // the emulator's words for the machine and its CPUs
	console  string   // the kernel's words for the first serial line
	jobs     string   // the device of the second
	files    string   // and of the third
	second   []string // the emulator's words for the second and third line, on descriptors 4 and 5
	compiler string   // what the names of C compilers begin with where another architecture builds for it
}

// There is no KVM: guests hang on the one of the machines that we test on, and tests must not depend on it. Without
// ERMS the kernel clears and copies pages by words instead of bytes, which the emulator does one by one.
var amd64 = arch{
	name: "amd64", emulator: "qemu-system-x86_64",
	machine: []string{"-cpu", "max,erms=off"},
	console: "console=ttyS0 8250.nr_uarts=4", jobs: "ttyS1", files: "ttyS2",
	second:   []string{"-serial", "file:/dev/fd/4", "-serial", "file:/dev/fd/5"},
	compiler: "x86_64-linux-gnu-",
}

// The machine has one serial line of its own; PCI brings the others. The emulated CPU has counters (PMUv3): cycles by
// the guest's clock, 1 GHz, with interrupts. It signs pointers by a cipher of the emulator instead of the standard's,
// which takes most of its time.
var arm64 = arch{
	name: "arm64", emulator: "qemu-system-aarch64",
	machine: []string{"-machine", "virt,gic-version=3", "-cpu", "max,pauth-impdef=on"},
	console: "console=ttyAMA0", jobs: "ttyS0", files: "ttyS1",
	second: []string{
		"-chardev", "file,id=jobs,path=/dev/fd/4", "-device", "pci-serial,chardev=jobs",
		"-chardev", "file,id=files,path=/dev/fd/5", "-device", "pci-serial,chardev=files",
	},
	compiler: "aarch64-linux-gnu-",
}

// own says whether programs of the architecture run on this machine.
func (a arch) own() bool { return a.name == runtime.GOARCH }

// busybox is this machine's, or what came with a kernel of another architecture.
func (f fetched) busybox() (string, error) {
	if f.arch.own() {
		return exec.LookPath("busybox")
	}
	return filepath.Join(f.dir, "busybox"), nil
}

// archOf is the architecture that all of the kernels have, as the programs are built once.
func archOf(list []kernel) (arch, error) {
	if len(list) == 0 {
		return arch{}, errors.New("no kernel")
	}
	for _, k := range list[1:] {
		if k.arch.name != list[0].arch.name {
			return arch{}, fmt.Errorf("kernels %s and %s are of two architectures: one run is for one", list[0].version,
				k.version)
		}
	}
	return list[0].arch, nil
}

// compilers are those of the programs that tests trace.
func (a arch) compilers() target.Compilers {
	if a.own() {
		return target.Compilers{Arch: a.name}
	}
	return target.Compilers{Arch: a.name, Prefix: a.compiler}
}

// needs are the files that a program loads, and the places where it looks. Of another architecture they lie where
// Debian's packages for such compilers have them.
func (a arch) needs(binary string) ([]carry, error) {
	if a.own() {
		names, err := target.Needs(binary)
		var found []carry
		for _, name := range names {
			found = append(found, carry{name, name})
		}
		return found, err
	}
	file, err := elf.Open(binary)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	libraries, err := file.ImportedLibraries()
	if err != nil || len(libraries) == 0 {
		return nil, err
	}
	interp, err := file.Section(".interp").Data()
	if err != nil {
		return nil, err
	}
	loader := strings.TrimRight(string(interp), "\x00")
	folder := filepath.Join("/usr", strings.TrimSuffix(a.compiler, "-"), "lib")
	found := []carry{{filepath.Join(folder, filepath.Base(loader)), loader}}
	for _, name := range libraries {
		if name != filepath.Base(loader) {
			found = append(found, carry{filepath.Join(folder, name), filepath.Join("/lib", name)})
		}
	}
	return found, nil
}
