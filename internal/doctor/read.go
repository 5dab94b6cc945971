package doctor

import (
	"io/fs"
	"os"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/internal/kernel"
)

// What files of /proc, /sys and the firmware tell: containers, namespaces, secure boot.

// Read learns about the machine what files and this process's own state tell.
func Read(facts *kernel.Facts) (*Machine, error) {
	version, err := kernel.Release()
	if err != nil {
		return nil, err
	}
	held, err := kernel.OwnCapabilities()
	if err != nil {
		return nil, err
	}
	m := &Machine{Version: version, Arch: runtime.GOARCH, User: os.Geteuid(), Capabilities: held.Effective}
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_MEMLOCK, &limit); err != nil {
		return nil, err
	}
	m.Memlock = limit.Max // startrace raises the soft one
	_, m.BTF = facts.BTF()
	m.Tracefs = facts.CheckTracefs()
	m.TracefsPath, _ = facts.TracefsPath()
	m.look(os.DirFS("/"))
	return m, nil
}

// The initial namespaces have numbers that do not change (include/linux/proc_ns.h).
const (
	initialUserNamespace = "user:[4026531837]"
	initialPIDNamespace  = "pid:[4026531836]"
)

// look reads the files below root. What is not there or may not be read leaves
// a fact unknown.
func (m *Machine) look(root fs.FS) {
	m.UserNamespace = isOther(root, "proc/self/ns/user", initialUserNamespace)
	m.PIDNamespace = isOther(root, "proc/self/ns/pid", initialPIDNamespace)
	m.Container = findContainer(root)
	m.Seccomp = strings.Contains(text(root, "proc/self/status"), "\nSeccomp:\t2\n")
	m.Lockdown = kernel.ParseLockdown(text(root, "sys/kernel/security/lockdown"))
	m.Commanded = strings.Contains(" "+text(root, "proc/cmdline"), " lockdown=")
	m.SecureBoot = secureBoot(root)
	m.Settings = map[string]string{}
	for _, name := range settingNames {
		if value := strings.TrimSpace(text(root, "proc/sys/kernel/"+name)); value != "" {
			m.Settings[name] = value
		}
	}
}

// text is what a file holds, "" if it cannot be read.
func text(root fs.FS, name string) string {
	b, err := fs.ReadFile(root, name)
	if err != nil {
		return ""
	}
	return string(b)
}

func isOther(root fs.FS, link, initial string) bool {
	to, err := fs.ReadLink(root, link)
	return err == nil && to != initial
}

// findContainer recognises containers by what their makers leave in them.
func findContainer(root fs.FS) string {
	for _, mark := range []struct{ file, kind string }{
		{".dockerenv", "Docker"}, {"run/.containerenv", "Podman"}, {"run/systemd/container", "systemd"},
		{"var/run/secrets/kubernetes.io/serviceaccount", "Kubernetes"},
	} {
		if _, err := fs.Stat(root, mark.file); err == nil {
			return mark.kind
		}
	}
	return ""
}

// secureBootFile is the variable of UEFI that says whether it checked what it
// booted: 4 bytes of attributes, then 1 or 0 (UEFI 2.10, 3.3).
const secureBootFile = "sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"

// bootParams is what the loader gave to the kernel (x86). A byte of it says what
// the kernel found, by which it locks itself: 2 is off, 3 is on
// (arch/x86/include/uapi/asm/bootparam.h; enum efi_secureboot_mode, include/linux/efi.h).
const (
	bootParams   = "sys/kernel/boot_params/data"
	secureBootAt = 0x1ec
)

// secureBoot asks the firmware, whose variables need not be mounted, then the
// kernel.
func secureBoot(root fs.FS) string {
	if v := text(root, secureBootFile); len(v) == 5 {
		if v[4] == 1 {
			return "on"
		}
		return "off"
	}
	if v := text(root, bootParams); len(v) > secureBootAt {
		switch v[secureBootAt] {
		case 2:
			return "off"
		case 3:
			return "on"
		}
	}
	return ""
}
