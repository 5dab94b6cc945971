// Command confine runs a command with fewer rights than it has itself, as setpriv, capsh, unshare and mount do
// together, for guests that have none of these:
//
//	confine -uid 65534 -caps bpf,perfmon -- startrace doctor
//	confine -hide /sys/kernel/btf -- startrace doctor
//
// It needs root. Its exit status is the command's.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// The command confine: another user, capabilities, namespaces and hidden folders for a command.

func main() {
	// Namespaces belong to threads, and the command is forked by this one.
	runtime.LockOSThread()
	status, err := run()
	if err != nil {
		fmt.Fprintln(os.Stderr, "confine:", err)
		os.Exit(125)
	}
	os.Exit(status)
}

func run() (int, error) {
	uid := flag.Int("uid", 0, "the user, also the group")
	caps := flag.String("caps", "all",
		"the capabilities: all (that the user has by itself), or names without CAP_, with commas between")
	namespace := flag.Bool("userns", false, "in a user namespace of its own, as root there")
	refused := flag.String("refuse", "", "a system call that a filter (seccomp) is to refuse: bpf or perf_event_open")
	memlock := flag.Int64("memlock", -1, "limit of locked memory in bytes")
	var hide repeated
	flag.Var(&hide, "hide", "a folder that is to seem empty; may be repeated")
	flag.Parse()
	if flag.NArg() == 0 {
		return 0, errors.New("no command")
	}
	if err := hideFolders(hide); err != nil {
		return 0, err
	}
	if *memlock >= 0 {
		limit := unix.Rlimit{Cur: uint64(*memlock), Max: uint64(*memlock)}
		if err := unix.Setrlimit(unix.RLIMIT_MEMLOCK, &limit); err != nil {
			return 0, fmt.Errorf("limit locked memory: %w", err)
		}
	}
	if *refused != "" {
		if err := refuse(*refused); err != nil {
			return 0, err
		}
	}
	cmd := exec.Command(flag.Arg(0), flag.Args()[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	if *namespace {
		enterNamespace(cmd.SysProcAttr)
	}
	if err := become(cmd.SysProcAttr, *uid, *caps); err != nil {
		return 0, err
	}
	err := cmd.Run()
	if cmd.ProcessState == nil {
		return 0, err
	}
	return cmd.ProcessState.ExitCode(), nil
}

// hideFolders mounts empty folders over others, in a mount namespace of this thread.
func hideFolders(folders []string) error {
	if len(folders) == 0 {
		return nil
	}
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("make a mount namespace: %w", err)
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil &&
		!errors.Is(err, unix.EINVAL) { // EINVAL: an initramfs is no mount point
		return fmt.Errorf("keep mounts from the other namespace: %w", err)
	}
	for _, folder := range folders {
		if err := unix.Mount("hidden", folder, "tmpfs", unix.MS_RDONLY, "mode=755"); err != nil {
			return fmt.Errorf("hide %s: %w", folder, err)
		}
	}
	return nil
}

func enterNamespace(attr *syscall.SysProcAttr) {
	attr.Cloneflags = syscall.CLONE_NEWUSER
	attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: 0, Size: 1}}
	attr.GidMappings = attr.UidMappings
}

// become chooses user and capabilities. Those of root are limited by the bounding set, which this thread hands on;
// those of others are ambient.
func become(attr *syscall.SysProcAttr, uid int, caps string) error {
	if uid != 0 {
		attr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}
	}
	if caps == "all" {
		return nil
	}
	keep := map[uintptr]bool{}
	for name := range strings.SplitSeq(caps, ",") {
		bit, known := capabilities[name]
		if !known && name != "" {
			return fmt.Errorf("no capability %q", name)
		}
		if name != "" {
			keep[bit] = true
		}
	}
	if uid == 0 {
		return bound(keep)
	}
	for bit := range keep {
		attr.AmbientCaps = append(attr.AmbientCaps, bit)
	}
	return nil
}

func bound(keep map[uintptr]bool) error {
	for bit := uintptr(0); ; bit++ {
		if _, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, bit, 0, 0, 0); err != nil {
			return nil // the last one was before
		}
		if keep[bit] {
			continue
		}
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, bit, 0, 0, 0); err != nil {
			return fmt.Errorf("drop capability %d: %w", bit, err)
		}
	}
}

// capabilities are those that the tests name.
var capabilities = map[string]uintptr{
	"dac_override": unix.CAP_DAC_OVERRIDE, "dac_read_search": unix.CAP_DAC_READ_SEARCH, "kill": unix.CAP_KILL,
	"sys_ptrace": unix.CAP_SYS_PTRACE, "sys_admin": unix.CAP_SYS_ADMIN, "syslog": unix.CAP_SYSLOG,
	"sys_resource": unix.CAP_SYS_RESOURCE, "perfmon": unix.CAP_PERFMON, "bpf": unix.CAP_BPF,
}

// repeated is a flag that may be given several times.
type repeated []string

func (r *repeated) String() string { return strings.Join(*r, " ") }

func (r *repeated) Set(value string) error {
	*r = append(*r, value)
	return nil
}
