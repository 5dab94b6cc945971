package sourceline

import (
	"debug/dwarf"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/startrace/startrace/internal/dwarfinfo"
)

// Source files by the end of their path or by a pattern, and messages about names of several or none.

// Files are source files that are meant by a name, or by as much of the end of its path as makes clear which one is
// meant; or by a pattern of such a name, which several can match.
type Files struct {
	name string
	// glob reports whether a name matches the pattern; nil: it is none.
	glob func(string) bool
	near []string // files with a name that is alike
}

// FilesOf gives the file of a name.
func FilesOf(name string) *Files { return &Files{name: path.Clean(name)} }

// FilesLike gives the files that match a pattern; text is the pattern as it was written.
func FilesLike(text string, glob func(string) bool) *Files { return &Files{name: text, glob: glob} }

// Is reports whether a file, by its whole name, is one of them.
func (f *Files) Is(file string) bool {
	if f.glob == nil {
		return file == f.name || strings.HasSuffix(file, "/"+f.name)
	}
	for rest, more := file, true; more; _, rest, more = strings.Cut(rest, "/") {
		if f.glob(rest) {
			return true
		}
	}
	return false
}

// among reports which of the files that a table names are meant, and notes names that are alike.
func (f *Files) among(r *dwarf.LineReader) (out []bool) {
	for _, file := range r.Files() {
		switch {
		case file == nil:
			out = append(out, false)
			continue
		case f.Is(path.Clean(file.Name)):
			out = append(out, true)
			continue
		}
		out = append(out, false)
		if f.glob == nil && strings.EqualFold(path.Base(file.Name), path.Base(f.name)) && len(f.near) < 4 &&
			!slices.Contains(f.near, file.Name) {
			f.near = append(f.near, file.Name)
		}
	}
	return out
}

// In reports which of the files of a unit, by their numbers, are meant; none where it has no table of lines.
func (f *Files) In(t *Tables, u *dwarfinfo.Unit) ([]bool, error) {
	r, err := t.Of(u)
	if err != nil || r == nil {
		return nil, err
	}
	return f.among(r), nil
}

// OneOf gives some names in order, which are names of one file unless a pattern has been given.
func (f *Files) OneOf(files map[string]bool) ([]string, error) {
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	if len(names) > 1 && f.glob == nil && !slices.Contains(names, f.name) {
		return nil, &AmbiguousError{f.name, names}
	}
	return names, nil
}

// Unknown is the error that no file is one of them.
func (f *Files) Unknown() error { return &UnknownError{f.name, f.near, f.glob != nil} }

// AmbiguousError says that a name is that of several files.
type AmbiguousError struct {
	// Name is the one that was given, and Files are those that it ends.
	Name  string
	Files []string
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%s is the name of %d files: %s; give more of the path", e.Name, len(e.Files),
		strings.Join(e.Files[:min(len(e.Files), 4)], ", "))
}

// UnknownError says that no file has the name; Near are those that one may mean.
type UnknownError struct {
	// Name is the one that was given, a pattern if Pattern is set, and Near are files with a name like it.
	Name    string
	Near    []string
	Pattern bool
}

func (e *UnknownError) verb() string {
	if e.Pattern {
		return "matches"
	}
	return "is called"
}

func (e *UnknownError) Error() string {
	if len(e.Near) == 0 {
		return fmt.Sprintf("no source file %s %s", e.verb(), e.Name)
	}
	return fmt.Sprintf("no source file %s %s; there is %s", e.verb(), e.Name, strings.Join(e.Near, ", "))
}

// All gives the names of all files that tables of lines have, in order.
func All(d *dwarfinfo.Data) ([]string, error) {
	units, err := d.Units()
	if err != nil {
		return nil, err
	}
	tables, seen := NewTables(d), map[string]bool{}
	for _, u := range units {
		r, err := tables.Of(u)
		if err != nil || r == nil {
			continue // damaged: the others tell
		}
		for _, file := range r.Files() {
			if file != nil && file.Name != "" {
				seen[path.Clean(file.Name)] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(seen)), nil
}
