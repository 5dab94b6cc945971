// Package docs holds the documents of this folder for `startrace doc`, so
// that they can be read without a network.
package docs

import (
	"embed"
	"io/fs"
	"strings"
)

// The documents embedded for `startrace doc`.

//go:embed *.md tools/*.md
var files embed.FS

// Page gives the document of that name: tutorial, tools/opensnoop.
func Page(name string) (string, bool) {
	text, err := files.ReadFile(name + ".md")
	return string(text), err == nil
}

// Pages lists the names, those of tools after the others.
func Pages() []string {
	return append(names("*.md"), names("tools/*.md")...)
}

func names(pattern string) []string {
	paths, err := fs.Glob(files, pattern)
	if err != nil {
		panic("docs: " + err.Error()) // the pattern is a constant
	}
	for i, path := range paths {
		paths[i] = strings.TrimSuffix(path, ".md")
	}
	return paths
}
