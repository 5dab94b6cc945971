package unwind

import (
	"slices"

	"github.com/startrace/startrace/internal/mapping"
)

// The code that a process has mapped, and its table.

// A layout is the code that one process has mapped, or several: one and what it has forked.
type layout struct {
	code  []located
	users map[int]*traced
	// slot is its table; nil as long as it has none.
	slot *slot
}

// A located is code with its file, nil for none.
type located struct {
	mapping.Mapping
	id     any
	file   *file
	loaded bool
}

// layoutOf finds the files of code, or begins to read them.
func (k *Keeper) layoutOf(code []Mapped) *layout {
	l := &layout{code: make([]located, 0, len(code)), users: map[int]*traced{}}
	for i := range code {
		c := located{code[i].Mapping, code[i].File, k.file(&code[i]), code[i].Loaded}
		if c.file != nil {
			c.file.refs++
			if c.file.reading {
				c.file.waiting[l] = true
			}
		}
		l.code = append(l.code, c)
	}
	return l
}

// is reports whether a layout is that of code.
func (l *layout) is(code []Mapped) bool {
	return slices.EqualFunc(l.code, code, func(a located, b Mapped) bool {
		return a.Mapping == b.Mapping && a.id == b.File && a.loaded == b.Loaded
	})
}

// asked reports whether walks ask the kernel which file is mapped there now: it may be another one, and each that has
// rules is found by that.
func (c *located) asked() bool { return c.loaded && c.file != nil && (c.file.reading || c.file.told) }

// areas are those of all code. Of files that are being read they say so.
func (l *layout) areas() (list []area) {
	for i := range l.code {
		from := len(list)
		switch c := &l.code[i]; {
		case c.file == nil:
			list = append(list, areasOf(&c.Mapping, nil)...)
		case c.file.reading:
			list = append(list, areasOf(&c.Mapping, &packedFile{pending: true})...)
		default:
			m := c.Mapping
			if m.Inode == 0 {
				m.Offset = 0 // events give memory that is no file's the place of its address
			}
			list = append(list, areasOf(&m, &c.file.packedFile)...)
		}
		for j := range list[from:] {
			list[from+j].ask = l.code[i].asked()
		}
	}
	return list
}

// findPython writes the first interpreter of Python into a table.
func (l *layout) findPython(table []byte) {
	for i := range l.code {
		c := &l.code[i]
		if c.file == nil || c.file.reading || c.file.python == nil {
			continue
		}
		if areas := areasOf(&c.Mapping, &c.file.packedFile); len(areas) > 0 && areas[0].chunk != 0 {
			encodePython(table, &c.file.packedFile, areas[0])
			return
		}
	}
}

// runs are the chunks that the layout's table speaks of.
func (l *layout) runs() (list []*run) {
	for _, c := range l.code {
		if c.file != nil && c.file.run != nil && !slices.Contains(list, c.file.run) {
			list = append(list, c.file.run)
		}
	}
	return list
}

// join gives a process another layout. What walks use stays until that has a table.
func (k *Keeper) join(p *traced, pid int, l *layout) {
	k.leave(p, pid)
	p.layout, l.users[pid] = l, p
}

// leave takes its layout from a process.
func (k *Keeper) leave(p *traced, pid int) {
	l := p.layout
	if p.layout = nil; l == nil {
		return
	}
	if delete(l.users, pid); len(l.users) > 0 {
		return
	}
	for _, c := range l.code {
		if c.file != nil {
			c.file.refs--
			delete(c.file.waiting, l)
		}
	}
	delete(k.unplaced, l)
	if l.slot != nil {
		k.leaveSlot(l.slot)
	}
}

// publish makes the table of a layout, or makes it anew, and lets its processes have it.
func (k *Keeper) publish(l *layout) {
	if len(l.users) == 0 { // its last process may just have been evicted
		return
	}
	table := encode(l.areas())
	l.findPython(table)
	s, full := k.slotOf(table, l.runs())
	delete(k.unplaced, l)
	if full {
		k.unplaced[l] = true
		k.reclaimSoon()
	}
	if s == nil {
		return
	}
	s.refs++
	if l.slot != nil {
		k.leaveSlot(l.slot)
	}
	l.slot = s
	for pid, p := range l.users {
		k.show(p, pid, s)
	}
}
