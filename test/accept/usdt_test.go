package accept

import (
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// Static probes at several sites, with arguments in all forms of operands, by the names that programs and documents
// use. (S3-06)
//
// > | `usdt:BINARY:[PROVIDER:]NAME` | `U` | a static probe of a program |
func TestStaticProbes(t *testing.T) {
	const n = 5
	e := onTarget(t, "static", `
probe("usdt:BIN:work:forms", lambda e: print("forms", e.args[0], e.args[1], e.args[2], e.args[3], e.args[4], e.args[5],
                                             cstr(e.args[6]), e.args.arg7))
probe("usdt:BIN:work:inlined", lambda e: print("inlined", e.args[0]))
probe("usdt:BIN:plain", lambda e: print("plain", e.probe.split(":")[-2:]))
probe("usdt:BIN:work:guarded-name", lambda e: print("guarded", e.args[0]))
seen = count()
probe("usdt:BIN:{work,other}:*", lambda e: seen[e.func].add())
at_exit(lambda: [print("seen", f, k) for f, k in seen.items()])
`, fmt.Sprint(n))
	var want []string
	for i := range n {
		want = append(want, fmt.Sprintf("forms -17 %d %d -2 -3 250 text %d", i, -i, -i), fmt.Sprint("inlined ", i),
			"inlined -1",
			`plain ["other", "plain"]`, fmt.Sprint("guarded ", i))
	}
	want = append(want, "seen forms 5", "seen inlined 10", "seen guarded__name 5", "seen plain 5",
		fmt.Sprint("enabled ", n))
	equalLines(t, sorted(e.stdout, ""), want)
}

// A constant has the width and the sign that the note gives it, as the same number has in a register, in both halves.
func TestStaticProbeConstants(t *testing.T) {
	e := onTarget(t, "static", `
probe("usdt:BIN:ints:signs", lambda e: print("user",
                                             [e.args[0], e.args[2], e.args[4], e.args[6], e.args[8], e.args[10]]))
probe("usdt:BIN:ints:signs", lambda e: print("user",
                                             [e.args[1], e.args[3], e.args[5], e.args[7], e.args[9], e.args[11]]))
same = count()
probe("usdt:BIN:ints:signs", lambda e: same[e.args[0] == e.args[1], e.args[2] == e.args[3], e.args[4] == e.args[5],
                                            e.args[6] == e.args[7], e.args[8] == e.args[9],
                                            e.args[10] == e.args[11]].add())
at_exit(lambda: [print(k, v) for k, v in same.items()])
`, "1")
	const numbers = "user [18446744073709551611, -5, 4294967291, -5, 65531, 251]"
	equalLines(t, sorted(e.stdout, ""), []string{numbers, numbers, "(True, True, True, True, True, True) 1",
		"enabled 0"})
}

// A program that asks whether its probe is in use is told so while it is, and only then.
func TestStaticProbeSemaphore(t *testing.T) {
	path := traceable(t, "static")
	for point, want := range map[string]string{"guarded__name": "enabled 3", "plain": "enabled 0"} {
		e := startrace(t, "-e", fmt.Sprintf(`probe("usdt:%s:%s", lambda e: None)`, path, point), "-c", path+" 3").ok(t)
		if !strings.Contains(e.stdout, want+"\n") {
			t.Errorf("%s: %s", point, e.stdout)
		}
	}
}

// What is not there is named, with what there is.
func TestStaticProbeErrors(t *testing.T) {
	static, calls := traceable(t, "static"), traceable(t, "calls")
	for _, tt := range []struct{ point, pattern string }{
		{static + ":work:inlinde", `inlinde.*did you mean .*inlined`},
		{calls + ":work:inlined", `calls has no static probes`},
		{static + ":work:inlined", `no point of .* has an argument 1`},
	} {
		e := startrace(t, "-e", fmt.Sprintf(`probe("usdt:%s", lambda e: print(e.args[1]))`, tt.point), "-c", "true")
		if e.status != failedBeside || !regexp.MustCompile(tt.pattern).MatchString(e.stderr) {
			t.Errorf("%s: status %d: %s", tt.point, e.status, e.stderr)
		}
	}
}

// An argument that only some places of a static probe have is None at the others, by its name and by its number, in
// both halves.
func TestStaticProbeOfTwoForms(t *testing.T) {
	source := `
#define NOTE(args) "990: nop\n.pushsection .note.stapsdt,\"\",\"note\"\n.balign 4\n.4byte 992f-991f,994f-993f,3\n" \
	"991: .asciz \"stapsdt\"\n992: .balign 4\n993: .8byte 990b\n.8byte 0\n.8byte 0\n.asciz \"shop\"\n" \
	".asciz \"sold\"\n.asciz \"" args "\"\n994: .balign 4\n.popsection\n"
__attribute__((noinline)) void sell(int i, long sum) {
	__asm__ volatile(NOTE("-4@$3"));
	if (i & 1) __asm__ volatile(NOTE("-8@$10000000000 4@$9"));
}
int main(void) { for (int i = 0; i < 2; i++) sell(i, i); return 0; }
`
	if runtime.GOARCH == "arm64" { // where constants have no mark
		source = strings.ReplaceAll(source, "@$", "@")
	}
	got := printed(t, "gcc -g -O1", "forms.c", source, `
n = count()
probe("usdt:BIN:sold", lambda e: print(e.args.arg1, e.args[1]))
probe("usdt:BIN:sold", lambda e: n[e.args.arg0, e.args.arg1].add())
at_exit(lambda: print(sorted(n.items(), key = str)))
`)
	if want := "None None, None None, 9 9, [((10000000000, 9), 1), ((3, None), 2)]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
