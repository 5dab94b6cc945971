package bpfgen

import (
	"errors"
	"strings"
	"testing"

	"github.com/startrace/startrace/bpfgen/ir"
)

// TestPassDump asks for the IR after each pass in turn.
func TestPassDump(t *testing.T) {
	for _, pass := range Passes() {
		t.Run(pass, func(t *testing.T) {
			u, err := Generate(commonUnits()["send_string"], Options{Arch: "amd64", DumpPass: pass})
			if err != nil {
				t.Fatal(err)
			}
			d := u.Dumps["p0"]
			if len(d.Passes) == 0 {
				t.Fatal("no run of the pass was kept")
			}
			last := ""
			for i, run := range d.Passes {
				if !strings.HasPrefix(run.Text, "func ") {
					t.Errorf("run %d is no function:\n%s", run.Run, run.Text)
				}
				if i > 0 && (!run.Changed || run.Text == last) {
					t.Errorf("run %d is kept and changed nothing", run.Run)
				}
				last = run.Text
			}
			if first := d.Passes[0]; first.Run != 1 || first.Lowered != (pass == PassLower) {
				t.Errorf("first run: number %d, lowered %v", first.Run, first.Lowered)
			}
		})
	}
}

// TestPassDumpStages: build is what Dump calls IR, and some run behind lower
// made what Dump calls Machine.
func TestPassDumpStages(t *testing.T) {
	dump := func(pass string) *Dump {
		u, err := Generate(commonUnits()["hist_comm"], Options{Arch: "amd64", Dump: true, DumpPass: pass})
		if err != nil {
			t.Fatal(err)
		}
		return u.Dumps["p0"]
	}
	if d := dump(PassBuild); d.Passes[0].Text != d.IR {
		t.Errorf("after build:\n%s\nwant:\n%s", d.Passes[0].Text, d.IR)
	}
	made := false
	for _, pass := range Passes() {
		d := dump(pass)
		for _, run := range d.Passes {
			made = made || run.Lowered && pass != PassLower && run.Text == d.Machine
		}
	}
	if !made {
		t.Error("no run behind lower made the machine's form")
	}
}

// TestCheck compiles with each function checked behind each pass.
func TestCheck(t *testing.T) {
	for name, u := range commonUnits() {
		for _, arch := range []string{"amd64", "arm64"} {
			if _, err := Generate(u, Options{Arch: arch, Check: true}); err != nil {
				t.Errorf("%s, %s: %v", name, arch, err)
			}
		}
	}
}

// TestCheckTells breaks a function: that is an error behind a pass where it is asked for.
func TestCheckTells(t *testing.T) {
	f, err := ir.Parse("func \"f\" {\nb0:\n v2 = add v1, 1\n v1 = const 1\n ret\n}\n")
	if err != nil {
		t.Fatal(err)
	}
	var broken *PassError
	err = newPassWatch(Options{Check: true}, f, &Dump{}).after("fold")
	if !errors.As(err, &broken) || broken.Pass != "fold" || !strings.Contains(err.Error(), "v1: used where it is not") {
		t.Errorf("got %v, want what is wrong behind fold", err)
	}
	if err := newPassWatch(Options{}, f, &Dump{}).after("fold"); err != nil {
		t.Errorf("got %v where no check was asked for", err)
	}
}
