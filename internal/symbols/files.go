package symbols

import (
	"io"
	"os"
	"syscall"
	"time"

	"github.com/startrace/startrace/internal/elffile"
	"github.com/startrace/startrace/internal/until"
)

// Files of which tables were read, and how a mapped file is opened, also a deleted one (`places`).

// files are the tables that were read, up to a number of bytes.
type files struct {
	byID  map[fileVersion]*kept
	bytes int
	clock uint64 // of uses
	most  int    // bytes; 0 is maxTables
	// held are open until they are read: they may have no name any more.
	held map[fileVersion]*heldFile
	// lines keeps files with debug information.
	lines bool
	// room lets in who reads a table.
	room until.Room
	// reading are the tables that are read just now.
	reading map[fileVersion]*until.Later[*file]
}

// A heldFile is of our own mount namespace.
type heldFile struct {
	*os.File
	path string
}

// A kept table is used by one or more files of the same build.
type kept struct {
	*file
	used uint64
}

// maxTables bounds the tables in memory.
const maxTables = 256 << 20

// A fileVersion is a file as it was when it was read: one that is written anew
// in its place is another.
type fileVersion struct {
	fileID
	size     int64
	modified time.Time
}

// mapped gives the table of an area's file; nil if it cannot be read. An area
// remembers which file it is, not the table, which may have to go.
func (t *Namer) mapped(p *Process, a *area) *file {
	t.files.lines, t.files.room = t.Lines, t.Room
	if a.Path == vdsoName {
		return t.vdsoTable(a)
	}
	if a.Inode == 0 || a.unreadable {
		return nil
	}
	if a.version != (fileVersion{}) && t.files.begun(a.version) {
		return t.read(a.version)
	}
	a.unreadable = !t.openMapped(p, a)
	if a.unreadable {
		t.unopened(p)
		return nil
	}
	return t.read(a.version)
}

// read gives the table of a file that has begun; nil if it is not read in time.
func (t *Namer) read(version fileVersion) *file {
	if f := t.files.get(version); f != nil {
		return f
	}
	f, ok := t.files.reading[version].Value(t.Wait)
	if !ok {
		t.late()
		return nil
	}
	delete(t.files.reading, version)
	if f.unread != nil && t.Unread != nil {
		t.Unread(f.unread)
		t.Unread = nil
	}
	return t.files.add(version, f)
}

func (t *Namer) vdsoTable(a *area) *file {
	if t.vdso == nil {
		t.vdso, t.vdsoSize = readVDSO()
	}
	if t.vdsoSize != a.End-a.Start {
		return nil
	}
	return t.vdso
}

// openMapped begins the table of an area's file, if that can be opened.
func (t *Namer) openMapped(p *Process, a *area) bool {
	for _, at := range t.places(p, a) {
		if !a.isAt(at) {
			continue
		}
		if t.files.begun(a.version) {
			return true
		}
		f, err := elffile.Open(at.path, elffile.Options{Root: at.root})
		if err != nil && !a.isAt(at) {
			continue // the process has ended since
		}
		if err != nil {
			t.files.add(a.version, &file{})
		} else {
			t.files.table(a.version, f, f)
		}
		return true
	}
	return false
}

// secure makes sure that the files of some addresses can be read later, when
// the process has ended, and perhaps its files are gone: those are held open, or
// read if there will be no way to others that belong to them.
func (t *Namer) secure(p *Process, addrs []uint64) {
	t.look(p)
	for _, addr := range addrs {
		a := p.mapping(addr)
		switch {
		case a == nil:
		case a.anonymous():
			t.compiled(p, addr)
		case a.Inode == 0 || t.files.has(a.version):
		case p.foreign || p.jail != nil || p.over || a.Deleted:
			t.mapped(p, a)
		default:
			t.hold(p, a)
		}
	}
}

func (t *Namer) hold(p *Process, a *area) {
	at, ok := t.find(p, a)
	if !ok || t.files.has(a.version) {
		return
	}
	f, err := os.Open(at.path)
	if err != nil {
		return // as good as not there: it is tried again when it is asked for
	}
	if len(t.files.held) >= maxHeld {
		t.readHeld()
	}
	t.files.hold(a.version, f, a.Path)
}

// has reports whether the functions of a file are known, or can be read although the file has no name any more. It is
// not enough that somebody has looked at the file.
func (fs *files) has(version fileVersion) bool {
	return fs.get(version) != nil || fs.held[version] != nil || fs.reading[version] != nil
}

// readHeld reads what is held, one after another: tables take memory while they are made.
func (t *Namer) readHeld() {
	for version := range t.files.held {
		if t.files.begun(version) {
			t.read(version)
		}
	}
}

// find gives the path at which the file of an area can be opened.
func (t *Namer) find(p *Process, a *area) (candidate, bool) {
	for _, at := range t.places(p, a) {
		if a.isAt(at) {
			return at, true
		}
	}
	return candidate{}, false
}

// isAt reports whether the file of an area is there, and notes which version.
func (a *area) isAt(at candidate) bool {
	st, err := os.Stat(at.path)
	if err != nil || !st.Mode().IsRegular() {
		return false
	}
	if sys, ok := st.Sys().(*syscall.Stat_t); at.check && (!ok || sys.Ino != a.Inode) {
		return false
	}
	a.version = fileVersion{a.id(), st.Size(), st.ModTime()}
	return true
}

// A candidate is a path by which a mapped file may be opened.
type candidate struct {
	path string
	root string // of its mount namespace, "" for ours
	// check that it has the inode of the mapping: another file may have taken the
	// path since. (Where a process lives its mapping says if that is so; and
	// overlayfs shows inodes in mappings that are not those of its files.)
	check bool
}

// places are, in this order: through the process, as long as it lives; its
// mapping, which also has deleted files (proc_pid_map_files(5)); if it lived in
// our mount namespace, as everybody does; through the next of its ancestors
// that lives, and through roots of processes that were seen.
func (t *Namer) places(p *Process, a *area) (out []candidate) {
	if !p.over {
		if !a.Deleted {
			out = append(out, candidate{p.root() + a.Path, p.root(), false})
		}
		out = append(out, candidate{p.dir() + "/map_files/" + a.Range(), p.root(), false})
		if a.Path == p.program { // also without the right that map_files wants
			out = append(out, candidate{p.dir() + "/exe", p.root(), true})
		}
	}
	if a.Deleted {
		return out
	}
	if !p.foreign {
		out = append(out, candidate{a.Path, "", true})
	}
	if p.over {
		if near := t.living(p); near != nil {
			out = append(out, candidate{near.root() + a.Path, near.root(), true})
		}
		out = append(out, t.jailed(p, a)...)
	}
	return out
}

// maxAncestors bounds how far up a process that lives is looked for.
const maxAncestors = 8

// living is the process or the next of its ancestors that lives, nil if none is
// known.
func (t *Namer) living(p *Process) *Process {
	for range maxAncestors {
		if p == nil || !p.over {
			return p
		}
		p = t.processes.byPID[p.parent]
	}
	return nil
}

// begun reports whether the table of a file was read, or begins to be read: it was held until now. One that cannot be
// read has no names.
func (fs *files) begun(version fileVersion) bool {
	if fs.get(version) != nil || fs.reading[version] != nil {
		return true
	}
	h := fs.held[version]
	if h == nil {
		return false
	}
	delete(fs.held, version)
	f, err := elffile.Read(h.path, h, version.size, elffile.Options{})
	if err != nil {
		fs.add(version, &file{})
		h.Close() // it was only read
	} else {
		fs.table(version, f, h)
	}
	return true
}

// maxHeld bounds the descriptors of files that wait to be read.
const maxHeld = 64

func (fs *files) hold(version fileVersion, f *os.File, path string) {
	if fs.held == nil {
		fs.held = make(map[fileVersion]*heldFile)
	}
	fs.held[version] = &heldFile{f, path}
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

// table makes the table of a file, and closes what holds it; one of a build that is known already, as in another
// container, shares its table.
func (fs *files) table(version fileVersion, f *elffile.File, held io.Closer) {
	table := fs.ofBuild(f.BuildID)
	if table == nil {
		if fs.reading == nil {
			fs.reading = make(map[fileVersion]*until.Later[*file])
		}
		lines, room := fs.lines, fs.room
		fs.reading[version] = until.Compute(func() *file {
			leave, err := room.Enter(f.FunctionsMemory())
			if err != nil {
				held.Close() // it was only read
				return &file{unread: err}
			}
			defer leave()
			return readTable(f, held, lines, room)
		})
		return
	}
	fs.add(version, table)
	held.Close() // it was only read
}

// readTable makes the table of a file, and closes it unless that is needed for the lines of its source.
func readTable(f *elffile.File, held io.Closer, lines bool, room until.Room) *file {
	out, kept := newFile(f), false
	if lines {
		if out.sources, kept = newSources(f, held); kept {
			out.sources.room = room
		}
	}
	if !kept {
		held.Close() // it was only read
	}
	return out
}

// ofBuild gives the table of a build, nil if none is known.
func (fs *files) ofBuild(id string) *file {
	for _, k := range fs.byID {
		if id != "" && k.buildID == id {
			return k.file
		}
	}
	return nil
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
	fs.closeOldest()
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
	gone := fs.byID[oldest].file
	fs.bytes -= gone.bytes()
	delete(fs.byID, oldest)
	for _, k := range fs.byID {
		if k.file == gone {
			return
		}
	}
	if gone.sources != nil {
		_ = gone.sources.close() // it was only read
	}
}
