package accept

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
	"github.com/startrace/startrace/test/target"
)

// TestRandomSignatures traces programs of random functions, in C, C++ and Go, which print what they are called with and
// what they return: whole numbers of all widths, pointers, floats, structs by value of all classes, more than six of
// them. What startrace saw is compared line by line.
//
// > With debug information words have the width and the sign of their types.
// > A struct by value is as many words as it takes, and a string of Go is two words.
// > So `e.args[i]` counts words and not parameters.
// > A class of C++ is as many words as its members and bases are, as a struct is.
// > Where copying it or ending it takes a function of its own, it is one word, the address of a copy.
// > Programs of the kernel cannot read registers for floating-point numbers.
// > Where types tell that a value is in such a register, the value is FAULT, too, and prints as `<float>`.
func TestRandomSignatures(t *testing.T) {
	needTracing(t)
	if runtime.GOARCH != "amd64" {
		t.Skip("needs amd64: the classes of structs that the programs print are of its ABI")
	}
	n, all := 15, !testing.Short()
	if all {
		n = moreOf(30)
	}
	for _, lang := range []struct {
		name, file, prefix, command string
		long                        bool
	}{
		{"C -O0", "calls.c", "", "gcc -w -g -O0", true},
		{"C -O2", "calls.c", "", "gcc -w -g -O2", false},
		{"C DWARF 4", "calls.c", "", "gcc -w -gdwarf-4 -O1", true},
		{"clang", "calls.c", "", "clang -w -g -O1", true},
		{"C++", "calls.cc", "", "g++ -w -g -O2", false},
		{"C++ of clang", "calls.cc", "", "clang++ -w -g -O1 -std=c++17 -fstandalone-debug", true},
		{"Go", "calls.go", "main.", "go build", false},
	} {
		if lang.long && !all {
			continue
		}
		t.Run(lang.name, func(t *testing.T) {
			beside(t) // each traces a program of its own
			calls := target.RandomC(uint64(len(lang.name)), n, false)
			switch {
			case lang.prefix != "":
				calls = target.RandomGo(uint64(n), n)
			case strings.HasSuffix(lang.file, ".cc"):
				calls = target.RandomCpp(uint64(n), n)
			}
			checkCalls(t, calls, lang.file, lang.prefix, lang.command)
		})
	}
}

// moreOf is four times the number in the longest form, which make soak has: STARTRACE_LONG=1.
func moreOf(n int) int {
	if os.Getenv("STARTRACE_LONG") != "" {
		return 4 * n
	}
	return n
}

// Without debug information the words are where the ABI puts words of which nothing is known; their widths are the
// script's business.
func TestSignaturesWithoutTypes(t *testing.T) {
	needTracing(t)
	calls := target.RandomC(3, 30, true)
	calls.Source = strings.NewReplacer("static void whole(long long v) { printf(\"%lld\", v); }",
		"static void whole(long long v) { printf(\"%u\", (unsigned char)v); }",
		"static void whole_u(unsigned long long v) { printf(\"%llu\", v); }",
		"static void whole_u(unsigned long long v) { printf(\"%u\", (unsigned char)v); }").Replace(calls.Source)
	calls.Script = strings.NewReplacer("]", "] & 255", "]]", "] & 255]", "e.ret", "e.ret & 255").Replace(calls.Script)
	calls.Script = strings.ReplaceAll(calls.Script, "& 255] & 255,", "& 255],")
	calls.Script = strings.ReplaceAll(calls.Script, "[] & 255,", "[],")
	checkCalls(t, calls, "calls.c", "", "gcc -w -O2")
}

func checkCalls(t *testing.T, calls target.Calls, file, prefix, command string) {
	t.Helper()
	binary := need.Built(t, command, file, calls.Source)
	shown := filepath.Join(t.TempDir(), "seen")
	text := strings.NewReplacer("BIN", binary, "PREFIX", prefix).Replace(calls.Script)
	e := startrace(t, "-q", "--output", shown, script(t, text), "-c", binary).ok(t)
	seen, err := os.ReadFile(shown)
	if err != nil {
		t.Fatal(err)
	}
	got, want := lines(strings.ReplaceAll(string(seen), "<optimized out>", "<fault>")), lines(e.stdout)
	unknown := 0
	for i := range max(len(got), len(want)) {
		if strings.HasPrefix(command, "clang") {
			unknown += leaveUnknown(got, want, i)
		}
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Errorf("saw\n%s\nthe program says\n%s", at(got, i), at(want, i))
		}
	}
	if words := len(strings.Fields(e.stdout)); unknown > 2+words/50 {
		t.Errorf("%d values of %d are not known", unknown, words)
	}
	if t.Failed() {
		t.Log(fmt.Sprint(excerpt(e.stderr)))
	}
}

// leaveUnknown takes for right what is FAULT in line i, and says how much that is: clang tells no place of an argument
// that its function does not use, or of which it knows the value, and callers need not pass it.
func leaveUnknown(got, want []string, i int) (n int) {
	g, w := strings.Split(at(got, i), " "), strings.Split(at(want, i), " ")
	for k := range g {
		if len(g) == len(w) && strings.Trim(g[k], "[],") == "<fault>" && g[k] != w[k] {
			g[k] = w[k]
			n++
		}
	}
	if n > 0 {
		got[i] = strings.Join(g, " ")
	}
	return n
}

func lines(text string) []string {
	out := strings.Split(strings.TrimSpace(text), "\n")
	slices.Sort(out)
	return out
}

func at(list []string, i int) string {
	if i < len(list) {
		return list[i]
	}
	return "nothing"
}

// TestTypedCalls traces programs of random functions whose arguments and results are read by their names, fields and
// elements.
func TestTypedCalls(t *testing.T) {
	needTracing(t)
	n, all := 20, !testing.Short()
	if all {
		n = moreOf(25)
	}
	for _, lang := range []struct {
		name, file, prefix, command string
		long                        bool
	}{
		{"C -O0", "calls.c", "", "gcc -w -g -O0", false},
		{"C -O2", "calls.c", "", "gcc -w -g -O2", false},
		{"C DWARF 4", "calls.c", "", "gcc -w -gdwarf-4 -O1", true},
		{"clang", "calls.c", "", "clang -w -g -O2", true},
		{"clang -O0", "calls.c", "", "clang -w -gdwarf-4 -O0", true},
		{"Go", "calls.go", "main.", "go build", false},
		{"Go -N -l", "calls.go", "main.", "go build -gcflags=-N", true},
	} {
		if lang.long && !all {
			continue
		}
		t.Run(lang.name, func(t *testing.T) {
			beside(t) // each traces a program of its own
			calls := target.TypedC(uint64(n)+uint64(len(lang.name)), n)
			if lang.prefix != "" {
				calls = target.TypedGo(uint64(n), n)
			}
			checkCalls(t, calls, lang.file, lang.prefix, lang.command)
		})
	}
}
