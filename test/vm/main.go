// Command vm runs programs on Debian's kernels under QEMU, as root, with everything mounted that a tracer wants:
//
//	go run ./test/vm -kernel all -- ./some.test -test.v
//	go run ./test/vm -kernel 5.10 -file testdata -- sh -c 'uname -r; ls /sys/kernel/tracing'
//	go run ./test/vm -suite -- ./internal/...
//	go run ./test/vm -kernel 6.12-arm64 -suite -- ./test/accept
//
// Words of the command that name files below the current folder are carried into the guest, to the same place below
// /vm, where the command is run; so are absolute paths that are not the system's, and what -file names. The kernels
// are fetched with the machine's own apt and kept in the user's cache folder. With -suite the words are packages (none:
// all), whose tests are built and run if they touch the kernel. The exit status is 0 when everything ended with 0 on
// every kernel.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// The flags of test/vm: kernels, jobs, CPUs, memory, words of the kernel's command line.

// options are the command line.
type options struct {
	kernels string
	arch    arch // of all of the kernels
	machine machine
	load    load
	run     string // -test.run for test binaries
	out     string
	types   string // the folder for the kernels' BTF
	renew   bool
	verbose bool

	suite    bool
	short    bool
	again    bool
	share    bool
	passed   string
	parallel int
	slowest  int
	words    []string // the command, or packages
}

func main() {
	status, err := command(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "vm:", err)
	}
	os.Exit(status)
}

// command returns the exit status: 1 when something failed in a guest, 2 when it did not come to that.
func command(args []string) (int, error) {
	opts, err := parse(args)
	if err != nil {
		return 2, err
	}
	chosen, err := choose(opts.kernels)
	if err != nil {
		return 2, err
	}
	if opts.arch, err = archOf(chosen); err != nil {
		return 2, err
	}
	store, err := userCache()
	if err != nil {
		return 2, err
	}
	ready, err := store.fetch(chosen, opts.renew)
	if err != nil {
		return 2, err
	}
	if opts.types != "" {
		if err := writeTypes(opts.types, ready); err != nil || len(opts.words) == 0 && !opts.suite {
			return status(err), err
		}
	}
	work, err := os.MkdirTemp("", "startrace-vm")
	if err != nil {
		return 2, err
	}
	defer os.RemoveAll(work)
	if err := opts.prepare(work); err != nil {
		return 2, err
	}
	if !runAll(ready, opts) {
		return 1, nil
	}
	return 0, nil
}

// status is the exit status of what does not boot anything.
func status(err error) int {
	if err != nil {
		return 2
	}
	return 0
}

func parse(args []string) (options, error) {
	var o options
	var files, modules, env repeated
	flags := flag.NewFlagSet("vm", flag.ExitOnError)
	flags.StringVar(&o.kernels, "kernel", "all", "kernels, with commas between: "+strings.Join(versions(), ", "))
	flags.IntVar(&o.machine.cpus, "smp", 1, "number of CPUs")
	flags.StringVar(&o.machine.memory, "m", "3G", "memory")
	flags.StringVar(&o.machine.append, "append", "", "further words of the kernel's command line, as preempt=full")
	flags.BoolVar(&o.machine.secure, "secureboot", false,
		"boot by UEFI with Secure Boot on (needs Debian's package ovmf)")
	flags.BoolVar(&o.machine.counted, "icount", false,
		"the guest's clock counts instructions, 1 ns each, and arm64 counts them too (slower)")
	flags.DurationVar(&o.machine.startup, "boot", 2*time.Minute, "the longest time until the guest is up")
	flags.DurationVar(&o.machine.timeout, "timeout", 10*time.Minute, "the longest time for each kernel")
	flags.StringVar(&o.run, "run", "", "run only tests that match this, in each test binary")
	flags.StringVar(&o.out, "out", "", "folder for what the guest left in /out, as KERNEL.tar")
	flags.StringVar(&o.types, "types", "", "write the BTF of each kernel to this folder, as KERNEL.btf")
	flags.BoolVar(&o.suite, "suite", false, "build and run the kernel tests of packages")
	flags.BoolVar(&o.short, "short", false, "with -suite: the short form of the tests")
	flags.BoolVar(&o.again, "again", false, "run the tests that failed a second time, alone; the timeout is for both")
	flags.BoolVar(&o.share, "share", false, "with -suite: each kernel takes a part of the tests that take long and "+
		"are much the same on each, not all of them")
	flags.StringVar(&o.passed, "passed", "",
		"with -share: a file of test/run -passed, of whose tests this machine has taken a part")
	flags.IntVar(&o.slowest, "slowest", 10, "list as many of each kernel's tests that took longest")
	flags.IntVar(&o.parallel, "j", 1, "number of guests that run at a time")
	flags.BoolVar(&o.renew, "renew", false, "fetch the newest kernels again")
	flags.BoolVar(&o.verbose, "v", false, "show the kernel's messages too")
	flags.Var(&files, "file", "carry in HOST or HOST:GUEST, a file or a folder; may be repeated")
	flags.Var(&modules, "module", "load this kernel module and what it needs; may be repeated")
	flags.Var(&env, "env", "NAME=VALUE for the commands; may be repeated")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() == 0 && !o.suite && o.types == "" {
		return o, errors.New("no command: vm [flags] -- COMMAND …, or vm -suite [flags] -- [PACKAGES]")
	}
	o.words = flags.Args()
	if o.machine.secure {
		modules = append(modules, "efivarfs") // the firmware's variables
	}
	o.load = load{modules: modules, env: append(defaultEnv(o.machine.cpus), env...)}
	if o.machine.counted {
		o.load.env = append(o.load.env, "STARTRACE_VM_ICOUNT=1")
	}
	for _, spec := range files {
		o.load.files = append(o.load.files, carrySpec(spec))
	}
	return o, nil
}

// prepare adds the jobs and their files to the load; what it builds lies below dir.
func (o *options) prepare(dir string) error {
	if !o.suite {
		o.load.files = append(o.load.files, carriedWords(o.words)...)
		o.load.jobs = []job{commandJob(o.words, o.run)}
		return nil
	}
	if len(o.words) == 0 {
		o.words = []string{"./..."}
	}
	built, err := buildSuite(dir, o.arch, o.words, o.testFlags())
	if err == nil && o.share {
		err = built.shareTests(dir)
	}
	if err == nil && o.passed != "" {
		err = built.readPassed(o.passed)
	}
	o.load.jobs = built.jobs
	o.load.files = append(o.load.files, built.files...)
	o.load.modules = append(o.load.modules, built.modules...)
	o.load.shared, o.load.passed = built.shared, built.passed
	return err
}

// testFlags are the flags of the test binaries of a suite.
func (o *options) testFlags() []string {
	flags := []string{"-test.v", "-test.timeout=" + o.machine.timeout.String()}
	if o.short {
		flags = append(flags, "-test.short")
	}
	if o.run != "" {
		flags = append(flags, "-test.run="+o.run)
	}
	return flags
}

// defaultEnv makes Go programs use eight threads on one CPU: with one, threads never compete, and what preemption
// breaks stays hidden.
func defaultEnv(cpus int) []string {
	if cpus == 1 {
		return []string{"GOMAXPROCS=8"}
	}
	return nil
}

func commandJob(words []string, run string) job {
	j := job{name: filepath.Base(words[0]), args: words, tests: strings.HasSuffix(words[0], ".test")}
	if j.tests && run != "" {
		j.args = append(j.args, "-test.run="+run)
	}
	return j
}

// repeated is a flag that may be given several times.
type repeated []string

func (r *repeated) String() string { return strings.Join(*r, " ") }

func (r *repeated) Set(value string) error {
	*r = append(*r, value)
	return nil
}

// carrySpec reads HOST or HOST:GUEST.
func carrySpec(spec string) carry {
	from, to, given := strings.Cut(spec, ":")
	if !given {
		to = from
	}
	return carry{from, inGuest(to)}
}

// inGuest is the place of a file in the guest: relative names are below home.
func inGuest(name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(home, name)
}

// ofSystem are the folders that the guest has of its own: names below them are the guest's files.
var ofSystem = []string{"/bin/", "/sbin/", "/usr/", "/lib/", "/etc/", "/proc/", "/sys/", "/dev/", "/run/", "/out/"}

// carriedWords are the words of a command that name files to be carried in.
func carriedWords(words []string) []carry {
	var found []carry
	for _, word := range words {
		if info, err := os.Stat(word); err != nil || !info.Mode().IsRegular() || hasPrefix(word, ofSystem) {
			continue
		}
		if !filepath.IsAbs(word) && !filepath.IsLocal(word) {
			continue
		}
		found = append(found, carry{word, inGuest(word)})
	}
	return found
}

func hasPrefix(word string, prefixes []string) bool {
	for _, prefix := range prefixes {
		if strings.HasPrefix(word, prefix) {
			return true
		}
	}
	return false
}
