package prompt

import (
	"sync"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/internal/line"
	"github.com/startrace/startrace/internal/procs"
	"github.com/startrace/startrace/starlark/repl"
)

// The types of the prompt, as a chunk and a word.

// A prompt is a session whose script is typed while it runs. What is typed
// runs on the same goroutine as the callbacks: between two turns of the loop.
type prompt struct {
	// s is the run that goes on behind the prompt.
	s Session
	*line.Console
	// in gathers lines into chunks.
	in repl.Input
	// typed are the chunks that have run, in the order in which they ran last.
	typed []*typedChunk
	// files are those that the chunk which runs has loaded with their probes, loaded the names that they set. Both
	// begin anew with each chunk.
	files  []string
	loaded []string // the names that they set
	// inChunk is set while a chunk runs, and not while that waits in wait() or edit().
	inChunk bool
	latest  string // the chunk that was entered last, but for edit()
	// repeating: what depends on a name that was set anew is attached again,
	// which is said once for all of it.
	repeating bool
	command   *heldCommand          // of -c, nil for none
	words     map[string]promptWord // from the start on
}

// file is the file that all that is typed is a part of.
const file = "prompt"

// A typedChunk is a chunk that ran, for save(), and to run it again when what it
// uses is set anew.
type typedChunk struct {
	// line is the number of the first line of all that was typed.
	line int
	// text is what was typed.
	text string
	// assigned are the names that it has set, and used those that it has read.
	assigned, used []string
	from, to       int // the numbers of its probes
	// acts: it does something that lasts besides setting names and declaring probes, as every() does. It is not run
	// again when what it uses changes.
	acts bool
	// switches is the name of the probe that it enables or disables, and it does nothing else: without that probe it
	// has done nothing.
	switches string
	// keeps is the name of which it keeps the old value, "" where it has the latest of each.
	keeps    string
	declares bool   // functions, points and probes, and does nothing else
	file     string // it loaded this file
}

// A heldCommand is the one of -c. It waits until go() lets
// it run, since nobody but the user knows when all its probes are there. It has
// no input, which is the prompt's; on a terminal its output goes above the line
// that is edited.
type heldCommand struct {
	streams procs.Streams
	said    bool // that it has ended
	output  int  // a descriptor to read from, -1 where it writes by itself

	mu      sync.Mutex
	printed []byte // and not yet shown
}

// A promptText is a value of the prompt's own that is shown as several lines.
type promptText interface{ text() string }

// A promptWord is a word that only the prompt has.
type promptWord struct {
	signature, doc string
	call           func(p *prompt, arg starlark.Value) (starlark.Value, error)
	// strings is what its argument is, for completion.
	strings repl.Strings
}
