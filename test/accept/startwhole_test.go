package accept

import (
	"strings"
	"testing"
)

// What is made of several parts of e.start is that of the start by which the span began, also where start points
// differ, and whoever makes it: the program, or a user half of what the record has.
//
// > With several start points `e.start` has the fields and constants of the point by which the span began.
func TestWholeOfSeveralStarts(t *testing.T) {
	needTracing(t)
	forms := []string{"(e.start.args.fd, 1)", "(e.start.comm, e.start.args.fd)", "((e.start.args.fd, 1), 2)",
		"(e.start.args.fd,)", "record(z = e.start.args.fd)", "record(z = (1, record(y = e.start.args.fd)))",
		"(e.start.args.fd, e.start.probe[-5:])", "both(e)", "(e.start.args.fd, e.args.ret)"}
	want := func(form string, fd, probe string) string {
		return strings.NewReplacer("e.start.args.fd", fd, "e.start.comm", `"wl-raw"`,
			"e.start.probe[-5:]", `"`+probe+`"`, "both(e)", "("+fd+", 1)", "e.args.ret", "-9").Replace(form)
	}
	script := `
calls = span(["tracepoint:syscalls:sys_enter_lseek", "tracepoint:syscalls:sys_enter_fchdir"],
             "tracepoint:syscalls:sys_exit_{lseek,fchdir}")
mine = lambda e: e.comm == "wl-raw"
def both(e):
    return (e.start.args.fd, 1)
probe(calls, lambda e: print("entire", e.start.args.fd, e.start.args), where = mine)
probe(calls, lambda e: print("entire", e.start.args.fd, [e.start][0]), where = mine)
`
	var lines []string
	for _, form := range forms {
		script += `probe(calls, lambda e: print("is", ` + form + "), where = mine)\n"
		inKernel := !strings.Contains(form, "[-5:]")
		if inKernel {
			script += `
probe(calls, lambda e: print("is", e.w), where = mine, kernel = lambda e: record(w = ` + form + `))
probe(event((calls, lambda e: record(w = ` + form + `))), lambda e: print("is", e.w), where = mine)
`
		}
		for _, call := range [][2]string{{"999", "lseek"}, {"998", "chdir"}} {
			line := "is " + want(form, call[0], call[1])
			lines = append(lines, line)
			if inKernel {
				lines = append(lines, line, line)
			}
		}
	}
	e, _ := traced(t, script, nil, "raw", rawCall(t, "lseek", ",3e7,5,0"), rawCall(t, "fchdir", ",3e6"),
		rawCall(t, "lseek", ",3e7,5,0"))
	got := map[string]int{}
	for _, line := range sorted(e.stdout, "is") {
		got[line]++
	}
	expected := map[string]int{}
	for _, line := range lines {
		expected[line]++
		if strings.Contains(line, "999") {
			expected[line]++
		}
	}
	for line, n := range expected {
		if got[line] != n {
			t.Errorf("%d lines %q, want %d", got[line], line, n)
		}
		delete(got, line)
	}
	for line := range got {
		t.Errorf("not wanted: %q", line)
	}
	entire := sorted(e.stdout, "entire")
	for _, line := range entire {
		if !strings.Contains(line, ", fd = "+strings.Fields(line)[1]) || strings.Contains(line, `comm = ""`) {
			t.Errorf("it is that of another start: %s", line)
		}
	}
	if len(entire) != 6 {
		t.Errorf("%d lines of e.start and e.start.args, want 6\n%s", len(entire), e.stdout)
	}
}
