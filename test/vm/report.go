package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/startrace/startrace/test/verdict"
)

// All guests run, and the summary.

// runAll boots the kernels, prints what they do and a summary, and says whether all went well.
func runAll(list []fetched, opts options) bool {
	outcomes := make([]outcome, len(list))
	p := &printer{to: os.Stdout, prefix: opts.parallel > 1, hold: opts.suite && !opts.verbose}
	turn := make(chan struct{}, opts.parallel)
	var all sync.WaitGroup
	for i, k := range slices.Backward(list) { // the newest takes longest
		turn <- struct{}{}
		all.Go(func() {
			mine := opts
			mine.load = opts.load.share(i, len(list))
			outcomes[i] = runKernel(k, mine, p)
			<-turn
		})
	}
	all.Wait()
	good := true
	var total verdict.Tally
	fmt.Println()
	for i, k := range list {
		good = outcomes[i].ok() && good
		tally := outcomes[i].summarize(os.Stdout, k)
		tally.PrintSlowest(os.Stdout, opts.slowest)
		total.Add(tally)
	}
	total.PrintSkips(os.Stdout)
	fmt.Printf("%d kernels: %s\n", len(list), total)
	return good
}

// runKernel boots one kernel, and with -again once more for what failed.
func runKernel(k fetched, opts options, p *printer) outcome {
	began := time.Now()
	p.lines(k, "=== kernel "+k.release)
	o := bootKernel(k, opts, p)
	if !opts.again || o.ok() || len(o.results) == 0 {
		return o
	}
	opts, enough := o.secondRun(opts, time.Since(began))
	if !enough {
		p.lines(k, "=== no time is left to run what failed a second time")
		return o
	}
	p.lines(k, "=== what failed, a second time")
	second := bootKernel(k, opts, p)
	o.second = &second
	return o
}

// bootKernel boots one kernel, and once more when it did not come up.
func bootKernel(k fetched, opts options, p *printer) outcome {
	work, err := os.MkdirTemp("", "startrace-vm")
	if err != nil {
		return outcome{err: err}
	}
	defer os.RemoveAll(work)
	initramfs := filepath.Join(work, "initramfs")
	if err := buildInitramfs(initramfs, k, opts.load); err != nil {
		return outcome{err: err}
	}
	o := opts.machine.boot(k, initramfs, opts.load, &voice{printer: p, kernel: k})
	if o.again() {
		p.lines(k, fmt.Sprintf("=== %v; booting again\n%s", o.err, lastLines(o.console, 10)))
		o = opts.machine.boot(k, initramfs, opts.load, &voice{printer: p, kernel: k})
	}
	if opts.verbose || !o.done {
		p.lines(k, fmt.Sprintf("=== messages of kernel %s\n%s", k.release, lastLines(o.console, 60)))
	}
	if opts.out != "" && len(o.files) > 0 && o.err == nil {
		o.err = writeFile(filepath.Join(opts.out, k.version+".tar"), bytes.NewReader(o.files))
	}
	return o
}

// summarize writes a line for each job, and one for what went wrong with the guest, and returns the tests' counts.
func (o outcome) summarize(w io.Writer, k fetched) verdict.Tally {
	var total verdict.Tally
	second := func(d time.Duration) string { return fmt.Sprintf("%.1fs", d.Seconds()) }
	fmt.Fprintf(w, "kernel %-6s %-24s booted in %s, took %s, %s of CPU\n", k.version, k.release, second(o.booted),
		second(o.took), second(o.cpu))
	for _, r := range o.results {
		word := "ok"
		if !r.ok() {
			word = fmt.Sprintf("FAIL (exit status %d)", r.status)
		}
		fmt.Fprintf(w, "  %-40s %7s %7s  %s", r.job.name, second(r.took), second(r.cpu), word)
		if r.job.tests {
			fmt.Fprintf(w, ", %s", r.tally)
		}
		fmt.Fprintln(w)
		if r.status < 0 && r.job.tests {
			fmt.Fprintf(w, "    it ended in %s\n", r.current)
		}
		for _, name := range r.tally.Failures {
			fmt.Fprintf(w, "    FAIL %s\n", name)
		}
		for i := range r.tally.Skips {
			r.tally.Skips[i].Package = k.version + " " + r.tally.Skips[i].Package
		}
		for i := range r.tally.Times {
			r.tally.Times[i].Package = k.version + " " + r.tally.Times[i].Package
		}
		total.Add(r.tally)
	}
	if o.err != nil {
		fmt.Fprintf(w, "  FAIL: %v\n", o.err)
	}
	if o.second != nil {
		fmt.Fprint(w, "what failed, a second time: ")
		total.Add(o.second.summarize(w, k))
	}
	return total
}

// lastLines returns the end of a console's text, with plain newlines.
func lastLines(text []byte, n int) []byte {
	lines := bytes.Split(bytes.TrimSpace(bytes.ReplaceAll(text, []byte("\r"), nil)), []byte("\n"))
	if len(lines) > n {
		lines = lines[len(lines)-n:]
	}
	return append(bytes.Join(lines, []byte("\n")), '\n')
}
