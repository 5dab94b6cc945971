package docs

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/startrace/startrace/stdlib"
)

func TestPages(t *testing.T) {
	pages := Pages()
	for _, name := range pages {
		if text, ok := Page(name); !ok || !strings.HasPrefix(text, "# ") {
			t.Errorf("%s does not begin with a title", name)
		}
	}
	for _, name := range []string{"tutorial", "language", "semantics", "from-bpftrace", "builtins"} {
		if !slices.Contains(pages, name) {
			t.Errorf("there is no page %s", name)
		}
	}
	if _, ok := Page("../README"); ok {
		t.Error("a page is outside of the folder")
	}
}

// Each tool has a page and a line in the list, and each page a tool.
func TestToolPages(t *testing.T) {
	var want []string
	list, _ := Page("tools/README")
	for _, m := range stdlib.Modules() {
		if !m.Tool {
			continue
		}
		want = append(want, "tools/"+m.Name)
		if row := fmt.Sprintf("| [%s](%s.md) | %s |\n", m.Name, m.Name, m.Summary()); !strings.Contains(list, row) {
			t.Errorf("docs/tools/README.md has no line\n%s", row)
		}
	}
	slices.Sort(want)
	got := slices.DeleteFunc(Pages(), func(name string) bool {
		return !strings.HasPrefix(name, "tools/") || name == "tools/README"
	})
	if !slices.Equal(got, want) {
		t.Errorf("pages\n%q\nwant\n%q\nA new one is written as opensnoop.md without output; "+
			"go test ./cmd/startrace -run TestDocs -update-docs adds that", got, want)
	}
}
