package binary

import (
	"fmt"

	"github.com/startrace/startrace/internal/usdt"
)

// Static gives the static probes (USDT) of a file that match `name` or
// `provider:name`.
func (f *Finder) Static(file, pattern string) ([]usdt.Probe, *File, error) {
	e, out, err := f.file(file)
	if err != nil {
		return nil, nil, err
	}
	all, err := usdt.Read(e)
	if err != nil {
		return nil, nil, err
	}
	if len(all) == 0 {
		return nil, nil, fmt.Errorf("%s has no static probes (USDT): it was built without them", out.Name)
	}
	found, err := usdt.Find(all, pattern)
	return found, out, err
}
