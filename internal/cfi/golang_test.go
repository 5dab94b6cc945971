package cfi_test

import (
	"strings"
	"testing"

	"github.com/startrace/startrace/internal/cfi"
	"github.com/startrace/startrace/internal/wire"
)

// rowsOfGo gives, by name, the rows of some functions of a program of Go, counted from where each begins, and all.
func rowsOfGo(t *testing.T, path string, names ...string) (out map[string]string, rows []cfi.Row) {
	t.Helper()
	f := opened(t, path)
	golang, ok := f.Golang()
	if !ok {
		t.Fatal("no program of Go")
	}
	rows, err := cfi.Rows(f)
	if err != nil {
		t.Fatal(err)
	}
	out = map[string]string{}
	for _, fn := range golang.Named(names) {
		of := []cfi.Row{{Rule: ruleAt(rows, fn.Addr)}}
		for _, r := range rows {
			if r.Addr > fn.Addr && r.Addr < fn.Addr+fn.Size {
				of = append(of, cfi.Row{Addr: r.Addr - fn.Addr, Rule: r.Rule})
			}
		}
		out[fn.Name] = shown(f.Machine, of)
	}
	return out, rows
}

// TestGolang: functions have a frame pointer, those that change stacks are left by it, and where goroutines begin there
// is no caller. What the runtime lets goroutines call where they were interrupted returns to no place behind a call.
func TestGolang(t *testing.T) {
	for _, c := range []struct{ arch, begins, function, changed, preempted string }{
		{"amd64", "0 rsp+8 u c-8 | ", " c-16 c-8 | ", "rbp+16 c-16 c-8", "| 1 injected at rsp+16 c-16 c-8 | "},
		{"arm64", "0 sp+0 u u | ", "sp+32 c-40 c-32", "x29+24 c-24 c-16", "| 8 injected at sp+240 c-248 c-240"},
	} {
		rows, all := rowsOfGo(t, builtGo(t, c.arch), "runtime.gopark", "runtime.systemstack", "runtime.goexit",
			"runtime.mcall", "runtime.sigpanic", "runtime.asyncPreempt")
		if s := rows["runtime.gopark"]; !strings.HasPrefix(s, c.begins) || !strings.Contains(s, c.function) {
			t.Errorf("%s: gopark has %s", c.arch, s)
		}
		if s := rows["runtime.systemstack"]; !strings.HasPrefix(s, c.begins) || !strings.Contains(s, c.changed) {
			t.Errorf("%s: systemstack has %s", c.arch, s)
		}
		if s := rows["runtime.goexit"]; !strings.HasPrefix(s, "0 stop") {
			t.Errorf("%s: goexit has %s", c.arch, s)
		}
		if s := rows["runtime.mcall"]; !strings.HasPrefix(s, c.begins+"1 stop") {
			t.Errorf("%s: mcall has %s", c.arch, s)
		}
		for _, name := range []string{"runtime.sigpanic", "runtime.asyncPreempt"} {
			s := rows[name]
			within := s[:max(strings.LastIndex(s, " | "), 0)] // behind it is padding, or the frame is left
			if !strings.HasPrefix(s, "0 injected at "+strings.TrimPrefix(c.begins, "0 ")) ||
				strings.Count(within, " injected ") != strings.Count(within, " | ")+1 {
				t.Errorf("%s: %s has %s", c.arch, name, s)
			}
		}
		if s := rows["runtime.asyncPreempt"]; !strings.Contains(s, c.preempted) {
			t.Errorf("%s: asyncPreempt has %s", c.arch, s)
		}
		if n := signals(all); n != 1 && c.arch == "amd64" {
			t.Errorf("%d rows are frames of signals, want 1", n)
		}
	}
}

// signals counts the rows that are frames of signals: what handlers return to.
func signals(rows []cfi.Row) (n int) {
	for _, r := range rows {
		if r.Rule == wire.UnwindSignal {
			n++
		}
	}
	return n
}
