package mutate

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/test/smallkernel"
)

var update = flag.Bool("update", false, "rewrite the messages of the catalogue")

// TestCatalogue tries the mistakes in testdata/*.txt. Each file has chunks that a line of === ends: a comment that
// names the mistake, the script, a line of --->, and the messages that its author gets.
func TestCatalogue(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no catalogue: %v", err)
	}
	facts := smallKernel(t)
	mistakes := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		chunks := strings.Split(strings.TrimSuffix(string(text), "\n===\n"), "\n===\n")
		mistakes += len(chunks)
		for i, chunk := range chunks {
			src, want, _ := strings.Cut(chunk, "\n--->\n")
			title, _, _ := strings.Cut(src, "\n")
			t.Run(filepath.Base(file)+"/"+strings.TrimPrefix(title, "# "), func(t *testing.T) {
				got := messages(src, facts)
				if got != want && !*update {
					t.Errorf("%s\ngot:\n%s\nwant:\n%s", src, got, want)
				}
				chunks[i] = src + "\n--->\n" + got
			})
		}
		if *update {
			if err := os.WriteFile(file, []byte(strings.Join(chunks, "\n===\n")+"\n===\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	if mistakes < 40 {
		t.Errorf("the catalogue has %d kinds of mistakes, want at least 40", mistakes)
	}
}

// kinds are mistakes that the catalogue must have, by the titles of their chunks. A capture that changes later is a
// mistake of a callback: TestFrozen of starlark/script.
var kinds = map[string][]string{
	"event.txt": {"an unknown field", "the event itself is stored", "the result at a start", "an unknown argument"},
	"kernel.txt": {
		"a call of user space in kernel=", "a loop without a bound", "recursion", "two kinds of keys in one table",
		"two kinds of values in one table",
		"a float in the kernel", "None in arithmetic", "a handler that prints and uses a table of the kernel",
		"too few and too many arguments of a function",
		"too few and too many arguments of builtins", "a dict and a list that the kernel half changes",
	},
	"points.txt": {"an unknown system call", "an unknown tracepoint", "a glob without a match"},
	"syntax.txt": {"a reserved word as a field"},
	"load.txt": {"modules that load each other", "a folder", "an empty file, and one with a comment",
		"modules that probe, have flags and timers at their top level"},
	"user.txt": {"unknown families of names", "a field or method that a part of the event does not have",
		"a field is assigned in a handler", "formats that do not fit"},
}

// TestKinds finds the mistakes that the catalogue must have, each with a message.
func TestKinds(t *testing.T) {
	for file, titles := range kinds {
		text, err := os.ReadFile(filepath.Join("testdata", file))
		if err != nil {
			t.Fatal(err)
		}
		for _, title := range titles {
			_, chunk, found := strings.Cut("\n"+string(text), "\n# "+title+"\n")
			_, message, _ := strings.Cut(chunk, "\n--->\n")
			if !found || !strings.Contains(strings.SplitN(message, "\n===", 2)[0], ".star:") {
				t.Errorf("%s has no mistake %q with a message", file, title)
			}
		}
	}
}

// messages are those for a script, as the command prints them.
func messages(src string, facts *kernel.Facts) string {
	res := Compile("t.star", unescape(src), facts)
	if res.Err == nil {
		return "no message: " + res.Stage.String()
	}
	if bad := badMessage(res.Err); bad != "" {
		return bad + ": " + res.Err.Error()
	}
	return res.Err.Error()
}

// unescape makes the characters that a text file should not have: a NUL, a byte that is not UTF-8, a tab, much of one.
func unescape(src string) string {
	return strings.NewReplacer("<NUL>", "\x00", "<FF>", "\xff", "<TAB>", "\t", "<DEEP>", strings.Repeat("(", 2000),
		"<LONG>", strings.Repeat("x", 1<<20)).Replace(src)
}

// smallKernel is a kernel of fixed content, so that messages are the same on every machine.
func smallKernel(t *testing.T) *kernel.Facts {
	t.Helper()
	return kernel.Open(kernel.Options{BTF: smallkernel.BTF(t, smallkernel.Types()...),
		TracefsPath: "../../bpfgen/infer/testdata/tracefs"})
}
