package accept

import (
	"fmt"
	"path/filepath"
	"regexp"
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
