package symbols

import (
	"os"

	"github.com/startrace/startrace/internal/mapping"
)

// Code calls f with what a process has mapped as code, as far as it is known. file tells files apart, by ==: one that
// was written anew is another. It is nil where there is none that can be opened. open opens it, during the call of f.
func (t *Namer) Code(pid int, f func(m mapping.Mapping, file any, open func() (*os.File, error))) {
	p := t.processes.get(pid)
	if !p.told {
		p = t.update(p, 0)
	}
	if len(p.maps) == 0 {
		t.inherit(p)
	}
	for i := range p.maps {
		a := &p.maps[i]
		if a.Inode == 0 || a.anonymous() || a.version == (fileVersion{}) && !t.identify(p, a) {
			f(a.Mapping, nil, nil)
			continue
		}
		f(a.Mapping, a.version, func() (*os.File, error) {
			at, ok := t.find(p, a)
			if !ok {
				return nil, os.ErrNotExist
			}
			return os.Open(at.path)
		})
	}
}

// identify notes which version of its file an area has; false where the file is out of reach.
func (t *Namer) identify(p *Process, a *area) bool {
	_, ok := t.find(p, a)
	return ok
}
