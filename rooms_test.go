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
// not there. The folders of bpfgen and test are named together.
func TestRooms(t *testing.T) {
	text, err := os.ReadFile("docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	rooms := map[string]int{}
	for _, row := range roomRow.FindAllStringSubmatch(string(text), -1) {
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
		if !within(f.folder, "test") && rooms[f.folder] == 0 && path.Base(f.folder) != "irtest" {
			missing[f.folder] = true
		}
	}
	for folder := range missing {
		t.Errorf("docs/architecture.md has no row for %s", folder)
	}
}
