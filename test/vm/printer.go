package main

import (
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/startrace/startrace/test/verdict"
)

// What guests say, printed.

// printer shows what the guests say. Guests may run side by side, so whole lines are written, with the kernel's
// version before them where there is more than one at a time.
type printer struct {
	mu     sync.Mutex
	to     io.Writer
	prefix bool // the kernel's version before each line
	hold   bool // show the output of a job only if it failed
}

// lines writes lines of one kernel together.
func (p *printer) lines(k fetched, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for line := range strings.Lines(text) {
		if p.prefix {
			line = "[" + k.version + "] " + line
		}
		fmt.Fprint(p.to, strings.TrimSuffix(line, "\n")+"\n")
	}
}

// voice is what one guest prints with.
type voice struct {
	printer *printer
	kernel  fetched
	held    strings.Builder
}

// line takes a line of a job's output.
func (v *voice) line(text string) {
	if v.printer.hold {
		v.held.WriteString(text + "\n")
		return
	}
	v.printer.lines(v.kernel, text+"\n")
}

// ended tells how a job ended, and what it said if it failed.
func (v *voice) ended(r result) {
	if !v.printer.hold {
		return
	}
	if r.ok() {
		v.printer.lines(v.kernel, fmt.Sprintf("ok   %s %.1fs: %s\n", r.job.name, r.took.Seconds(), r.tally))
	} else {
		v.printer.lines(v.kernel, fmt.Sprintf("%sFAIL %s: exit status %d\n", verdict.Complaints(v.held.String()),
			r.job.name, r.status))
	}
	v.held.Reset()
}
