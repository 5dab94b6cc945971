package symbols

import (
	"os"
	"syscall"
	"time"

	"github.com/startrace/startrace/internal/elffile"
)

// files are the tables that were read, up to a number of bytes.
type files struct {
	byID  map[fileVersion]*kept
	bytes int
	clock uint64 // of uses
	most  int    // bytes; 0 is maxTables
}

// A kept table is used by one or more files of the same build.
type kept struct {
	*file
	used uint64
}

// maxTables bounds the tables in memory: those of a desktop's programs take
// some 50 MB.
const maxTables = 256 << 20

// A fileVersion is a file as it was when it was read: one that is written anew
// in its place is another.
type fileVersion struct {
	fileID
	size     int64
	modified time.Time
}

// mapped gives the table of a mapping's file; nil if it cannot be read. A
// mapping remembers which file it is, not the table, which may have to go.
func (t *Table) mapped(p *process, m *area) *file {
	if m.Path == vdsoName {
		return t.vdsoTable(m)
	}
	if m.Inode == 0 || m.unreadable {
		return nil
	}
	if m.version != (fileVersion{}) {
		if f := t.files.get(m.version); f != nil {
			return f
		}
	}
	f := t.openMapped(p, m)
	m.unreadable = f == nil
	return f
}

func (t *Table) vdsoTable(m *area) *file {
	if t.vdso == nil {
		t.vdso, t.vdsoSize = readVDSO()
	}
	if t.vdsoSize != m.End-m.Start {
		return nil
	}
	return t.vdso
}

func (t *Table) openMapped(p *process, m *area) *file {
	for _, place := range p.places(m) {
		st, err := os.Stat(place.path)
		if err != nil || !st.Mode().IsRegular() {
			continue
		}
		if sys, ok := st.Sys().(*syscall.Stat_t); place.check && (!ok || sys.Ino != m.Inode) {
			continue
		}
		m.version = fileVersion{m.id(), st.Size(), st.ModTime()}
		if f := t.files.get(m.version); f != nil {
			return f
		}
		return t.files.read(m.version, place.path, p.root())
	}
	return nil
}

// A place is a path by which a mapped file may be opened.
type place struct {
	path string
	// check that it has the inode of the mapping: another file may have taken the
	// path since. (Where a process lives its mapping says if that is so; and
	// overlayfs shows inodes in mappings that are not those of its files.)
	check bool
}

// places are, in this order: through the process, as long as it lives; its
// mapping, which also has deleted files (proc_pid_map_files(5)); and, if it
// lived in our mount namespace, as everybody does.
func (p *process) places(m *area) (out []place) {
	if !m.Deleted {
		out = append(out, place{p.root() + m.Path, false})
	}
	out = append(out, place{p.dir() + "/map_files/" + m.Range(), false})
	if !m.Deleted && !p.foreign {
		out = append(out, place{m.Path, true})
	}
	return out
}

func (fs *files) get(version fileVersion) *file {
	k := fs.byID[version]
	if k == nil {
		return nil
	}
	fs.clock++
	k.used = fs.clock
	return k.file
}

// read reads a file that was not known. One of a build that is known already,
// as in another container, shares its table.
func (fs *files) read(version fileVersion, path, root string) *file {
	f, err := elffile.Open(path, elffile.Options{Root: root})
	if err != nil {
		return fs.add(version, &file{})
	}
	defer f.Close()
	if f.BuildID != "" {
		for _, k := range fs.byID {
			if k.buildID == f.BuildID {
				return fs.add(version, k.file)
			}
		}
	}
	return fs.add(version, newFile(f))
}

func (fs *files) add(version fileVersion, f *file) *file {
	if fs.byID == nil {
		fs.byID = make(map[fileVersion]*kept)
	}
	fs.clock++
	fs.byID[version] = &kept{f, fs.clock}
	fs.bytes += f.bytes()
	for fs.bytes > fs.limit() && len(fs.byID) > 1 {
		fs.dropOldest()
	}
	return f
}

func (fs *files) limit() int {
	if fs.most == 0 {
		return maxTables
	}
	return fs.most
}

// dropOldest counts a table that two files share twice: that errs on the side
// of less memory.
func (fs *files) dropOldest() {
	var oldest fileVersion
	at := fs.clock + 1
	for version, k := range fs.byID {
		if k.used < at {
			oldest, at = version, k.used
		}
	}
	fs.bytes -= fs.byID[oldest].bytes()
	delete(fs.byID, oldest)
}
