package loading

import (
	"os/exec"
	"time"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/elffile"
	"github.com/startrace/startrace/internal/locate"
	"github.com/startrace/startrace/internal/memory"
	"github.com/startrace/startrace/internal/parts"
	"github.com/startrace/startrace/internal/stacks"
	"github.com/startrace/startrace/internal/unwind"
	"github.com/startrace/startrace/internal/wire"
)

// What is read before a run so that stacks of programs can be walked.

// How long the beginning of a run waits for the rows of files: those of the processes of -p, or of all, and those that
// the command of -c has mapped when it begins.
const (
	readyProcesses = time.Second
	readyCommand   = 5 * time.Second
)

// walk lets programs walk along the stacks of processes, from the first part on that does so.
func (l *Loader) walk(p *parts.Part, frames *stacks.Names) {
	rows, walks := p.Loaded.Map(tree.MapUnwindRows), &frames.Processes.Walks
	if rows == nil || walks.On() {
		return
	}
	m := unwind.Maps{Processes: p.Loaded.Map(tree.MapUnwindProcesses), Tables: p.Loaded.Map(tree.MapUnwindTables),
		Rows: rows, Files: p.Loaded.Map(tree.MapUnwindFiles), Number: l.Run.Target.Number}
	walks.Begin(unwind.New(m, unwind.Options{Chunks: chunksForRows(memory.Available()), Room: frames.Processes.Room}))
	switch pids := l.Run.Target.PIDs(); {
	case len(pids) > 0:
		walks.Ready(pids, readyProcesses)
	case l.Run.Target.Started():
		expect(walks, l.Run.Target.Command())
	default:
		walks.ReadyAll(readyProcesses)
	}
}

// chunksForRows is how many chunks the rows of files may take of the memory that is left, an eighth of it, and the
// chunks of one map at least.
func chunksForRows(left uint64) int {
	const most = wire.UnwindSegments * wire.UnwindSegment
	return int(min(most, max(wire.UnwindSegment, left/8/wire.UnwindChunk)))
}

// mostExpected bounds the libraries that are looked for.
const mostExpected = 64

// expect reads the files that a command will map: its program, the dynamic linker, and the libraries that they ask for.
// Others are read when they are mapped.
func expect(walks *stacks.Walks, command string) {
	path, err := exec.LookPath(command)
	if err != nil {
		return
	}
	var finder locate.Finder
	found := map[string]bool{path: true}
	for list := []string{path}; len(list) > 0; list = list[1:] {
		walks.Expect(list[0])
		for _, name := range asked(list[0]) {
			at, err := finder.Find(name)
			if err == nil && !found[at.Path] && len(found) < mostExpected {
				found[at.Path] = true
				list = append(list, at.Path)
			}
		}
	}
}

// asked are the names of what a file asks for.
func asked(path string) []string {
	f, err := elffile.Open(path, elffile.Options{})
	if err != nil {
		return nil
	}
	defer f.Close()
	names, err := f.Libraries()
	if err != nil || f.Interp == "" {
		return names
	}
	return append(names, f.Interp)
}

// WakeByProcesses lets the run wake when the kernel tells what processes map: a process that has just begun is to have
// its table soon.
func (l *Loader) WakeByProcesses(*parts.Part) error {
	reader, frames := l.Run.Bell.Reader(), l.Run.Frames
	if reader == nil || !frames.Processes.Walks.On() {
		return nil
	}
	for _, ring := range frames.Processes.Rings() {
		if err := reader.Watch(ring); err != nil {
			return err
		}
	}
	return nil
}

// ReadyCommand lets the command have its table before it begins.
func (l *Loader) ReadyCommand() error {
	processes := &l.Run.Frames.Processes
	if pid, loaded := l.Run.Target.Loaded(); loaded && processes.Walks.On() {
		if err := processes.See(); err != nil {
			return err
		}
		processes.Walks.Ready([]int{pid}, readyCommand)
	}
	return nil
}

// SayTrouble says what has gone wrong with the tables of processes.
func (l *Loader) SayTrouble() {
	for _, text := range l.Run.Frames.Processes.Walks.Trouble() {
		l.Run.Messages.Lackf("startrace: %s", text)
	}
}
