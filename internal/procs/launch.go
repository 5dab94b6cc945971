package procs

import (
	"fmt"
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// How the command of -c is started: its descriptors and streams.

// launch starts the child and learns its number in the initial namespace.
func (c *Child) launch(argv []string, apart *Streams) (err error) {
	in := inheritedBy(apart)
	defer in.close()
	p := params{whoami: -1}
	if p.start, p.report, err = c.connect(&in); err != nil {
		return err
	}
	initial, err := inInitialNamespace()
	if err == nil && !initial {
		var who whoami
		if who, err = loadWhoami(); err == nil {
			p.whoami = in.add(who)
		}
	}
	if err == nil {
		err = c.run(argv, p, in)
	}
	in.close() // the child has its own ends now, and must see when ours close
	if err == nil && !initial {
		err = c.Ready()
	}
	if err != nil {
		c.Abandon()
	}
	return err
}

// connect makes the two pipes to the child.
func (c *Child) connect(in *inherited) (start, report int32, err error) {
	var s, r [2]int
	if err := unix.Pipe2(s[:], unix.O_CLOEXEC); err != nil {
		return 0, 0, fmt.Errorf("pipe: %w", err)
	}
	c.start = os.NewFile(uintptr(s[1]), "start")
	start = in.add(os.NewFile(uintptr(s[0]), "start"))
	if err := unix.Pipe2(r[:], unix.O_CLOEXEC); err != nil {
		c.start.Close()
		return 0, 0, fmt.Errorf("pipe: %w", err)
	}
	c.report = os.NewFile(uintptr(r[0]), "report")
	return start, in.add(os.NewFile(uintptr(r[1]), "report")), nil
}

// run starts the stub, or this executable if the stub cannot run.
func (c *Child) run(argv []string, p params, in inherited) error {
	pid, err := runStub(append([]string{marker, c.path}, argv...), p, in)
	if err != nil {
		c.unheld = err
		words := append([]string{marker}, p.words()...)
		pid, err = in.start("/proc/self/exe", append(append(words, c.path), argv...))
	}
	c.process.pid, c.init = pid, pid
	return err
}

func runStub(words []string, p params, in inherited) (pid int, err error) {
	file, err := newImage()
	if err != nil {
		return 0, err
	}
	defer file.Close()
	p.image = in.place(file)
	if _, err := file.Write(image(p)); err != nil {
		return 0, fmt.Errorf("file in memory: %w", err)
	}
	return in.start(fmt.Sprintf("/proc/self/fd/%d", p.image), words)
}

// inherited is what a child inherits: all that is meant to be inherited by a
// command, under its own number, and in the gaps what the stub needs.
type inherited struct {
	own   []io.Closer
	files []uintptr // by the number in the child
	apart bool      // in a process group of its own
}

// inheritedBy begins with the standard streams, where they are the child's own.
func inheritedBy(apart *Streams) (in inherited) {
	if apart == nil {
		return in
	}
	in.apart = true
	for i, f := range []*os.File{apart.In, apart.Out, apart.Err} {
		fd := uintptr(i)
		if f != nil {
			fd = f.Fd()
		}
		in.files = append(in.files, fd)
	}
	return in
}

// A descriptor is something with a descriptor that can be passed on.
type descriptor interface {
	io.Closer
	Fd() uintptr
}

// add passes on a file, which inherited owns from now on, and gives its number
// in the child.
func (in *inherited) add(f descriptor) int32 {
	in.own = append(in.own, f)
	return in.place(f)
}

// place passes on a file under the lowest number that is free in the child.
func (in *inherited) place(f descriptor) int32 {
	for passedOn(len(in.files)) {
		in.files = append(in.files, uintptr(len(in.files)))
	}
	in.files = append(in.files, f.Fd())
	return int32(len(in.files) - 1)
}

func passedOn(fd int) bool {
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
	return err == nil && flags&unix.FD_CLOEXEC == 0
}

// start starts a program with what it inherits. os.StartProcess would take
// over the descriptors that belong to nobody here; see also process.
func (in *inherited) start(path string, words []string) (pid int, err error) {
	pid, _, err = syscall.StartProcess(path, words, &syscall.ProcAttr{
		Env: os.Environ(), Files: in.files, Sys: &syscall.SysProcAttr{Setpgid: in.apart},
	})
	return pid, err
}

// close closes the files of the parent; a second time it does nothing.
func (in *inherited) close() {
	for _, f := range in.own {
		f.Close() // they were only passed on
	}
	in.own = nil
}
