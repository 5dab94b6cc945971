package locate

import (
	"debug/elf"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/startrace/startrace/internal/elffile"
)

// The file of a library by its short name, as c of libc: cache, folders of the linker (`folders`).

func (f *Finder) machine() elf.Machine {
	if f.Machine == elf.EM_NONE {
		return elffile.Machine(runtime.GOARCH)
	}
	return f.Machine
}

// library looks into the cache of the dynamic linker, then into its folders,
// which is all that musl has.
func (f *Finder) library(name string) (Location, bool) {
	if e, ok := f.readCache().find(name, f.machine()); ok {
		if path, _, ok := f.regular(e.path); ok {
			return Location{Path: path, Name: e.path, Root: f.root(), How: f.where("by /etc/ld.so.cache")}, true
		}
	}
	for _, dir := range f.folders() {
		if file, path, ok := f.inFolder(dir, name); ok {
			return Location{Path: path, Name: filepath.Join(dir, file), Root: f.root(), How: f.where("in " + dir)}, true
		}
	}
	return Location{}, false
}

// readCache reads the cache of the namespace once; without one it is empty.
func (f *Finder) readCache() *libraryCache {
	root := f.root()
	if c := f.cache[root]; c != nil {
		return c
	}
	c := &libraryCache{}
	if path, _, ok := f.regular("/etc/ld.so.cache"); ok {
		if data, err := readBounded(path, cacheMaxBytes); err == nil {
			if parsed, err := parseCache(data); err == nil {
				c = parsed
			}
		}
	}
	if f.cache == nil {
		f.cache = map[string]*libraryCache{}
	}
	f.cache[root] = c
	return c
}

func readBounded(path string, most int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, most))
}

// folders are those of ld.so(8), of distributions with several architectures,
// and of musl, which may name others in a file.
func (f *Finder) folders() []string {
	triple := map[elf.Machine]string{elf.EM_X86_64: "x86_64", elf.EM_AARCH64: "aarch64"}[f.machine()]
	dirs := []string{
		"/lib/" + triple + "-linux-gnu", "/usr/lib/" + triple + "-linux-gnu",
		"/lib64", "/usr/lib64", "/lib", "/usr/lib", "/usr/local/lib",
	}
	if path, _, ok := f.regular("/etc/ld-musl-" + triple + ".path"); ok {
		if text, err := readBounded(path, 1<<16); err == nil {
			dirs = append(strings.FieldsFunc(string(text), func(r rune) bool { return r == ':' || r == '\n' }), dirs...)
		}
	}
	return dirs
}

// inFolder gives the newest library of a name in a folder.
func (f *Finder) inFolder(dir, name string) (file, path string, ok bool) {
	real, err := resolve(f.root(), dir)
	if err != nil {
		return "", "", false
	}
	entries, err := os.ReadDir(real)
	if err != nil {
		return "", "", false
	}
	for _, e := range entries {
		if !isLibrary(e.Name(), name) || !strings.Contains(e.Name(), ".so") || ok && !newer(e.Name(), file) {
			continue
		}
		if p, _, regular := f.regular(filepath.Join(dir, e.Name())); regular && f.program(p) {
			file, path, ok = e.Name(), p, true
		}
	}
	return file, path, ok
}

// libraryNames gives the short names of all libraries, to suggest one.
func (f *Finder) libraryNames() (names []string) {
	for _, e := range f.readCache().entries {
		short, _, _ := strings.Cut(strings.TrimPrefix(e.soname, "lib"), ".so")
		names = append(names, short)
		if strings.HasPrefix(e.soname, "lib") {
			names = append(names, "lib"+short)
		}
	}
	return names
}
