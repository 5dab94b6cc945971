package infer

import (
	"github.com/startrace/startrace/bpfgen/points"
	"github.com/startrace/startrace/bpfgen/tree"
)

// The programs of fentry:, fexit:, kprobe:, uprobe: and uretprobe:, shared by functions for which they do the same. A
// pattern can match hundreds; those for which the probe does the same share a program, as system calls share a variant:
// the walk for one function notes what it asked about it (access), and others for which the answers are the same join
// it.

// A funcProgram is a program with the walk's questions.
type funcProgram struct {
	prog *tree.Program
	log  []access
}

// functions makes the programs of a target of functions.
func (pr *probe) functions(t *points.Target, fs *points.Functions) {
	pr.mustNotStart(t)
	var programs []*funcProgram
	for _, f := range fs.Funcs {
		if !pr.joins(programs, fs, f) {
			programs = append(programs, pr.function(t, fs, f))
		}
	}
	pr.countDeep(t, fs, programs)
}

// joins adds f to a program that does for it.
func (pr *probe) joins(programs []*funcProgram, fs *points.Functions, f *points.Function) bool {
	if !fs.Shares() {
		return false
	}
	for _, p := range programs {
		if serves(p.log, f) {
			p.prog.Attach.Functions().Add(pr.places(fs, f))
			return true
		}
	}
	return false
}

// places are those of f for one program, with their cookie.
func (pr *probe) places(fs *points.Functions, f *points.Function) []tree.Place {
	return pr.withCookie(f, fs.PlacesOf(f))
}

func (pr *probe) withCookie(f *points.Function, places []tree.Place) []tree.Place {
	for i := range places {
		places[i].Cookie = uint64(pr.pointCookie(f))
	}
	return places
}

func (pr *probe) function(t *points.Target, fs *points.Functions, f *points.Function) *funcProgram {
	fp := &funcProgram{prog: &tree.Program{Name: pr.u.programName(pr.p.ID, f.Name), Probe: pr.p.ID}}
	at := fs.At(pr.places(fs, f))
	at.Cookies = pr.cookies && fs.Shares()
	fp.prog.Attach = tree.Attach{Way: at}
	b := newBody(pr, fp.prog)
	pr.consume(b, funcEvent(b, fs, newView(fs, f, &fp.log)), t)
	pr.u.res.Tree.Programs = append(pr.u.res.Tree.Programs, fp.prog)
	return fp
}
