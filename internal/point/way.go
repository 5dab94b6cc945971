package point

import "github.com/startrace/startrace/internal/kernel"

// Way, by which kinds of points are attached, with what a kernel lacks.

// A Way is something that a kernel may have or forbid, and that is found out by trying it: how points of some kinds are
// attached, or what tracing needs in any case.
type Way struct {
	// Name is the word for it.
	Name    kernel.Way
	Use     string // what it is for
	Since   string // the version of Linux that has it; "" where that depends on the configuration only
	Instead string // what is done or can be done without it
	// By are the ways one of which Instead goes by: without any it is no help. None: it needs none of the table.
	By []kernel.Way
	// Forbidden is why the kernel refuses it to who may load programs at all; "": nothing but that is known.
	Forbidden string
}

// noDirectCalls is why there are no trampolines.
const noDirectCalls = "this kernel was built without what they need (CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS), " +
	"or a security module forbids them"
