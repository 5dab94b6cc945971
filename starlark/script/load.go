package script

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/builtins"
	"github.com/startrace/startrace/internal/escape"
	"github.com/startrace/startrace/internal/plan"
)

// load(): modules of std/, files, and messages when there is none or they load each other.

// stdPrefix begins the names of the standard library's modules.
const stdPrefix = plan.Library

// load is the interpreter's load().
func (h *Host) load(th *starlark.Thread, name string) (starlark.StringDict, error) {
	file, err := resolvePath(th.CallFrame(0).Pos.Filename(), name)
	if err != nil {
		return nil, err
	}
	m := h.modules[file]
	if m == nil {
		m = &module{}
		h.modules[file] = m
		m.globals, m.err = h.loadFile(file)
		m.done = true
	}
	if !m.done {
		return nil, fmt.Errorf("the modules load each other: %s → %s", strings.Join(h.loading, " → "), file)
	}
	if m.err == nil && len(m.globals) == 0 {
		return nil, fmt.Errorf("%s defines no names", file)
	}
	return m.globals, m.err
}

func (h *Host) loadFile(name string) (starlark.StringDict, error) {
	h.loading = append(h.loading, name)
	defer func() { h.loading = h.loading[:len(h.loading)-1] }()
	f, err := parseModule(h, name)
	if err != nil {
		return nil, err
	}
	return h.exec(f)
}

// parseModule reads a module of the library or a file, and parses it.
func parseModule(h *Host, name string) (*file, error) {
	src, err := h.module(name)
	if err != nil {
		return nil, err
	}
	return h.parse(name, src)
}

func (h *Host) module(name string) ([]byte, error) {
	std, ok := strings.CutPrefix(name, stdPrefix)
	if !ok {
		h.read[name] = name
		return readModule(name)
	}
	if h.opts.Std == nil {
		return nil, fmt.Errorf("there is no standard library here")
	}
	src, err := fs.ReadFile(h.opts.Std, std)
	if err != nil {
		return nil, fmt.Errorf("the standard library has no %s%s", std, h.nearStd(std))
	}
	return src, nil
}

// readModule reads a file that is loaded. A pipe or device under its name is refused before
// it is opened: that could block, and never end.
func readModule(name string) ([]byte, error) {
	st, err := os.Stat(name)
	if err == nil && !st.Mode().IsRegular() && !st.IsDir() {
		return nil, fmt.Errorf("%s is a pipe or a device, want a file", name)
	}
	return readSource(name, nil) // it is no pipe
}

// resolvePath gives the file that load(name) in another file means.
func resolvePath(from, name string) (string, error) {
	if !strings.HasSuffix(name, ".star") {
		return "", fmt.Errorf("got %q, want \"std/NAME.star\" or \"./NAME.star\"", name)
	}
	if escape.Any(name) {
		return "", errors.New("a name with special characters is not loaded, as it would be part of messages: " +
			"rename the file")
	}
	switch {
	case strings.HasPrefix(name, stdPrefix):
		if clean := path.Clean(name); strings.HasPrefix(clean, stdPrefix) {
			return clean, nil
		}
	case strings.HasPrefix(name, "./"), strings.HasPrefix(name, "../"):
		if strings.HasPrefix(from, stdPrefix) {
			return resolvePath("", path.Join(path.Dir(from), name))
		}
		return filepath.Join(filepath.Dir(from), name), nil
	case filepath.IsAbs(name):
		return filepath.Clean(name), nil
	}
	return "", fmt.Errorf("got %q, want \"std/%s\" or \"./%s\"", name, path.Base(name), path.Base(name))
}

func (h *Host) nearStd(name string) string {
	entries, err := fs.ReadDir(h.opts.Std, ".")
	if err != nil {
		return ""
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return didYouMean(name, names)
}

// flagWords are the flags of a file and of the modules that it loads: their
// functions declare flags when they are called, and the arguments are dealt
// out before. A module that cannot be read or parsed is reported when it is
// loaded.
func (h *Host) flagWords(f *file) []builtins.FlagWord {
	out := f.flagWords()
	for _, stmt := range f.tree.Stmts {
		l, ok := stmt.(*syntax.LoadStmt)
		if !ok {
			continue
		}
		name, err := resolvePath(f.name, l.ModuleName())
		if err != nil || h.files[name] != nil {
			continue
		}
		src, err := h.module(name)
		if err != nil || !bytes.Contains(src, []byte("flag(")) {
			continue
		}
		if m, err := h.parse(name, src); err == nil {
			out = append(out, h.flagWords(m)...)
		}
	}
	return out
}
