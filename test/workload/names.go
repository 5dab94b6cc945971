package main

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// The work names: files named, renamed, listed and removed.

// names gives names in a folder, which becomes the working folder, in all ways that there are, changes them, lists the
// folder and takes the names away; between that it sets the length of a file in all ways. What fails gives no name.
func names(s settings, args []string) (func() (report, error), error) {
	if len(args) != 1 {
		return nil, errors.New("names takes a folder")
	}
	if err := os.Chdir(args[0]); err != nil {
		return nil, err
	}
	const comm = "wl-names"
	return func() (report, error) {
		tids, err := onThreads(1, comm, s.pin, func(int) error {
			return errors.Join(giveNames(args[0]), setLengths(args[0]), changeNames(args[0]), takeNames())
		})
		return report{Comm: comm, TIDs: tids}, err
	}, nil
}

func giveNames(dir string) error {
	return errors.Join(
		unix.Mkdir("sub", 0o700),
		unix.Mknod(dir+"/file", unix.S_IFREG|0o600, 0),
		unix.Link("file", "sub/link"),
		unix.Symlink("file", "symlink"),
		unix.Mknodat(unix.AT_FDCWD, "sub/fifo", unix.S_IFIFO|0o600, 0),
		bindTo("socket"),
		bindTo("@abstract"),
		fails(unix.Link("gone", "other"), unix.ENOENT),
		fails(unix.Symlink("file", "symlink"), unix.EEXIST),
		fails(unix.Access("", 0), unix.ENOENT),
	)
}

// bindTo gives a socket a name; one that begins with @ is not in a folder.
func bindTo(name string) error {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	return errors.Join(unix.Bind(fd, &unix.SockaddrUnix{Name: name}), unix.Close(fd))
}

func fails(err, want error) error {
	if errors.Is(err, want) {
		return nil
	}
	return fmt.Errorf("%v, want %w", err, want)
}

func setLengths(dir string) error {
	err := errors.Join(unix.Truncate("file", 50), fails(unix.Truncate("gone", 50), unix.ENOENT))
	fd, openErr := unix.Open(dir+"/file", unix.O_RDWR, 0)
	if openErr != nil {
		return openErr
	}
	err = errors.Join(err, unix.Ftruncate(fd, 100), unix.Fallocate(fd, 0, 0, 8192), unix.Close(fd))
	only, openErr := unix.Open("file", unix.O_PATH, 0) // which is no open to those who watch files
	return errors.Join(err, openErr, fails(unix.Ftruncate(only, 1), unix.EBADF), unix.Close(only))
}

func changeNames(dir string) error {
	exchange := func(a, b string) error {
		return unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
	}
	return errors.Join(unix.Rename("file", "file 2"), unix.Rename("file 2", dir+"/sub/file"),
		exchange("symlink", "sub/file"), list("sub"))
}

// list reads a folder to its end.
func list(name string) error {
	fd, err := unix.Open(name, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	for n := 1; n > 0 && err == nil; {
		n, err = unix.Getdents(fd, make([]byte, 4096))
	}
	return errors.Join(err, unix.Close(fd))
}

func takeNames() error {
	var err error
	for _, name := range []string{"sub/link", "sub/fifo", "sub/file", "symlink", "socket"} {
		err = errors.Join(err, unix.Unlink(name))
	}
	return errors.Join(err, unix.Rmdir("sub"))
}
