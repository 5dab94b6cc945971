package startrace_test

import (
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
)

var (
	roomRow  = regexp.MustCompile("(?m)^\\| (`[^|]*) \\|")
	roomName = regexp.MustCompile("`([^`]+)`")
)

// docs/architecture.md has a row for every room, once, and none for what is
// not there. The folders of bpfgen are named together.
func TestRooms(t *testing.T) {
	text, err := os.ReadFile("docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "\n## The rooms\n")
	table, _, _ = strings.Cut(table, "\n## ")
	rooms := map[string]int{}
	for _, row := range roomRow.FindAllStringSubmatch(table, -1) {
		for i, name := range roomName.FindAllStringSubmatch(row[1], -1) {
			room := name[1]
			if i > 0 && !strings.Contains(room, "/") {
				room = "bpfgen/" + room // `bpfgen/ir`, `opt`, …
			}
			rooms[room]++
		}
	}
	for room, n := range rooms {
		if n > 1 {
			t.Errorf("docs/architecture.md lists %s %d times", room, n)
		}
		if _, err := os.Stat(room); err != nil {
			t.Errorf("docs/architecture.md lists %s: %v", room, err)
		}
	}
	missing := map[string]bool{}
	for _, f := range productFiles(t) {
		if rooms[f.folder] == 0 && path.Base(f.folder) != "irtest" {
			missing[f.folder] = true
		}
	}
	for folder := range missing {
		t.Errorf("docs/architecture.md has no row for %s", folder)
	}
}

var (
	fileName   = regexp.MustCompile("`([\\w./-]+\\.(?:go|star|md))`")
	folderName = regexp.MustCompile("`((?:bpfgen|builtins|cmd|docs|internal|starlark|stdlib|test)/[\\w./-]+)`")
)

// A file that the comment of a package names without a folder is one of the package, or a test of the top folder.
func TestFilesOfPackageComments(t *testing.T) {
	name := regexp.MustCompile(`(?:^|[\s(])(\w+\.go)\b`)
	for _, f := range productFiles(t) {
		if f.ast.Doc == nil {
			continue
		}
		for _, m := range name.FindAllStringSubmatch(f.ast.Doc.Text(), -1) {
			if !exists(path.Join(f.folder, m[1])) && !exists(m[1]) {
				t.Errorf("%s: the package comment names %s, which is not there", f.name, m[1])
			}
		}
	}
}

// What the documents for developers name is there: who reads them looks for it. A name without a folder is in that of
// the name before, or in the top one.
func TestNamedFiles(t *testing.T) {
	for _, document := range []string{"docs/architecture.md", "CONTRIBUTING.md"} {
		text, err := os.ReadFile(document)
		if err != nil {
			t.Fatal(err)
		}
		folder := ""
		for _, m := range fileName.FindAllStringSubmatch(string(text), -1) {
			name := m[1]
			if strings.Contains(name, "/") {
				folder = path.Dir(name)
			} else if !exists(name) {
				name = path.Join(folder, name)
			}
			if !exists(name) && name != path.Join(folder, "least.star") { // which the document itself has
				t.Errorf("%s names %s, which is not there", document, m[1])
			}
		}
		for _, m := range folderName.FindAllStringSubmatch(string(text), -1) {
			if !exists(m[1]) {
				t.Errorf("%s names %s, which is not there", document, m[1])
			}
		}
	}
}

// What docs/architecture.md says to be in a file of Go is there: who is to change it looks for the name.
func TestNamedParts(t *testing.T) {
	data, err := os.ReadFile("docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(string(data)), " ")
	inFile := regexp.MustCompile("`(\\w+)`,? (?:in|of) `([\\w/.-]+/[\\w.-]+\\.go)`")
	ofFile := regexp.MustCompile("`([\\w/.-]+/[\\w.-]+\\.go)` \\(`(\\w+)`\\)")
	var named [][2]string // a name, and the file that has it
	for _, m := range inFile.FindAllStringSubmatch(text, -1) {
		named = append(named, [2]string{m[1], m[2]})
	}
	for _, m := range ofFile.FindAllStringSubmatch(text, -1) {
		named = append(named, [2]string{m[2], m[1]})
	}
	if len(named) < 50 {
		t.Errorf("docs/architecture.md says of %d names in which file they are, want 50 at least", len(named))
	}
	for _, n := range named {
		code, err := os.ReadFile(n[1])
		if err != nil {
			t.Error(err)
		} else if !regexp.MustCompile(`\b` + n[0] + `\b`).Match(code) {
			t.Errorf("docs/architecture.md says that %s is in %s, which does not have it", n[0], n[1])
		}
	}
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}
