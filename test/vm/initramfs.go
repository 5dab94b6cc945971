package main

import (
	"errors"
	"fmt"
	"os"
	"path"
	"strings"
)

// The root of a guest: init, busybox, mounts.

// job is one command to run in the guest.
type job struct {
	name  string   // shown in the summary
	dir   string   // below home; "" is home itself
	args  []string // the command
	tests bool     // a Go test binary, whose verbose output is to be counted
}

// carry is a file or folder of the host and its place in the guest.
type carry struct{ from, to string }

// load is what goes into one guest.
type load struct {
	jobs    []job
	files   []carry
	modules []string
	env     []string
	shared  map[string][]string // by package, the tests of which each kernel takes a part
	passed  map[string]bool     // "package test" that passed on this machine, of which it has taken a part
}

const (
	// home is the folder of the guest that stands for the one in which this command was started.
	home = "/vm"
	// outbox is the folder whose files are carried out at the end.
	outbox = "/out"
	// marker begins the lines by which the guest's init talks to this command.
	marker = "@@startrace-vm "
)

// buildInitramfs writes the guest's root: busybox, an init script, modules and the files of the load. It is not
// compressed, because an emulated CPU takes longer to decompress it than QEMU to copy it.
func buildInitramfs(name string, k fetched, l load) error {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	a := newArchive(file)
	addSystem(a, k)
	modules, err := k.modules(l.modules)
	a.fail(err)
	for _, m := range modules {
		a.file("modules/"+m.name+".ko", modeFile, m.data)
	}
	for _, c := range l.files {
		a.tree(strings.TrimPrefix(c.to, "/"), c.from)
	}
	a.file("init", modeExec, []byte(initScript(k.arch, modules, l)))
	return errors.Join(a.close(), file.Close())
}

// addSystem adds busybox, to which init gives all its names, and the few files that programs expect of a system.
func addSystem(a *archive, k fetched) {
	for _, dir := range []string{"proc", "sys", "dev", "tmp", "run", "root", "var/tmp", outbox[1:], home[1:]} {
		a.dir(dir)
	}
	busybox, err := k.busybox()
	a.fail(err)
	program, err := os.ReadFile(busybox)
	a.fail(err)
	a.file("bin/busybox", modeExec, program)
	a.link("bin/sh", "busybox")
	a.link("sbin", "bin")
	a.link("usr/bin", "../bin")
	a.file("etc/passwd", modeFile, []byte("root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/sh\n"))
	a.file("etc/group", modeFile, []byte("root:x:0:\nnogroup:x:65534:\n"))
	a.file("etc/hosts", modeFile, []byte("127.0.0.1 localhost\n"))
}

// mounts are made in this order, by busybox under its other names. What a kernel lacks is left out: the tests say what
// they need. The kernel gives the root half of the memory, which the binaries of the tests nearly fill: it may have
// more.
const mounts = `
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -o remount,size=80% /
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
ln -s /proc/self/fd /dev/fd
mkdir -p /dev/pts /dev/shm
mount -t devpts devpts /dev/pts
mount -t tmpfs shm /dev/shm
mount -t tracefs tracefs /sys/kernel/tracing
mount -t debugfs debugfs /sys/kernel/debug
mount -t bpf bpf /sys/fs/bpf
mount -t securityfs securityfs /sys/kernel/security
mount -t cgroup2 cgroup2 /sys/fs/cgroup
ip link set lo up
`

// initScript is the guest's first process. The console has the kernel's messages, the second serial line the
// output of the jobs with our marker lines, the third the files that are carried out.
func initScript(of arch, modules []module, l load) string {
	var b strings.Builder
	b.WriteString("#!/bin/sh\nexport PATH=/bin HOME=/root TMPDIR=/tmp STARTRACE_VM=1\n" + mounts)
	b.WriteString("ulimit -l unlimited\nulimit -n 65536\n")
	fmt.Fprintf(&b, "for line in %s %s; do stty -F /dev/$line raw -echo; done\nexec </dev/null >/dev/%[1]s 2>&1\n",
		of.jobs, of.files)
	for _, m := range modules {
		fmt.Fprintf(&b, "insmod /modules/%s.ko\n", m.name)
	}
	for _, variable := range l.env {
		fmt.Fprintf(&b, "export %s\n", quote(variable))
	}
	fmt.Fprintf(&b, "echo '%sready'\n", marker)
	for i, j := range l.jobs {
		words := make([]string, len(j.args))
		for i, word := range j.args {
			words[i] = quote(word)
		}
		fmt.Fprintf(&b, "echo '%sbegin %d'\n(cd %s && exec %s)\necho \"%send %d $?\"\n",
			marker, i, quote(path.Join(home, j.dir)), strings.Join(words, " "), marker, i)
	}
	fmt.Fprintf(&b, "cd %s && [ -n \"$(ls -A)\" ] && tar -c . >/dev/%s\n", outbox, of.files)
	fmt.Fprintf(&b, "echo '%sdone'\nsync\npoweroff -f\n", marker)
	return b.String()
}

// quote makes one word of a shell.
func quote(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }
