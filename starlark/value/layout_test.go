package value

import (
	"reflect"
	"testing"

	"github.com/startrace/startrace/bpfgen/layout"
	"github.com/startrace/startrace/internal/plan"
)

// TestLayoutAgrees checks that user code sorts values into the same buckets
// as kernel halves.
func TestLayoutAgrees(t *testing.T) {
	for _, c := range []*plan.Container{
		{Kind: plan.Hist}, {Kind: plan.Hist, Unit: 1000, Sub: 3}, {Kind: plan.Quantiles, Unit: 1e6},
		{Kind: plan.LHist, Lo: -5, Hi: 95, Step: 10}, {Kind: plan.LHist, Lo: 0, Hi: 1, Step: 7},
	} {
		want := layout.Agg(c).Buckets
		want.Off = 0
		if got := bucketsOf(c); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, kernel halves have %+v", c.Kind, got, want)
		}
	}
}
