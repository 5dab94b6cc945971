package binary

import (
	"slices"

	"github.com/startrace/startrace/internal/elffile"
	"github.com/startrace/startrace/internal/naming"
	"github.com/startrace/startrace/internal/sourcefunc"
	"github.com/startrace/startrace/internal/sourceline"
)

// Source files of a program that match a pattern.

// SourceFiles gives the source files of a program that match a pattern, each by as much of the end of its path as tells
// it from others.
func (f *Finder) SourceFiles(file, pattern string) ([]string, *File, error) {
	e, out, err := f.file(file)
	if err != nil {
		return nil, nil, err
	}
	table := f.signatures(out.Path, e)
	if table == nil {
		return nil, out, f.withoutDebugInfo(out)
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

// nameFiles says of functions that were asked for by their files in which ones they are.
func (f *Finder) nameFiles(e *elffile.File, at *File, q Query, inSource []*sourcefunc.Function, found []Listed) {
	if q.Source == "" {
		return
	}
	given := func(string) string { return q.Source }
	if naming.IsPattern(q.Source) {
		given = f.names.of(at.Path, f.signatures(at.Path, e)).of
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
