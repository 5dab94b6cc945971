package infer

import (
	"slices"

	"github.com/startrace/startrace/bpfgen/tree"
)

// functions are those that a pattern matched, of the kernel or of one program, or places in them.
type functions struct {
	onePoint
	funcs []*funcPoint
	mech  tree.AttachKind // how their programs are attached
	// binary is the file that has them, "": the kernel; process the only process to be probed, 0: all.
	binary  string
	process int
	// returns: the places are those where the functions return.
	returns bool
	// bare: see tree.Functions.
	bare bool
}

func (fs *functions) points(t *target) (out []tree.Point) {
	for _, f := range fs.funcs {
		out = append(out, tree.Point{Name: f.text, Func: f.name})
	}
	if len(out) == 0 {
		return fs.onePoint.points(t)
	}
	return out
}

func (fs *functions) names(t *target) (out []string) {
	for _, p := range fs.points(t) {
		out = append(out, p.Name)
	}
	return out
}

func (fs *functions) pattern() bool { return len(fs.funcs) > 1 }

func (fs *functions) without(t *target, known map[string]bool) bool {
	if len(fs.funcs) == 0 {
		return fs.onePoint.without(t, known)
	}
	fs.funcs = slices.DeleteFunc(fs.funcs, func(f *funcPoint) bool { return known[f.text] })
	return len(fs.funcs) > 0
}

func (fs *functions) single(t *target) []*target {
	if len(fs.funcs) < 2 {
		return []*target{t}
	}
	var out []*target
	for _, f := range fs.funcs {
		one, of := *t, *fs
		of.funcs = []*funcPoint{f}
		one.source, one.text, one.name = &of, f.text, f.name
		out = append(out, &one)
	}
	return out
}

func (fs *functions) wholeFunction() string {
	if len(fs.funcs) != 1 {
		return ""
	}
	f := fs.funcs[0]
	if f.user || f.program || f.place.Module != "" || f.place.Address != 0 {
		return ""
	}
	return f.place.Func
}

func (fs *functions) argNames(*unit) (out []string) {
	for _, f := range fs.funcs {
		for _, p := range f.params() {
			out = append(out, p.Name)
		}
	}
	return out
}

func (fs *functions) argCount(*unit) (n int) {
	for _, f := range fs.funcs {
		n = max(n, f.argCount())
	}
	return n
}

// ownDoing: a process runs its functions itself.
func (fs *functions) ownDoing() bool { return fs.binary != "" }

func (fs *functions) entries() []instruction {
	if fs.returns {
		return nil
	}
	return []instruction{{fs.binary, fs.funcs[0].place.Offset}}
}

func (fs *functions) returnsAt() (out []instruction) {
	if fs.returns {
		for _, at := range fs.funcs[0].ends() {
			out = append(out, instruction{fs.binary, at.Offset})
		}
	}
	return out
}

func (fs *functions) attach(*target) tree.Attach {
	return tree.Attach{Way: fs.at(fs.placesOf(fs.funcs[0]))}
}

func (fs *functions) event(_ *target, b *body) *event {
	f := fs.view(fs.funcs[0], new([]access))
	f.shared = false
	return fs.funcEvent(b, f)
}
