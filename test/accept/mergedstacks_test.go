package accept

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// frames is a stack of the program sides as text shows it, from leaf on.
func frames(side, offset string) string {
	return `\n    leaf \(sides\)\n    ` + side + offset + ` \(sides\)\n    main` + offset + ` \(sides\)\n(    .*\n)+`
}

// A function that calls from several places has one row, whatever is gathered by its stacks.
//
// > A function runs at many addresses, so it has many stacks.
// > Where an aggregation is printed, stacks of the same functions are one row with the values of all of them, from
// > whichever process they are.
// > Rows with stacks begin with the greatest one.
// > Counts and totals have their share of the whole, as `]: 12 (80.0%)`.
// > `--top` leaves out rows that were made so.
func TestStackMerged(t *testing.T) {
	bin := traceable(t, "sides")
	for aggregation, want := range map[string][2]string{
		"count()":   {` 120 \(66\.7%\)`, ` 60 \(33\.3%\)`},
		"total()":   {` 900 \(75\.0%\)`, ` 300 \(25\.0%\)`},
		"mean()":    {` 15`, ` 2\.50`},
		"lowest()":  {` 10`, ` 1`},
		"highest()": {` 20`, ` 4`},
		"stats()": {` count=120 mean=2\.50 lowest=1 highest=4 total=300`,
			` count=60 mean=15 lowest=10 highest=20 total=900`},
	} {
		text := script(t, fmt.Sprintf("n = %s\nprobe(\"uprobe:%s:leaf\", kernel = lambda e: n[e.ustack()].add(%s))\n",
			aggregation, bin, map[bool]string{false: "e.args[0]"}[aggregation == "count()"]))
		most, least := "right", "left"
		if strings.Contains(want[0], "120") {
			most, least = least, most
		}
		first := `n\[` + frames(most, "") + `\]:` + want[0] + `\n`
		e := startrace(t, text, "-q", "-c", bin+" 30").ok(t)
		e.has(t, `^`+first+`\nn\[`+frames(least, "")+`\]:`+want[1]+`\n$`)
	}
	processes := script(t, fmt.Sprintf("n = count()\n"+
		"probe(\"uprobe:%s:leaf\", kernel = lambda e: n[e.ustack(2)].add())\n", bin))
	e := startrace(t, processes, "-q", "-c", bin+" 10 2").ok(t)
	e.has(t, `^n\[\n    leaf \(sides\)\n    left \(sides\)\n    … cut at 2 frames\n\]: 120 \(66\.7%\)\n\nn`)
	e = startrace(t, "stack", "uprobe:"+bin+":leaf", "-q", "--user-stacks", "--top", "1", "-c", bin+" 30").ok(t)
	e.has(t, `^stacks\[`+frames("left", "")+`\]: 120 \(66\.7%\)\n$`)
	e = startrace(t, "hist", "uprobe:"+bin+":leaf", "e.args[0]", "-q", "--by", "e.ustack()", "-c", bin+" 30").ok(t)
	e.has(t, `^values\[leaf;left;main;.*\]:\n\[1\] +30 .*\n\[2, 4\) +60 .*\n\[4, 8\) +30 .*\n\n`+
		`values\[leaf;right;main;.*\]:\n\[8, 16\) +30 .*\n\[16, 32\) +30 .*\n$`)
}

// > `--addresses` keeps stacks apart that differ in addresses within functions, and shows these as `main+0x33 (ls)`.
// > JSON has arrays of `main`, with `--addresses` of `main+0x33`.
func TestStackByAddresses(t *testing.T) {
	bin := traceable(t, "sides")
	text := script(t, fmt.Sprintf("n = count()\nprobe(\"uprobe:%s:leaf\", kernel = lambda e: n[e.ustack()].add())\n",
		bin))
	run := func(flags ...string) ended {
		return startrace(t, append([]string{text, "-q", "-c", bin + " 30"}, flags...)...).ok(t)
	}
	e := run("--addresses")
	if rows := linesWith(e.stdout, "]: 30 (16.7%)"); len(rows) != 6 {
		t.Errorf("%d rows, want one of each place that calls\n%s", len(rows), e.stdout)
	}
	e.has(t, `^n\[`+frames("(left|right)", `\+0x[0-9a-f]+`)+`\]`)
	for format, want := range map[string]string{
		"json":   `{"type":"count","name":"n","key":[["leaf","left","main",`,
		"csv":    `n,leaf;left;main;`,
		"folded": `;main;left;leaf 120`,
	} {
		if e := run("--format", format); strings.Count(e.stdout, want) != 1 || strings.Contains(e.stdout, "+0x") {
			t.Errorf("%s: got %s, want once %s", format, e.stdout, want)
		}
		if e := run("--addresses", "--format", format); strings.Count(e.stdout, "left+0x") != 4 {
			t.Errorf("%s by addresses: got %s, want 4 places of left", format, e.stdout)
		}
	}
}

// Functions of files of one name in two folders have rows of their own, which are not shown alike.
//
// > Rows that would be shown alike show which files their functions are of, also in JSON, as `main (ls)`, or with its
// > folder as `main (/usr/bin/ls)`.
func TestStackOfTwoFolders(t *testing.T) {
	bin := traceable(t, "sides")
	code, err := os.ReadFile(bin)
	if err != nil {
		t.Fatal(err)
	}
	var paths [3]string
	for i, name := range []string{"sides", "sides", "other"} {
		paths[i] = filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(paths[i], code, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	text := script(t, fmt.Sprintf(`
n, frames, sizes = count(), count(), hist()
def note(e):
    n[e.ustack(2)].add()
    frames[e.ustack(1)[0]].add()
    sizes[e.ustack(1)].add(1)
probe(["uprobe:%%s:leaf" %% path for path in "%s".split()], kernel = note)
`, strings.Join(paths[:], " ")))
	command := fmt.Sprintf("sh -c '%s 10; %s 20; %s 30'", paths[0], paths[1], paths[2])
	two := paths[:2]
	for i, path := range two {
		calls := 6 * 10 * (i + 1)
		e := startrace(t, text, "-q", "-c", command).ok(t)
		for _, want := range []string{
			fmt.Sprintf("n[\n    leaf (%s)\n    left (%s)\n    … cut at 2 frames\n]: %d (", path, path, calls*2/3),
			fmt.Sprintf("\nleaf (%s) %*d\n", path, 0, calls),
		} {
			if !strings.Contains(regexp.MustCompile(` +(\d+\n)`).ReplaceAllString(e.stdout, " $1"), want) {
				t.Errorf("want %q in\n%s", want, e.stdout)
			}
		}
		e.has(t, `sizes\[leaf \(`+path+`\)(;…)?\]:\n`)
		e.has(t, `n\[\n    leaf \(other\)\n    left \(other\)\n    … cut at 2 frames\n\]: 120 \(`)
		for format, want := range map[string]string{
			"json": fmt.Sprintf(`"n","key":[["leaf (%[1]s)","left (%[1]s)"]],"value":%d`, path, calls*2/3),
			"csv":  fmt.Sprintf("n,leaf (%[1]s);left (%[1]s),%d\n", path, calls*2/3),
		} {
			e := startrace(t, text, "-q", "--format", format, "-c", command).ok(t)
			if !strings.Contains(e.stdout, want) || strings.Count(e.stdout, "leaf (other)") == 0 {
				t.Errorf("%s: want %s in\n%s", format, want, e.stdout)
			}
		}
	}
}

// > `s.merged()` is a stack as it is printed so: its frames have no offsets, and two of the same functions are equal.
// > What `items()` and `take()` give to a script, and tables, has stacks as they were taken.
func TestStackMergedByScript(t *testing.T) {
	bin := traceable(t, "sides")
	text := script(t, fmt.Sprintf(`
n, seen = count(), {}

def note(e):
    s = e.ustack().merged()
    seen[s] = seen.get(s, 0) + 1

def report():
    print(len(n), len(n.items()), sorted(seen.values()), [f.offset for s in seen for f in s[:3]])
    print([f.offset == 0 for s, _ in n.items() for f in s[1:3]])
    n.take()

probe("uprobe:%[1]s:leaf", kernel = lambda e: n[e.ustack()].add())
probe("uprobe:%[1]s:leaf", note)
at_exit(report)
`, bin))
	e := startrace(t, text, "-q", "-c", bin+" 10").ok(t)
	e.has(t, `^6 6 \[20, 40\] \[0, 0, 0, 0, 0, 0\]\n\[(False(, )?){12}\]\n$`)
	e = startrace(t, text, "-q", "--addresses", "-c", bin+" 10").ok(t)
	e.has(t, `^6 6 \[10, 10, 10, 10, 10, 10\] `)
}

// Frames and their parts as keys and values of kernel halves.
//
// > In a kernel half a frame `s[2]`, a part of it, as `s[2].name`, and `len(s)` can be stored, sent and used in keys,
// > and are not computed with.
// > Whoever reads them sees what user space knows of the stack.
// > A frame that the stack does not have is None.
func TestStackFramesInKernel(t *testing.T) {
	bin := traceable(t, "sides")
	for by, want := range map[string]string{
		"e.ustack()[0]":       `leaf \(sides\) +180\n`,
		"e.ustack()[1]":       `right \(sides\) +60\nleft \(sides\) +120\n`,
		"e.ustack(2)[1].name": `right +60\nleft +120\n`,
		"e.ustack()[0].module, e.ustack()[0].offset": `sides +0 +180\n`,
		"e.ustack()[100]":                                   ` +None +180\n`,
		"len(e.ustack(2)), len(e.stack())":                  ` *2 +0 +180\n`,
		"(e.stack(1) if e.pid == 0 else e.ustack(2))[0]":    `leaf \(sides\) +180\n`,
		`e.ustack()[1].name, e.comm, e.ustack()[2].name`:    `right +sides +main +60\nleft +sides +main +120\n`,
		`e.ustack()[0].addr == None and 1, len(e.ustack())`: "",
	} {
		e := startrace(t, "count", "uprobe:"+bin+":leaf", "-q", "--by", by, "-c", bin+" 30")
		if want == "" {
			if wrong := "the addr of frame 0 of a stack is known in user space: a kernel half can store and send it"; e.
				status == 0 || !strings.Contains(e.stderr, wrong) {
				t.Errorf("%s: got %s%s, want %q", by, e.stdout, e.stderr, wrong)
			}
			continue
		}
		e.ok(t).has(t, `^.*counts\n`+want+`$`)
	}
	text := script(t, fmt.Sprintf(`
last = table()

def note(e):
    s = e.ustack(3)
    last[e.pid] = record(leaf = s[0], caller = s[1].name, depth = len(s))

def report():
    for v in last.values():
        print(v.leaf.name, v.leaf.offset, v.caller, v.depth, "left" in v.caller)

probe("uprobe:%s:leaf", kernel = note)
at_exit(report)
`, bin))
	startrace(t, text, "-q", "-c", bin+" 1").ok(t).has(t, `^leaf 0 right 3 False\n$`)
}
