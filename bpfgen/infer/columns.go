package infer

import (
	"strings"

	"github.com/startrace/startrace/bpfgen/types"
)

// The check that by= of an aggregation names as many columns as its keys have parts.

// checkColumns compares the keys of aggregations with the columns that by= names, when all uses are known: output would
// have columns without names, or names without columns.
func (u *unit) checkColumns() {
	u.used.All(func(id int, _ bool) {
		t := u.conts.At(id)
		if len(t.c.By) == 0 || !t.keyed || t.fixed {
			return
		}
		parts := len(t.present)
		if parts == 1 && (t.key.Kind == types.Tuple || t.key.Kind == types.Record) {
			parts = len(t.key.Elems)
		}
		if parts != len(t.c.By) {
			u.errorf(t.keyAt.Pos, "the key of %s %s has %s here, and by= names %s: %s", t.c.Kind, name(t.c),
				counted(parts, "part"), counted(len(t.c.By), "column"), strings.Join(t.c.By, ", "))
		}
	})
}
