// Package locate finds the file that a script means by the name of a program
// or library: a path, a library's short name as `c` or `ssl`, a command, and
// all of these as a process sees them, in its own mount namespace.
//
// It looks and reads; what it gives are paths.
package locate

import (
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/startrace/startrace/internal/elffile"
	"github.com/startrace/startrace/internal/naming"
)

// The file that a name in a point means (a path, a library as c, a command), and messages when there is none.

// ErrNotFound says that nothing has the name.
var ErrNotFound = errors.New("no such program or library")

// A Location is a file that was found.
type Location struct {
	Path string // as we open it: /proc/77/root/usr/lib/libc.so.6
	Name string // as it is known in its mount namespace: /usr/lib/libc.so.6
	Root string // its mount namespace's root, "" for ours
	How  string // for -v: "mapped by process 77", "by /etc/ld.so.cache"
	// Also is another file that the name could mean: `curl` is a library and a
	// command. "" if there is none.
	Also string
	// Replaced: the process runs another file than has the name now. Path is the one that it runs.
	Replaced bool
}

// A Finder finds files for one run. The zero value looks in our own mount
// namespace, for this machine.
type Finder struct {
	PID int // look as this process does; 0 for none
	// Machine is the one that libraries must be for; EM_NONE: this one.
	Machine elf.Machine
	// Root is the folder below which we look without a process, for tests.
	Root string
	// PathList is that of the environment's PATH; "" is our own.
	PathList string

	proc string // /proc, but in tests
	// cache has what the dynamic linker's cache says, by the root folder that it is of, once it was read.
	cache map[string]*libraryCache
}

// Find gives the file of a name. In this order: a path; what the process has
// mapped; the cache of the dynamic linker; its folders; PATH.
func (f *Finder) Find(name string) (Location, error) {
	if name == "" {
		return Location{}, errors.New("the name of the program is empty")
	}
	if strings.Contains(name, "/") {
		return f.findPath(name)
	}
	if f.PID != 0 {
		loc, ok, err := f.mapped(name)
		if ok || err != nil {
			return loc, err
		}
	}
	command, isCommand := f.command(name)
	if loc, ok := f.library(name); ok {
		if isCommand {
			loc.Also = command.Name
		}
		return loc, nil
	}
	if isCommand {
		return command, nil
	}
	return Location{}, f.notFound(name)
}

func (f *Finder) notFound(name string) error {
	hint := "give its path"
	if near := naming.Suggest(name, f.libraryNames()); near != "" {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	places := "ld.so.cache, the library folders and PATH have none"
	if f.PID != 0 {
		places = fmt.Sprintf("process %d has not mapped one, and its %s", f.PID, places)
	}
	if naming.IsPattern(name) {
		return fmt.Errorf("%w %q%s", ErrNotFound, name, onePlace)
	}
	return fmt.Errorf("%w %q: %s; %s", ErrNotFound, name, places, hint)
}

// onePlace is the hint where a pattern stands for a file.
const onePlace = "; a program or library is one path or name, as c for libc, and no pattern; " +
	"probe() takes a list of points"

// findPath takes a path; an absolute one is the process's, if it has that
// file, else ours.
func (f *Finder) findPath(name string) (Location, error) {
	if root := f.root(); root != "" && filepath.IsAbs(name) {
		if path, err := resolve(root, name); err == nil {
			return f.run(Location{Path: path, Name: name, Root: root, How: f.where("by its path")}), nil
		}
	}
	path, err := filepath.Abs(name)
	if err != nil {
		return Location{}, fmt.Errorf("find %s: %w", name, err)
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		if gone := f.run(Location{Name: path, Root: f.root()}); gone.Replaced {
			gone.Replaced = false // no file has the name now
			return gone, nil
		}
		return Location{}, fmt.Errorf("%w: %s does not exist%s", ErrNotFound, name, neighbour(path, name))
	} else if err != nil {
		return Location{}, fmt.Errorf("find %s: %w", name, err)
	}
	return f.run(Location{Path: path, Name: path, How: "by its path"}), nil
}

// neighbour is a hint at what else the folder has, as the path was written.
func neighbour(path, name string) string {
	if naming.IsPattern(name) {
		return onePlace
	}
	dir, base := filepath.Split(path)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Sprintf("; there is no folder %s", dir)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if near := naming.Suggest(base, names); near != "" {
		return fmt.Sprintf("; did you mean %s?", strings.TrimSuffix(name, base)+near)
	}
	return ""
}

// command looks through PATH.
func (f *Finder) command(name string) (Location, bool) {
	list := f.PathList
	if list == "" {
		list = os.Getenv("PATH")
	}
	for _, dir := range filepath.SplitList(list) {
		if !filepath.IsAbs(dir) {
			continue // what it means depends on where we were started
		}
		if path, mode, ok := f.regular(filepath.Join(dir, name)); ok && mode&0o111 != 0 {
			return Location{Path: path, Name: filepath.Join(dir, name), Root: f.root(), How: f.where("by PATH")}, true
		}
	}
	return Location{}, false
}

// regular gives a regular file of the namespace as we open it.
func (f *Finder) regular(name string) (path string, mode fs.FileMode, ok bool) {
	path, err := resolve(f.root(), name)
	if err != nil {
		return "", 0, false
	}
	st, err := os.Stat(path)
	if err != nil || !st.Mode().IsRegular() {
		return "", 0, false
	}
	return path, st.Mode(), true
}

// program says whether a file is one for the machine, and not a linker script
// as /usr/lib/libc.so.
func (f *Finder) program(path string) bool {
	file, err := elffile.Open(path, elffile.Options{Machine: f.machine()})
	if err != nil {
		return false
	}
	file.Close()
	return true
}

// root is where the mount namespace is found in which we look, "" for ours.
func (f *Finder) root() string {
	if f.PID != 0 {
		return fmt.Sprintf("%s/%d/root", f.procDir(), f.PID)
	}
	return f.Root
}

func (f *Finder) procDir() string {
	if f.proc == "" {
		return "/proc"
	}
	return f.proc
}

func (f *Finder) where(how string) string {
	if f.PID != 0 {
		return fmt.Sprintf("%s, as process %d sees it", how, f.PID)
	}
	return how
}
