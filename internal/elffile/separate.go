package elffile

import (
	"bytes"
	"debug/elf"
	"fmt"
	"hash/crc32"
	"io"
	"path/filepath"

	"github.com/ulikunitz/xz"
)

// The separate debug file: by build id, by .gnu_debuglink, .gnu_debugdata; the folders where it is looked for
// (`defaultDebugDirs`).

var defaultDebugDirs = []string{"/usr/lib/debug"}

// A debugSearch looks for the file that has the debug information of another one.
type debugSearch struct{ *File }

// dirs are the folders below which there are such files.
func (f debugSearch) dirs() []string {
	if f.opts.DebugDirs != nil {
		return f.opts.DebugDirs
	}
	return defaultDebugDirs
}

// DebugFile gives the path, as we open it, of the file that has the program's
// debug information; "" if there is none.
func (f *File) DebugFile() string {
	if path := (debugSearch{f}).byBuildID(); path != "" {
		return path
	}
	return debugSearch{f}.byLink()
}

// WithDebugInfo gives the file itself if it has debug information, else its debug file, which the caller closes; nil if
// there is none.
func (f *File) WithDebugInfo() (*File, error) {
	for _, name := range []string{".debug_info", ".zdebug_info"} {
		if s := f.elf.Section(name); s != nil && s.Type != elf.SHT_NOBITS {
			return f, nil
		}
	}
	path := f.DebugFile()
	if path == "" {
		return nil, nil
	}
	opts := Options{Root: f.opts.Root, DebugDirs: f.opts.DebugDirs, Machine: f.Machine, companion: true}
	return Open(path, opts)
}

// byBuildID looks for .build-id/ab/cdef….debug.
func (f debugSearch) byBuildID() string {
	for _, path := range f.ofBuildID() {
		if f.matches(path, nil) {
			return path
		}
	}
	return ""
}

// ofBuildID are where the file can be by the build id.
func (f debugSearch) ofBuildID() (out []string) {
	if len(f.BuildID) < 4 {
		return nil
	}
	for _, dir := range f.dirs() {
		out = append(out, f.inRoot(filepath.Join(dir, ".build-id", f.BuildID[:2], f.BuildID[2:]+".debug")))
	}
	return out
}

// Refused names a debug file of a program that is there and is not taken, and says why: "p.debug, which is damaged"; ""
// where there is none.
func Refused(f *File) string {
	if f.DebugFile() != "" {
		return ""
	}
	s := debugSearch{f}
	linked, _ := s.linked()
	for _, path := range append(s.ofBuildID(), linked...) {
		file, size, err := regular(path)
		if err != nil || path == f.Path {
			continue
		}
		other, err := newFile(path, file, size, Options{Machine: f.Machine, companion: true})
		_ = file.Close() // it was only read
		switch {
		case err != nil:
			return path + ", which " + Damaged
		case f.BuildID != "" && other.BuildID != "":
			return path + ", which " + OfOtherBuild
		}
		return path + ", which " + OfOtherBuild + " or damaged" // by its checksum
	}
	return ""
}

// byLink follows .gnu_debuglink, a name, padding and a checksum: beside
// the file, in .debug beside it, and below /usr/lib/debug.
func (f debugSearch) byLink() string {
	candidates, sum := f.linked()
	for _, path := range candidates {
		if f.matches(path, &sum) {
			return path
		}
	}
	return ""
}

// linked are where the file can be by the link, and its checksum.
func (f debugSearch) linked() (candidates []string, sum uint32) {
	name, sum := f.link()
	if name == "" {
		return nil, 0
	}
	dir := filepath.Dir(f.Path)
	candidates = []string{filepath.Join(dir, name), filepath.Join(dir, ".debug", name)}
	inside := dir
	if rel, err := filepath.Rel(filepath.Join("/", f.opts.Root), dir); err == nil && filepath.IsAbs(dir) {
		inside = rel
	}
	for _, debug := range f.dirs() {
		candidates = append(candidates, f.inRoot(filepath.Join(debug, inside, name)))
	}
	return candidates, sum
}

// link is the name in .gnu_debuglink, and the checksum of the file; "" if there is none.
func (f debugSearch) link() (name string, sum uint32) {
	s := f.elf.Section(".gnu_debuglink")
	if s == nil {
		return "", 0
	}
	data, err := f.section(s, 4096)
	if err != nil {
		return "", 0
	}
	end := bytes.IndexByte(data, 0)
	at := int(roundUp(uint64(end+1), 4))
	if end < 1 || at+4 > len(data) || filepath.Base(string(data[:end])) != string(data[:end]) {
		return "", 0
	}
	return string(data[:end]), f.elf.ByteOrder.Uint32(data[at:])
}

// matches says whether a file is of the same build: by build id where both
// have one, else by its checksum.
func (f debugSearch) matches(path string, sum *uint32) bool {
	if _, ok := regularSize(path); !ok || path == f.Path {
		return false
	}
	file, size, err := regular(path)
	if err != nil {
		return false
	}
	defer file.Close()
	other, err := newFile(path, file, size, Options{Machine: f.Machine, companion: true})
	if err != nil {
		return false
	}
	if f.BuildID != "" && other.BuildID != "" {
		return f.BuildID == other.BuildID
	}
	if sum == nil {
		return false
	}
	hash := crc32.NewIEEE()
	_, err = io.Copy(hash, io.NewSectionReader(file, 0, size))
	return err == nil && hash.Sum32() == *sum
}

func (f *File) addDebugFile(t *functionTable) error {
	other, file, err := openDebugFile(f)
	if other == nil {
		return err
	}
	defer file.Close()
	return f.add(t, other.elf, elf.SHT_SYMTAB, FromDebugFile)
}

// openDebugFile opens the separate debug file of f, for whoever closes file; nil if there is none.
func openDebugFile(f *File) (other *File, file io.Closer, err error) {
	path := f.DebugFile()
	if path == "" {
		return nil, nil, nil
	}
	opened, size, err := regular(path)
	if err != nil {
		return nil, nil, err
	}
	if other, err = newFile(path, opened, size, Options{Machine: f.Machine, companion: true}); err != nil {
		opened.Close()
		return nil, nil, err
	}
	return other, opened, nil
}

// maxMiniDebug bounds what .gnu_debugdata unpacks to: a symbol table without
// what .dynsym has.
const maxMiniDebug = 64 << 20

// addMiniDebug reads .gnu_debugdata: an ELF file with a symbol table only,
// packed by xz, that Fedora's programs carry (gdb manual, MiniDebugInfo).
func (f *File) addMiniDebug(t *functionTable) error {
	s := f.elf.Section(".gnu_debugdata")
	if s == nil {
		return nil
	}
	packed, err := f.section(s, maxMiniDebug)
	if err != nil {
		return err
	}
	r, err := xz.ReaderConfig{SingleStream: true}.NewReader(bytes.NewReader(packed))
	if err != nil {
		return fmt.Errorf("%s: unpack .gnu_debugdata: %w", f.Path, err)
	}
	data, err := io.ReadAll(io.LimitReader(r, maxMiniDebug+1))
	if err != nil {
		return fmt.Errorf("%s: unpack .gnu_debugdata: %w", f.Path, err)
	}
	if len(data) > maxMiniDebug {
		return fmt.Errorf("%s is %w: .gnu_debugdata unpacks to more than %d bytes", f.Path, ErrMalformed, maxMiniDebug)
	}
	inner, err := Read(f.Path+" (.gnu_debugdata)", bytes.NewReader(data), int64(len(data)),
		Options{Machine: f.Machine, companion: true})
	if err != nil {
		return err
	}
	return f.add(t, inner.elf, elf.SHT_SYMTAB, FromMiniDebug)
}
