package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/startrace/startrace/test/verdict"
)

// runAll boots one kernel after the other, prints what they do and a summary, and says whether all went well.
func runAll(list []fetched, opts options) bool {
	work, err := os.MkdirTemp("", "startrace-vm")
	if err != nil {
		fmt.Fprintln(os.Stderr, "vm:", err)
		return false
	}
	defer os.RemoveAll(work)
	good := true
	var total verdict.Tally
	var summary bytes.Buffer
	for _, k := range list {
		o := runKernel(k, filepath.Join(work, "initramfs"), opts)
		good = o.ok() && good
		total.Add(o.summarize(&summary, k))
	}
	fmt.Printf("\n%s", summary.Bytes())
	total.PrintSkips(os.Stdout)
	fmt.Printf("%d kernels: %s\n", len(list), total)
	return good
}

// runKernel boots one kernel, and once more when it died of the emulator.
func runKernel(k fetched, initramfs string, opts options) outcome {
	if err := buildInitramfs(initramfs, k, opts.load); err != nil {
		return outcome{err: err}
	}
	fmt.Printf("=== kernel %s\n", k.release)
	show := func(line string) { fmt.Println(line) }
	o := opts.machine.boot(k, initramfs, opts.load, show)
	if o.again() {
		fmt.Printf("=== kernel %s: %v; booting again (an artefact of the emulator)\n%s", k.release, o.err, lastLines(o.console, 10))
		o = opts.machine.boot(k, initramfs, opts.load, show)
	}
	if opts.verbose || !o.done {
		fmt.Printf("--- messages of kernel %s\n%s", k.release, lastLines(o.console, 60))
	}
	if opts.out != "" && len(o.files) > 0 && o.err == nil {
		o.err = writeFile(filepath.Join(opts.out, k.version+".tar"), bytes.NewReader(o.files))
	}
	return o
}

// summarize writes a line for each job, and one for what went wrong with the guest, and returns the tests' counts.
func (o outcome) summarize(w *bytes.Buffer, k fetched) verdict.Tally {
	var total verdict.Tally
	second := func(d time.Duration) string { return fmt.Sprintf("%.1fs", d.Seconds()) }
	fmt.Fprintf(w, "kernel %-6s %-24s booted in %s, took %s\n", k.version, k.release, second(o.booted), second(o.took))
	for _, r := range o.results {
		word := "ok"
		if r.status != 0 || r.tally.Failed > 0 {
			word = fmt.Sprintf("FAIL (exit status %d)", r.status)
		}
		fmt.Fprintf(w, "  %-40s %7s  %s", r.job.name, second(r.took), word)
		if r.job.tests {
			fmt.Fprintf(w, ", %s", r.tally)
		}
		fmt.Fprintln(w)
		for _, name := range r.tally.Failures {
			fmt.Fprintf(w, "    FAIL %s\n", name)
		}
		for i := range r.tally.Skips {
			r.tally.Skips[i].Package = k.version + " " + r.tally.Skips[i].Package
		}
		total.Add(r.tally)
	}
	if o.err != nil {
		fmt.Fprintf(w, "  FAIL: %v\n", o.err)
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
