package binary

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/startrace/startrace/internal/elffile"
	"github.com/startrace/startrace/internal/naming"
	"github.com/startrace/startrace/internal/sourcefunc"
	"github.com/startrace/startrace/internal/sourceline"
)

// SourceFiles gives the source files of a program that match a pattern, each by as much of the end of its path as tells
// it from others.
func (f *Finder) SourceFiles(file, pattern string) ([]string, *File, error) {
	e, out, err := f.file(file)
	if err != nil {
		return nil, nil, err
	}
	table := f.signatures(out.Path, e)
	if table == nil {
		return nil, out, withoutDebugInfo(out)
	}
	g, err := naming.Compile(pattern)
	if err != nil {
		return nil, nil, err
	}
	is := sourceline.FilesLike(pattern, g.Match)
	all, err := sourceline.All(table.Data())
	if err != nil {
		return nil, out, err
	}
	names := newTails(all)
	var list []string
	for _, name := range all {
		if is.Is(name) {
			list = append(list, names.of(name))
		}
	}
	slices.Sort(list)
	return list, out, nil
}

// tails name files by the ends of their paths.
type tails struct{ byBase map[string][]string }

func newTails(all []string) tails {
	t := tails{map[string][]string{}}
	for _, name := range all {
		base := path.Base(name)
		t.byBase[base] = append(t.byBase[base], name)
	}
	return t
}

// of is the shortest end of a file's path that is that of no other file.
func (t tails) of(file string) string {
	others := slices.Clone(t.byBase[path.Base(file)])
	others = slices.DeleteFunc(others, func(o string) bool { return perhapsSame(o, file) })
	for at := strings.LastIndexByte(file, '/'); at > 0; at = strings.LastIndexByte(file[:at], '/') {
		tail := file[at:]
		if !slices.ContainsFunc(others, func(o string) bool { return strings.HasSuffix("/"+o, tail) }) {
			return tail[1:]
		}
	}
	return file
}

// perhapsSame reports whether two names may be those of one file, of which one unit has more of the path than another.
func perhapsSame(x, y string) bool {
	return x == y || strings.HasSuffix(x, "/"+y) || strings.HasSuffix(y, "/"+x)
}

// spelled is a line of the source as events have it, by the name of its file: "cart.c:12", or "src/cart.c:12" where
// another folder has a cart.c; "" of no file.
func (f *Finder) spelled(program, file string, line int) string {
	if file == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d", f.namesOf(program).of(path.Clean(file)), line)
}

// namesOf are the names of the source files of a program whose debug information is open.
func (f *Finder) namesOf(program string) tails {
	t, known := f.names[program]
	if known {
		return t
	}
	var all []string
	if table := f.tables[program]; table != nil {
		all, _ = sourceline.All(table.Data()) // where it is damaged, nothing is known of other files
	}
	if f.names == nil {
		f.names = map[string]tails{}
	}
	t = newTails(all)
	f.names[program] = t
	return t
}

// nameFiles says of functions that were asked for by their files in which ones they are.
func (f *Finder) nameFiles(e *elffile.File, at *File, q Query, inSource []*sourcefunc.Function, found []Listed) {
	if q.Source == "" {
		return
	}
	given := func(string) string { return q.Source }
	if naming.IsPattern(q.Source) {
		given = f.namesOf(at.Path).of
	}
	files := map[string]string{}
	for _, fn := range inSource {
		files[elffile.DemangleShort(fn.Name)] = given(fn.File)
		for _, addr := range fn.Bodies {
			if known, ok := e.At(addr); ok {
				files[elffile.DemangleShort(known.Name)] = given(fn.File)
			}
		}
	}
	for i := range found {
		found[i].File = files[found[i].Name]
	}
}
