package points

import (
	"slices"

	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/point"
)

// Files of programs can become other ones while a script runs. Then the session infers a later unit of the same plan,
// which has the points in the new file (Finder.Replaced).

// InFiles reports whether points of a list are in files of programs, and so can be found again in others.
func InFiles(list []plan.Point) bool {
	return slices.ContainsFunc(list, func(p plan.Point) bool {
		switch p := p.(type) {
		case *plan.Pattern:
			return point.Must(p.Provider).InPrograms
		case *plan.Event:
			return slices.ContainsFunc(p.Arms, func(a plan.Arm) bool { return InFiles(a.Points) })
		}
		return false // as for modules (Grow)
	})
}
