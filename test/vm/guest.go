package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/test/verdict"
)

// One boot of a guest: QEMU's arguments, serial lines, its time.

// machine is how a guest is started.
type machine struct {
	cpus    int
	memory  string        // as QEMU takes it: "3G"
	append  string        // further words of the kernel's command line
	secure  bool          // booted by UEFI with Secure Boot
	counted bool          // each instruction takes 1 ns of the guest's time
	startup time.Duration // the longest time until init reports
	timeout time.Duration
}

// outcome is what one boot of a guest came to.
type outcome struct {
	booted  time.Duration // until init was ready; 0 if it never was
	took    time.Duration
	cpu     time.Duration // of the emulator
	results []result
	done    bool // init came to its end
	console []byte
	files   []byte // a tar archive of the outbox
	err     error
	second  *outcome // of the boot for what failed; nil if there was none
}

// result is what one job came to.
type result struct {
	job     job
	status  int // of the process; -1 if it never ended
	took    time.Duration
	cpu     time.Duration // of the emulator: the same on a machine that others use too
	tally   verdict.Tally
	current string // the test that ran last
}

// ok says that everything ran and succeeded, at the latest the second time.
func (o outcome) ok() bool {
	if o.second != nil {
		return o.second.ok()
	}
	if o.err != nil || !o.done {
		return false
	}
	return !slices.ContainsFunc(o.results, func(r result) bool { return !r.ok() })
}

func (r result) ok() bool { return r.status == 0 && r.tally.Failed == 0 }

// again says whether the guest did not come up, for which a second boot is the remedy.
func (o outcome) again() bool { return !o.done && o.booted == 0 }

// boot runs the jobs of l in a guest, which speaks with v.
func (m machine) boot(k fetched, initramfs string, l load, v *voice) outcome {
	start := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), m.timeout)
	defer cancel()
	serial, err := openPipes(3)
	if err != nil {
		return outcome{err: err}
	}
	cmd := exec.CommandContext(ctx, k.arch.emulator, m.arguments(k, initramfs)...)
	cmd.ExtraFiles = serial.guest
	// A guest does not outlive this command. The signal comes when the thread ends that started it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	err = cmd.Start()
	serial.closeGuest()
	if err != nil {
		return outcome{err: err}
	}
	boot := time.AfterFunc(m.startup, cancel) // stopped when init reports
	var o outcome
	var readers sync.WaitGroup
	readers.Go(func() { o.console, _ = io.ReadAll(serial.host[0]) })
	readers.Go(func() { o.files, _ = io.ReadAll(serial.host[2]) })
	t := transcript{jobs: l.jobs, start: start, voice: v, ready: func() { boot.Stop() }, cpu: func() time.Duration {
		return cpuTime(cmd.Process.Pid)
	}}
	t.follow(serial.host[1])
	readers.Wait()
	err = cmd.Wait()
	boot.Stop()
	o.booted, o.results, o.done, o.took = t.booted, t.results, t.done, time.Since(start)
	o.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	switch {
	case t.done:
	case ctx.Err() != nil && t.booted == 0:
		o.err = fmt.Errorf("did not boot within %v", m.startup)
	case ctx.Err() != nil:
		o.err = fmt.Errorf("did not end within %v", m.timeout)
	case err != nil:
		o.err = fmt.Errorf("qemu: %w: %s", err, bytes.TrimSpace(complaints.Bytes()))
	default:
		o.err = errors.New("the guest died")
	}
	return o
}

// arguments of QEMU. Descriptors 3, 4 and 5 are the serial lines.
func (m machine) arguments(k fetched, initramfs string) []string {
	words := slices.Concat(k.arch.machine, []string{
		"-m", m.memory, "-smp", strconv.Itoa(m.cpus),
		"-kernel", k.vmlinuz(), "-initrd", initramfs,
		"-append", strings.TrimSpace(k.arch.console + " quiet panic=-1 " + m.append),
		"-nodefaults", "-display", "none", "-no-reboot",
		"-serial", "file:/dev/fd/3",
	}, k.arch.second, m.clock())
	if m.secure {
		words = append(words, secureFirmware...)
	}
	return words
}

// clock is that of this machine; or each instruction takes the guest 1 ns, so that its counters are exact. One thread
// runs all CPUs in turn: with a thread each, kernels died of "Oops: int3" where one CPU patched a tracepoint that
// another one was executing.
func (m machine) clock() []string {
	one := []string{"-accel", "tcg,thread=single"}
	if m.counted {
		return append(one, "-icount", "shift=0,sleep=on")
	}
	return one
}

// secureFirmware is that of Debian's package ovmf, with the keys of usual machines enrolled and Secure Boot on. It does
// not know Debian's key, but starts what -kernel names by the kernel's own entry for boot loaders, where the kernel
// reads the state of Secure Boot. What it writes into its variables goes with the guest.
var secureFirmware = []string{
	"-machine", "q35,smm=on", "-global", "driver=cfi.pflash01,property=secure,value=on",
	"-drive", "if=pflash,unit=0,format=raw,readonly=on,file=/usr/share/OVMF/OVMF_CODE_4M.secboot.fd",
	"-drive", "if=pflash,unit=1,format=raw,snapshot=on,file=/usr/share/OVMF/OVMF_VARS_4M.ms.fd",
}

// pipes carry the serial lines from QEMU to us.
type pipes struct{ host, guest []*os.File }

func openPipes(n int) (pipes, error) {
	var p pipes
	for range n {
		r, w, err := os.Pipe()
		if err != nil {
			return p, err
		}
		p.host, p.guest = append(p.host, r), append(p.guest, w)
	}
	return p, nil
}

// closeGuest closes our copies of the guest's ends, so that reading ends with QEMU.
func (p pipes) closeGuest() {
	for _, w := range p.guest {
		w.Close()
	}
}

// transcript follows the second serial line: output of the jobs, and between them the marker lines of init.
type transcript struct {
	jobs    []job
	start   time.Time
	voice   *voice
	ready   func()
	booted  time.Duration
	results []result
	done    bool
	began   time.Time
	cpu     func() time.Duration // of the emulator until now
	cpuThen time.Duration        // when the job began
	reader  verdict.Reader
}

func (t *transcript) follow(from io.Reader) {
	lines := bufio.NewReader(from)
	for {
		line, err := lines.ReadString('\n')
		line = strings.TrimRight(line, "\r\n")
		// A marker may follow output that has no newline.
		text, mark, marked := strings.Cut(line, marker)
		if text != "" || !marked && err == nil {
			t.line(text)
		}
		if marked {
			t.mark(strings.Fields(mark))
		}
		if err != nil {
			break
		}
	}
	if n := len(t.results); n > 0 && t.results[n-1].status < 0 { // the guest died in this job
		t.end(-1)
	}
}

func (t *transcript) line(text string) {
	if n := len(t.results); n > 0 && t.results[n-1].job.tests {
		t.reader.Line(text)
	}
	t.voice.line(text)
}

// cpuTime is what a process has used, by its clock (clock_getcpuclockid(3)); 0 if it has ended.
func cpuTime(pid int) time.Duration {
	const schedClock = 2 // CPUCLOCK_SCHED of the kernel's posix-timers.h
	var used unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|schedClock), &used); err != nil {
		return 0
	}
	return time.Duration(used.Nano())
}

// mark takes a marker line: ready, begin N, end N STATUS, done.
func (t *transcript) mark(words []string) {
	switch {
	case len(words) == 0:
	case words[0] == "ready":
		t.booted = time.Since(t.start)
		t.ready()
	case words[0] == "begin":
		j := t.jobs[len(t.results)]
		t.results = append(t.results, result{job: j, status: -1})
		t.reader = verdict.Reader{Package: j.name}
		t.began, t.cpuThen = time.Now(), t.cpu()
	case words[0] == "end" && len(words) == 3 && len(t.results) > 0:
		status, err := strconv.Atoi(words[2])
		if err != nil {
			status = -1
		}
		t.end(status)
	case words[0] == "done":
		t.done = true
	}
}

// end closes the job that is running.
func (t *transcript) end(status int) {
	r := &t.results[len(t.results)-1]
	r.status, r.took, r.cpu = status, time.Since(t.began), max(t.cpu()-t.cpuThen, 0)
	r.tally, r.current = t.reader.Tally(), t.reader.Current()
	t.voice.ended(*r)
}
