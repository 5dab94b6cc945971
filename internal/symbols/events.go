package symbols

import (
	"slices"
	"time"

	"github.com/startrace/startrace/internal/mapping"
)

// What the kernel tells of mappings is noted.

// Listen says whether all events come from now on (package sideband). Then a
// process that began since, or whose mappings were read since, is known without
// looking at it. After a loss, call it anew.
func (t *Namer) Listen(all bool) {
	t.listening = all
	for _, p := range t.processes.byPID {
		p.told = false
	}
}

// Tell takes an event, in the order of their times.
func (t *Namer) Tell(e *mapping.Change) {
	switch e.Kind {
	case mapping.Forked:
		if e.Parent != e.PID { // else a thread
			t.forked(e)
		}
	case mapping.Executed:
		p := t.processes.begin(e.PID, e.Time)
		p.told, p.ran = t.listening, e.Time
		if p.before != nil {
			p.parent = p.before.parent
		}
	case mapping.Mapped:
		// Of a process that is not known all is read when it is asked for.
		if p := t.processes.byPID[e.PID]; p != nil && (p.told || p.Seen()) && e.Mapping.Code {
			t.look(p)
			if p.told && p.replaces(&e.Mapping) {
				p = t.processes.renew(p, e.Time)
			}
			p.add(e.Mapping, p.loads(e.Time))
		}
	case mapping.Ended:
		if p := t.processes.byPID[e.PID]; p != nil {
			p.over = true
		}
	}
}

func (t *Namer) forked(e *mapping.Change) {
	parent := t.processes.byPID[e.Parent]
	p := t.processes.begin(e.PID, e.Time)
	p.parent, p.copied = e.Parent, true
	if parent != nil && parent.told {
		p.told = t.listening
		p.take(parent)
	}
}

// replaces reports whether a mapping takes the place of code of another file, or of another place of it.
func (p *Process) replaces(m *mapping.Mapping) bool {
	return slices.ContainsFunc(p.maps, func(a area) bool {
		return a.Start < m.End && m.Start < a.End && a.File() &&
			(a.id() != fileID{m.Dev, m.Inode} || a.Start-a.Offset != m.Start-m.Offset)
	})
}

// beginning is how long a program takes at most to load the libraries that it asks for: what it loads later it can
// unload, too.
const beginning = 20 * time.Millisecond

// loads reports whether a program that maps code at a time runs already.
func (p *Process) loads(at uint64) bool { return p.ran == 0 || at-p.ran > uint64(beginning) }

// add puts a mapping in place of what it covers. loaded: the program has asked for it while it ran.
func (p *Process) add(m mapping.Mapping, loaded bool) {
	if p.program == "" && m.File() {
		p.program = m.Path // the first that exec maps (load_elf_binary, fs/binfmt_elf.c)
	}
	maps := make([]area, 0, len(p.maps)+2)
	at := 0
	for _, a := range p.maps {
		if a.Start < m.Start {
			maps = append(maps, a.part(a.Start, min(a.End, m.Start)))
			at = len(maps)
		}
		if a.End > m.End {
			maps = append(maps, a.part(max(a.Start, m.End), a.End))
		}
	}
	p.maps = slices.Insert(maps, at, area{Mapping: m, loaded: loaded})
}

// part is an area without its beginning or end.
func (a area) part(start, end uint64) area {
	a.Offset += start - a.Start
	a.Start, a.End = start, end
	return a
}
