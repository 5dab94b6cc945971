package lower

import (
	"testing"

	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/ir/irtest"
)

// TestGuard: functions named hold have the part of programs that others may run below, those named ask that of a
// program at locks.
func TestGuard(t *testing.T) {
	irtest.Golden(t, "guard", func(t *testing.T, f *ir.Func) string {
		o := Options{ScratchSite: 7, GuardSite: 8, Guard: GuardHold}
		if f.Name == "ask" {
			o.Guard = GuardAsk
		}
		if err := Run(f, o); err != nil {
			t.Fatal(err)
		}
		return f.String()
	})
}
