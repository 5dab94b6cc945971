package accept

import (
	"regexp"
	"strings"
	"testing"
)

// cutForms are all ways in which a script shows a string; each has a word of its own in what it writes.
const cutForms = `
t, n, held, kept = table(), count(by = ("kind", "keyed")), cell("none yet"), []
row = columns(column = "%-20s", listed = "%s")

def h(e):
    name = e.args.filename
    print("print", name, [name], {"dict": name}, record(r = name))
    printf("printf %s %v %q %12s %-9s\n", name, [name], name, name, name)
    print("sprintf", sprintf("%s", name), "%s" % name, name + "", "".join([name]), "{}".format(name), [name][0][2:])
    print("str", str([name]), str({1: name}), str(record(r = name)), str(e.args), repr(name), repr((name,)))
    print("json", json.encode([name]), json.encode({name: 1}))
    row(name, [name])
    kept.append(name)
    t["table", name] = (name, 1)
    n["keyed", name].add()
    held.set(name)

mine = lambda e: e.comm == "wl-opens"
probe("syscall:openat", h, where = mine)
probe("syscall:openat", where = mine)

def shows():
    print("held", held.get())
    show(t)
    show(kept)
    show(kept[0])
    show({"show": kept[0], kept[0]: (1, kept[0])})

at_exit(shows)
`

// > A string that was cut is printed with `…` behind the last byte: by `print`, `printf`, tables, `--format json` and
// > `csv`, `json.encode` and `show`.
func TestCutMarks(t *testing.T) {
	needTracing(t)
	dir := "/tmp/a-directory-of-no-name" // openat fails
	const read = "/tmp/a-d"
	cut := regexp.MustCompile(`(?:` + read + `|mp/a-d)(…?)`)
	for format, least := range map[string]int{"text": 35, "json": 35, "csv": 11} {
		t.Run(format, func(t *testing.T) {
			e, _ := traced(t, cutForms, []string{"-q", "--str-max", "8", "--format", format}, "opens", "1", "1", dir)
			found := 0
			for _, line := range strings.Split(e.stdout, "\n") {
				for _, at := range cut.FindAllStringSubmatchIndex(line, -1) {
					found++
					if at[2] == at[3] {
						t.Errorf("no mark behind %q in %q", line[at[0]:at[1]], line)
					}
				}
			}
			if found < least {
				t.Errorf("found %d strings that were cut, want %d at least:\n%s", found, least, e.stdout)
			}
			v, _ := tool(t, []string{"trace", "syscall:openat", "e.args.filename", "--where", `e.comm == "wl-opens"`,
				"-q", "--str-max", "8", "--format", format}, "opens", "1", "1", dir)
			if !strings.Contains(v.stdout, read+"…") {
				t.Errorf("trace writes no mark: %s", v.stdout)
			}
		})
	}
}
