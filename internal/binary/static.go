package binary

import (
	"fmt"
	"strings"

	"github.com/startrace/startrace/internal/naming"
	"github.com/startrace/startrace/internal/usdt"
)

// Static probes (USDT) of a file that match a name, and messages that there is none.

// Static gives the static probes (USDT) of a file that match `name` or
// `provider:name`.
func (f *Finder) Static(file, pattern string) ([]usdt.StaticProbe, *File, error) {
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
	if err == nil && len(found) == 0 {
		err = missingStatic(all, out.Name, pattern)
	}
	return found, out, err
}

// missingStatic names what there is instead.
func missingStatic(all []usdt.StaticProbe, file, pattern string) error {
	var names, full []string
	for _, p := range all {
		names, full = append(names, p.Name), append(full, p.Provider+":"+p.Name)
	}
	if !strings.Contains(pattern, ":") {
		full = names
	}
	if near := naming.Suggest(pattern, full); near != "" {
		return fmt.Errorf("%s has no static probe %s; did you mean %s?", file, pattern, near)
	}
	return fmt.Errorf("%s has no static probe %s; startrace list 'usdt:%s:*' shows the %d that it has", file, pattern,
		file, len(all))
}
