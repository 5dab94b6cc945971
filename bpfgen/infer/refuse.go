package infer

import (
	"github.com/startrace/startrace/bpfgen/refusal"
	"github.com/startrace/startrace/internal/plan"
)

// How a walk ends, by refusal or by mistake, and how mistakes, warnings and notes are kept.
//
// How a walk ends, in the words of package refusal, and what is noted of it.

// refuse ends the walk: what stands at pos cannot run in the kernel.
func refuse(pos plan.Pos, format string, args ...any) { refusal.Refuse(pos, format, args...) }

// wrong ends the walk: what stands at pos is a mistake wherever it runs.
func wrong(pos plan.Pos, format string, args ...any) { refusal.Wrong(pos, format, args...) }

// poison is the value of a variable whose assignment was wrong.
type poison struct{}

func (poison) what() string { return "a value" }

// mustKnow ends the walk of a statement that uses a poisoned value.
func (v val) mustKnow() {
	if v.obj == (poison{}) {
		refusal.AfterMistake()
	}
}

func (u *unit) errorf(pos plan.Pos, format string, args ...any) { u.diags.Add(pos, format, args...) }

func (u *unit) warnf(pos plan.Pos, format string, args ...any) { u.warns.Add(pos, format, args...) }

// notef notes which way was taken.
func (u *unit) notef(pos plan.Pos, format string, args ...any) { u.res.Notes.Add(pos, format, args...) }

// mistake notes a final refusal and lets the walk go on, so that all mistakes
// of a script are reported at once; any other refusal goes on unwinding.
func (u *unit) mistake(r *refusal.Refusal) {
	if !r.Final || r.None && u.noneEnds {
		panic(r)
	}
	if !r.Silent {
		u.diags = append(u.diags, r.Diag)
	}
}
