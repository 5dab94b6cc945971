// Package stdlib holds the standard library: modules for
// load("std/NAME.star"), most of which are tools as well.
//
// A module declares events and functions; one that has a main() is a tool,
// which startrace runs by its name. The text at its top is its help, the first
// line of it what the list of tools shows.
package stdlib

import (
	"embed"
	"io/fs"
	"path"
	"strings"
)

// The library's modules, with their names and first lines (Module).

//go:embed *.star verbs/*.star
var files embed.FS

// Files gives the modules as NAME.star.
func Files() fs.FS { return files }

// A Module is a file of the library.
type Module struct {
	Name string // without .star
	Doc  string // the text at its top
	Tool bool   // it has a main()
	Verb bool   // a tool of the folder verbs: count, hist, trace …
}

// File is its name in Files.
func (m Module) File() string {
	if m.Verb {
		return verbs + "/" + m.Name + ".star"
	}
	return m.Name + ".star"
}

// verbs is the folder of the aggregations and what else traces a point that
// the command line names.
const verbs = "verbs"

// Summary is the first line of the module's text.
func (m Module) Summary() string {
	line, _, _ := strings.Cut(m.Doc, "\n")
	return line
}

// Modules lists the library by name, the verbs last.
func Modules() []Module {
	out := modules(".")
	for _, m := range modules(verbs) {
		m.Verb = true
		out = append(out, m)
	}
	return out
}

func modules(folder string) (out []Module) {
	entries, err := files.ReadDir(folder)
	if err != nil {
		panic("stdlib: " + err.Error()) // the folder is part of the program
	}
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		text, err := files.ReadFile(path.Join(folder, e.Name()))
		if err != nil {
			panic("stdlib: " + err.Error())
		}
		out = append(out, describe(strings.TrimSuffix(e.Name(), ".star"), string(text)))
	}
	return out
}

// describe reads what a module says of itself. Its text stands between the
// first two """; the test of this package makes sure that it does.
func describe(name, text string) Module {
	_, rest, _ := strings.Cut(text, `"""`)
	doc, _, _ := strings.Cut(rest, `"""`)
	return Module{Name: name, Doc: doc, Tool: strings.Contains(text, "\ndef main(")}
}

// Find gives the module of that name.
func Find(name string) (Module, bool) {
	for _, m := range []Module{{Name: name}, {Name: name, Verb: true}} {
		text, err := files.ReadFile(m.File())
		if err != nil || strings.Contains(name, "/") {
			continue // there is no such module: all files can be read
		}
		found := describe(name, string(text))
		found.Verb = m.Verb
		return found, true
	}
	return Module{}, false
}
