package kernel

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/startrace/startrace/internal/naming"
)

// Tracepoints of tracefs by names and patterns, and messages when there is none.

// Field finds a field by name, as BTF.Field does with a trailing `_`.
func (t *Tracepoint) Field(name string) (*TracepointField, error) {
	for _, try := range []string{name, TrimEscape(name)} {
		for i := range t.Fields {
			if t.Fields[i].Name == try {
				return &t.Fields[i], nil
			}
		}
	}
	var names []string
	for i := range t.Fields {
		names = append(names, t.Fields[i].Name)
	}
	return nil, &NoFieldError{Struct: "tracepoint:" + t.Group + ":" + t.Name, Field: name,
		Near: naming.Suggest(name, names)}
}

// OwnFields leaves out the header that all tracepoints share.
func (t *Tracepoint) OwnFields() (out []TracepointField) {
	for _, f := range t.Fields {
		if !strings.HasPrefix(f.Name, "common_") {
			out = append(out, f)
		}
	}
	return out
}

// IsPointer reports whether a field is a pointer. The format shows a typedef of one, as initcall_t, by its name alone.
func (f *Facts) IsPointer(t TracepointField) bool {
	if t.IsPtr || t.Array || t.Size != 8 || strings.Contains(plainC(t.CType), " ") {
		return t.IsPtr
	}
	if _, number := scalars[plainC(t.CType)]; number {
		return false
	}
	b, err := f.BTF()
	if err != nil {
		return false
	}
	id, ok := b.Named(KindTypedef, plainC(t.CType))
	if !ok {
		return false
	}
	typ, err := b.Type(b.Skip(id))
	return err == nil && typ.Kind == KindPtr
}

// noTracepoint says that this kernel does not have a tracepoint.
func noTracepoint(group, name string) *NoPointError {
	return &NoPointError{Kind: "tracepoint", Name: group + ":" + name}
}

// Tracepoint reads the format of a tracepoint.
func (f *Facts) Tracepoint(group, name string) (*Tracepoint, error) {
	key := TracepointName{group, name}
	f.mu.Lock()
	defer f.mu.Unlock()
	if t := f.tracepoints[key]; t != nil {
		return t, nil
	}
	t, err := f.readTracepoint(group, name)
	if err != nil {
		return nil, err
	}
	if f.tracepoints == nil {
		f.tracepoints = map[TracepointName]*Tracepoint{}
	}
	f.tracepoints[key] = t
	return t, nil
}

func (f *Facts) readTracepoint(group, name string) (*Tracepoint, error) {
	if f.opts.Format != nil {
		return f.opts.Format(f, group, name)
	}
	root, err := f.TracefsPath()
	if err != nil {
		return nil, err
	}
	if !isFileName(group) || !isFileName(name) {
		return nil, noTracepoint(group, name)
	}
	text, err := os.ReadFile(filepath.Join(root, "events", group, name, "format"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, f.nearTracepoint(root, group, name)
	case errors.Is(err, fs.ErrPermission):
		return nil, permissionError(root)
	case err != nil:
		return nil, fmt.Errorf("read the format of tracepoint %s:%s: %w", group, name, err)
	}
	t, err := ParseFormat(text)
	if err != nil {
		return nil, fmt.Errorf("format of tracepoint %s:%s: %w", group, name, err)
	}
	t.Group, t.Name = group, name
	f.typeArguments(t)
	return t, nil
}

// nearTracepoint looks for the name in its group, for the group, and for the
// name in other groups, in this order.
func (f *Facts) nearTracepoint(root, group, name string) error {
	e := noTracepoint(group, name)
	events := filepath.Join(root, "events")
	groups, err := folders(events)
	if err != nil {
		return err
	}
	if len(groups) == 0 {
		if err := lockedDown(); err != nil {
			return err
		}
	}
	if slices.Contains(groups, group) {
		names, _ := folders(filepath.Join(events, group)) // no names, no hint
		if near := naming.Suggest(name, names); near != "" {
			e.Near = group + ":" + near
			return e
		}
	}
	for _, g := range append([]string{naming.Suggest(group, groups)}, groups...) {
		if _, err := os.Stat(filepath.Join(events, g, name, "format")); g != "" && err == nil {
			e.Near = g + ":" + name
			return e
		}
	}
	return e
}

// MatchTracepoints gives the tracepoints whose group and name match, sorted.
// The group "ftrace", whose events are records of the function tracer and no
// tracepoints, must be named to be found.
func (f *Facts) MatchTracepoints(groupGlob, nameGlob string) ([]TracepointName, error) {
	if f.opts.Tracepoints != nil {
		return f.opts.Tracepoints(f, groupGlob, nameGlob)
	}
	root, err := f.TracefsPath()
	if err != nil {
		return nil, err
	}
	groups, err := matchFolders(filepath.Join(root, "events"), groupGlob)
	if err != nil {
		return nil, err
	}
	var out []TracepointName
	for _, g := range groups {
		if g == "ftrace" && groupGlob != "ftrace" {
			continue
		}
		names, err := matchFolders(filepath.Join(root, "events", g), nameGlob)
		if err != nil {
			return nil, err
		}
		for _, n := range names {
			out = append(out, TracepointName{g, n})
		}
	}
	return out, nil
}

// matchFolders gives the folders in dir that match. Names without a wildcard
// are tried without reading dir.
func matchFolders(dir, pattern string) ([]string, error) {
	g, err := naming.Compile(pattern)
	if err != nil {
		return nil, err
	}
	if list, ok := g.Expand(); ok {
		list = slices.DeleteFunc(list, func(n string) bool {
			st, err := os.Stat(filepath.Join(dir, n))
			return !isFileName(n) || err != nil || !st.IsDir()
		})
		slices.Sort(list)
		return list, nil
	}
	all, err := folders(dir)
	return slices.DeleteFunc(all, func(n string) bool { return !g.Match(n) }), err
}

// folders gives the names of the folders in dir, sorted.
func folders(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrPermission) {
		root, _, _ := strings.Cut(dir, "/events") // the one message for all of tracefs
		return nil, permissionError(root)
	}
	if err != nil {
		return nil, fmt.Errorf("list events: %w", err)
	}
	var out []string
	for _, e := range entries {
		if e.IsDir() {
			out = append(out, e.Name())
		}
	}
	return out, nil
}

func isFileName(s string) bool { return s != "" && s != "." && s != ".." && filepath.Base(s) == s }
