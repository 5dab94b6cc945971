package accept

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Paths as programs have them; names that the cache did not have; names kept without a file. (S2-21 S2-22 S2-23)
func TestLookups(t *testing.T) {
	needKernelFunctions(t)
	dir := t.TempDir()
	const times = 9 // a third fails, each of a name of its own
	tests := []struct {
		row  string
		word []string
		what string
	}{
		{"S2-21", nil, "lookup"},
		{"S2-22", []string{"--missed"}, "missed"},
		{"S2-23", []string{"--negative"}, "negative"},
	}
	for _, tt := range tests {
		t.Run(tt.row, func(t *testing.T) {
			e, d := tool(t, append([]string{"lookups", "-n", "wl-opens"}, tt.word...), "opens", fmt.Sprint(times), "1",
				dir)
			row := regexp.MustCompile(fmt.Sprintf(`^%d +wl-opens +%s +%s/missing-\S+$`, d.PID, tt.what,
				regexp.QuoteMeta(dir)))
			rows := linesWith(e.stdout, filepath.Join(dir, "missing-"))
			for _, line := range rows {
				if !row.MatchString(line) {
					t.Errorf("got %q, want %s", line, row)
				}
			}
			checkAccount(t, e, len(rows), d.Failed)
			if files := linesWith(e.stdout, filepath.Join(dir, "file-")); tt.row == "S2-21" {
				checkAccount(t, e, len(files), d.Calls-d.Failed)
			} else if tt.row == "S2-23" && len(files) > 0 {
				t.Errorf("files that are there: %q", files)
			}
		})
	}
}

// Paths of calls that make, change and take away names are looked up, too.
func TestLookupsOfNames(t *testing.T) {
	needKernelFunctions(t)
	dir := t.TempDir()
	e := startrace(t, "lookups", "-c", fmt.Sprintf(`sh -c "mkdir %[1]s/made; ln -s x %[1]s/link; `+
		`chmod 700 %[1]s/made; mv %[1]s/made %[1]s/moved; rm %[1]s/link; rmdir %[1]s/moved"`, dir)).ok(t)
	for _, name := range []string{"made", "link", "moved"} {
		if rows := linesWith(e.stdout, dir+"/"+name); len(rows) < 2 {
			t.Errorf("%s: %q", name, rows)
		}
	}
}

// An empty path is shown as it is. What a symbolic link says is looked up only by who follows it.
func TestLookupsOfNothing(t *testing.T) {
	needKernelFunctions(t)
	e, d := tool(t, []string{"lookups", "-n", "wl-names"}, "names", t.TempDir())
	row := fmt.Sprintf(`(?m)^%d +wl-names +lookup +`, d.PID)
	e.has(t, row+`$`)
	if strings.Contains(e.stdout, "<fault>") {
		t.Errorf("a path that was not read: %s", excerpt(e.stdout))
	}
	e = startrace(t, "lookups", "-n", "ln", "-c", fmt.Sprintf(`sh -c "cd %s; ln -s not-a-path here; ln -s same same"`,
		t.TempDir())).ok(t)
	if rows := linesEnding(e.stdout, " not-a-path"); len(rows) != 0 {
		t.Errorf("what a link says: %q", rows)
	}
	for _, name := range []string{" here", " same"} {
		if len(linesEnding(e.stdout, name)) == 0 {
			t.Errorf("no%s: %s", name, excerpt(e.stdout))
		}
	}
}

// The cache is not said to have missed names that are made, by whatever call. It missed those that were to be found,
// removed or renamed, also where they are not there.
func TestLookupsMissed(t *testing.T) {
	needKernelFunctions(t)
	dir := t.TempDir()
	e, d := tool(t, []string{"lookups", "--missed", "-n", "wl-names"}, "names", dir)
	for _, line := range linesWith(e.stdout, fmt.Sprintf("%d ", d.PID)) {
		if !strings.HasSuffix(line, dir+"/gone") { // which link() and truncate() do not find
			t.Errorf("not missed: %q", line)
		}
	}
	e.has(t, fmt.Sprintf(`(?m)^%d +wl-names +missed +%s/gone$`, d.PID, regexp.QuoteMeta(dir)))

	e = startrace(t, "lookups", "--missed", "-c", fmt.Sprintf(`sh -c "cd %s; mkdir made; echo >made/created; `+
		`echo >made/created; rmdir gone1; cat gone2; true"`, dir)).ok(t)
	for name, times := range map[string]int{"made": 0, "made/created": 0, "gone1": 1, "gone2": 1} {
		if rows := linesEnding(e.stdout, dir+"/"+name); len(rows) != times {
			t.Errorf("%s: %q, want %d\n%s", name, rows, times, excerpt(e.stdout))
		}
	}
}

func linesEnding(text, end string) []string {
	return slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool { return !strings.HasSuffix(line, end) })
}

// A file that was there and not in the cache was missed, also by an open that would have made it.
func TestLookupsMissedOfOpen(t *testing.T) {
	needKernelFunctions(t)
	needGuest(t) // for it drops the caches
	dir := reflinks(t)
	if err := os.WriteFile(filepath.Join(dir, "there"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	e := startrace(t, "lookups", "--missed", "-c", fmt.Sprintf(`sh -c "cd %s; echo 2 >/proc/sys/vm/drop_caches; `+
		`echo >>there; echo >>there; echo >>new"`, dir)).ok(t)
	if rows := linesEnding(e.stdout, " /there"); len(rows) != 1 {
		t.Errorf("got %q, want one\n%s", rows, excerpt(e.stdout))
	}
	if rows := linesEnding(e.stdout, "/new"); len(rows) != 0 {
		t.Errorf("not missed: %q", rows)
	}
}
