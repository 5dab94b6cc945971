package elffile

import (
	"bytes"
	"cmp"
	"debug/elf"
	"encoding/hex"
	"path/filepath"
)

// Files that have parts of the debug information (.dwo, .dwp, dwz): where they are looked for, and why one is not
// taken.
//
// Files can have parts of the debug information of a program: those of its units (gcc -gsplit-dwarf), these packed
// together, and one that several programs share (dwz -m).

// Others looks for such files of a file.
type Others struct{ *File }

// Open opens a file that has a part of the debug information; nil where there is none. The caller closes it.
func (f Others) Open(path string) (*File, error) {
	if _, ok := regularSize(path); !ok {
		return nil, nil
	}
	opts := Options{Root: f.opts.Root, DebugDirs: f.opts.DebugDirs, Machine: f.Machine, companion: true}
	return Open(path, opts)
}

// SplitFiles are where a file of a unit can be that has a name and was made in a folder: there, and beside the program.
func (f Others) SplitFiles(name, dir string) []string {
	if name == "" {
		return nil
	}
	beside := filepath.Join(filepath.Dir(f.Path), filepath.Base(name))
	switch {
	case filepath.IsAbs(name):
		return []string{f.inRoot(name), beside}
	case filepath.IsAbs(dir):
		return []string{f.inRoot(filepath.Join(dir, name)), filepath.Join(filepath.Dir(f.Path), name), beside}
	}
	return []string{filepath.Join(filepath.Dir(f.Path), name), beside}
}

// PackageFiles are where the file with all units of the program can be: beside it, and in a folder of debug files by
// its build id.
func (f Others) PackageFiles() []string {
	out := []string{f.Path + ".dwp"}
	if real, err := filepath.EvalSymlinks(f.Path); err == nil && real != f.Path {
		out = append(out, real+".dwp")
	}
	if len(f.BuildID) > 2 {
		for _, dir := range debugSearch(f).dirs() {
			out = append(out, f.inRoot(filepath.Join(dir, ".build-id", f.BuildID[:2], f.BuildID[2:]+".dwp")))
		}
	}
	return out
}

// Why a file is not taken that has a part of the debug information.
const (
	NotThere     = "is not there"
	OfOtherBuild = "is of another build"
	Damaged      = "is damaged"
)

// SharedFile opens the file of which name says that this one's debug information shares it with others, and the caller
// closes it; "" where there is none. nil: why says what is wrong with it.
func (f Others) SharedFile() (file *File, name, why string) {
	name, id := f.sharedName()
	if name == "" {
		return nil, "", ""
	}
	paths := []string{f.inRoot(name)}
	if !filepath.IsAbs(name) {
		paths = []string{filepath.Join(filepath.Dir(f.Path), name)}
	}
	for _, dir := range debugSearch(f).dirs() {
		paths = append(paths, f.inRoot(filepath.Join(dir, ".dwz", filepath.Base(name))))
		if len(id) > 2 {
			paths = append(paths, f.inRoot(filepath.Join(dir, ".build-id", id[:2], id[2:]+".debug")))
		}
	}
	for _, path := range paths {
		other, err := f.Open(path)
		switch {
		case other == nil && err == nil:
			continue
		case err != nil:
			why = Damaged
			continue
		case other.BuildID == id || (Others{other}).supplement() == id:
			return other, name, ""
		}
		why = cmp.Or(why, OfOtherBuild)
		_ = other.Close() // it was only read
	}
	return nil, name, cmp.Or(why, NotThere)
}

// sharedName is what .gnu_debugaltlink says, a name and the build id of the file, or .debug_sup, which has their
// lengths (DWARF 5, 7.3.6); "" where there is neither.
func (f Others) sharedName() (name, id string) {
	if b := f.small(".gnu_debugaltlink"); b != nil {
		if end := bytes.IndexByte(b, 0); end > 0 {
			return string(b[:end]), hex.EncodeToString(b[end+1:])
		}
	}
	is, name, id := f.debugSup()
	if is {
		return "", "" // it is the one that others share
	}
	return name, id
}

// supplement is the checksum of a file that others share; "" where it does not say it.
func (f Others) supplement() string {
	if is, _, id := f.debugSup(); is {
		return id
	}
	return ""
}

// debugSup reads .debug_sup: a version, whether this is the file that others share, a name, and a checksum with its
// length, which takes one byte below 128.
func (f Others) debugSup() (is bool, name, id string) {
	b := f.small(".debug_sup")
	if len(b) < 4 || f.elf.ByteOrder.Uint16(b) != 5 {
		return false, "", ""
	}
	is, b = b[2] != 0, b[3:]
	end := bytes.IndexByte(b, 0)
	if end < 0 || end+1 >= len(b) || int(b[end+1]) > len(b)-end-2 {
		return false, "", ""
	}
	return is, string(b[:end]), hex.EncodeToString(b[end+2:][:b[end+1]])
}

// small reads a section of a name and some numbers; nil where there is none.
func (f Others) small(name string) []byte {
	s := f.elf.Section(name)
	if s == nil || s.Type == elf.SHT_NOBITS {
		return nil
	}
	b, err := f.section(s, 4096)
	if err != nil {
		return nil
	}
	return b
}
