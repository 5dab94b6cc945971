package main

import (
	"bufio"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
)

// The archive that a guest's kernel unpacks.

// archive writes the "newc" format of cpio that the kernel unpacks (Documentation/driver-api/early-userspace/
// buffer-format.rst): a header of hexadecimal numbers, the name, the data, each padded to four bytes.
type archive struct {
	to      *bufio.Writer
	inode   int
	written int64
	dirs    map[string]bool
	err     error // the first one; later entries are then dropped
}

func newArchive(to io.Writer) *archive {
	return &archive{to: bufio.NewWriterSize(to, 1<<20), dirs: map[string]bool{".": true, "/": true}}
}

// Modes of the entries: the type bits of stat(2) and permissions.
const (
	modeDir  = 0o040755
	modeFile = 0o100644
	modeExec = 0o100755
	modeLink = 0o120777
)

// dir adds a folder and those above it, once.
func (a *archive) dir(name string) {
	name = path.Clean(name)
	if a.dirs[name] {
		return
	}
	a.dirs[name] = true
	a.dir(path.Dir(name))
	a.entry(name, modeDir, nil)
}

// file adds a file with the given content.
func (a *archive) file(name string, mode int, data []byte) {
	a.dir(path.Dir(path.Clean(name)))
	a.entry(path.Clean(name), mode, data)
}

// link adds a symbolic link.
func (a *archive) link(name, target string) { a.file(name, modeLink, []byte(target)) }

// tree adds the file or the folder at from, with all below it, as name.
func (a *archive) tree(name, from string) {
	err := filepath.WalkDir(from, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		below, err := filepath.Rel(from, file)
		if err != nil {
			return err
		}
		return a.add(path.Join(name, filepath.ToSlash(below)), file)
	})
	a.fail(err)
}

// add adds one file or folder of the host, following a symbolic link.
func (a *archive) add(name, from string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	if info.IsDir() {
		a.dir(name)
		return nil
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	a.file(name, 0o100000|int(info.Mode().Perm()), data)
	return nil
}

func (a *archive) entry(name string, mode int, data []byte) {
	if a.err != nil {
		return
	}
	a.inode++
	const links, uid, gid, mtime, major, minor, rmajor, rminor, check = 1, 0, 0, 0, 0, 0, 0, 0, 0
	header := "070701"
	for _, field := range []int{
		a.inode, mode, uid, gid, links, mtime, len(data), major, minor, rmajor, rminor, len(name) + 1, check,
	} {
		header += fmt.Sprintf("%08X", field)
	}
	a.write([]byte(header + name + "\x00"))
	a.pad()
	a.write(data)
	a.pad()
}

func (a *archive) write(data []byte) {
	n, err := a.to.Write(data)
	a.written += int64(n)
	a.fail(err)
}

func (a *archive) pad() {
	if rest := a.written % 4; rest != 0 {
		a.write(slices.Repeat([]byte{0}, int(4-rest)))
	}
}

func (a *archive) fail(err error) {
	if a.err == nil {
		a.err = err
	}
}

// close ends the archive and returns the first error of all.
func (a *archive) close() error {
	a.entry("TRAILER!!!", 0, nil)
	a.fail(a.to.Flush())
	return a.err
}
