package sourcefunc

import (
	"debug/dwarf"
	"path"
	"slices"

	"github.com/startrace/startrace/internal/dwarfinfo"
)

// In which file a function of Go stands that was inlined.
//
// Go's debug information does not say in which file a function stands that was inlined. Its instructions tell, by the
// table of lines, and it is a file of its package: that is a unit, and other functions of it say their file.

// goFiles are the functions of a unit of which the file is not said.
type goFiles struct {
	*search
	unsaid []inFile
	// own are the files that the unit's functions say, by their numbers.
	own map[int64]bool
}

// inFile is a function of which the file is not said, and where debug information speaks of it.
type inFile struct {
	at dwarf.Offset
	fn *Function
}

// see notes the file of a function.
func (g *goFiles) see(e *dwarfinfo.Entry) {
	if number, ok := e.Val(dwarf.AttrDeclFile).(int64); ok && !g.own[number] {
		if g.own == nil {
			g.own = map[int64]bool{}
		}
		g.own[number] = true
	}
}

// settle leaves out functions that cannot be in the wanted files of the unit, since these are those of other packages,
// of which functions were inlined.
func (g *goFiles) settle(u *dwarfinfo.Unit, wanted []bool) {
	if len(g.unsaid) == 0 {
		return
	}
	dirs, any := map[string]bool{}, len(g.own) == 0
	for number := range g.own {
		dirs[path.Dir(g.tables.File(u, number))] = true
	}
	for number, is := range wanted {
		any = any || is && dirs[path.Dir(g.tables.File(u, int64(number)))]
	}
	if !any {
		return
	}
	for _, x := range g.unsaid {
		g.origins[x.at] = x.fn
		g.dirs[x.fn] = dirs
	}
}

// fileByLines is the file of a function that does not say it; "" where nothing tells.
func (s *search) fileByLines(fn *Function) string {
	for _, addr := range fn.Bodies {
		if u, err := s.data.UnitOf(addr); err == nil && u != nil {
			return s.mostly(fn, u, [][2]uint64{{addr, addr + 1}}, nil)
		}
	}
	for i := range fn.Copies[:min(len(fn.Copies), maxAsked)] {
		e, err := s.data.Entry(fn.Copies[i].Place)
		if err != nil || e == nil {
			continue
		}
		own, err := e.Ranges()
		if err != nil {
			continue
		}
		var others [][2]uint64
		// What is damaged says nothing of the others.
		_ = s.data.EachChild(e, func(kid *dwarfinfo.Entry) (bool, error) {
			if kid.Tag == dwarf.TagInlinedSubroutine {
				ranges, err := kid.Ranges()
				others = append(others, ranges...)
				return true, err
			}
			return true, nil
		})
		if file := s.mostly(fn, e.Unit(), own, others); file != "" {
			return file
		}
	}
	return ""
}

// maxAsked is how many copies of a function are asked for its file.
const maxAsked = 32

// mostly is the file of the package of which most instructions of some ranges are, without those of others.
func (s *search) mostly(fn *Function, u *dwarfinfo.Unit, own, others [][2]uint64) (most string) {
	rows, err := s.tables.Stretches(u)
	if err != nil {
		return ""
	}
	count := map[string]int{}
	for _, r := range own {
		for _, row := range rows.Between(r[0], r[1]) {
			foreign := slices.ContainsFunc(others, func(o [2]uint64) bool {
				return row.Addr >= o[0] && row.Addr < o[1]
			})
			if dirs := s.dirs[fn]; foreign || row.File == "" || len(dirs) > 0 && !dirs[path.Dir(row.File)] {
				continue
			}
			if count[row.File]++; count[row.File] > count[most] {
				most = row.File
			}
		}
	}
	return most
}
