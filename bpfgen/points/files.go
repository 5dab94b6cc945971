package points

import (
	"github.com/startrace/startrace/internal/plan"
)

// Which points are in files of programs, and can be found again when the file is replaced.
//
// Files of programs can become other ones while a script runs. Then the session infers a later unit of the same plan,
// which has the points in the new file (Finder.Replaced).

// InFiles reports whether points of a list are in files of programs, and so can be found again in others.
func InFiles(list []plan.Point) bool { return anyLater(list, inFile) }

func inFile(p *plan.Pattern) bool { return kindOf(p).InPrograms }
