package doctor

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/point"
)

// healthy is root on a machine without limits.
func healthy() *Machine {
	m := &Machine{
		Version: kernel.Version{Major: 6, Minor: 12, Text: "6.12.1"}, Arch: "amd64",
		Capabilities: ^uint64(0), Memlock: 1 << 40, Lockdown: "none", TracefsPath: "/sys/kernel/tracing",
		Settings: map[string]string{"perf_event_paranoid": "2", "kptr_restrict": "0"},
		Tried:    map[kernel.Way]error{},
	}
	for _, w := range point.Ways() {
		m.Tried[w.Name] = nil
	}
	return m
}

// refuse makes ways fail.
func (m *Machine) refuse(err error, ways ...kernel.Way) {
	for _, w := range ways {
		m.Tried[w] = err
	}
}

// unprivileged takes all capabilities but those given.
func (m *Machine) unprivileged(but ...capability) {
	m.User, m.Capabilities = 1000, 0
	for _, c := range but {
		m.Capabilities |= 1 << c.bit
	}
	m.Tracefs = fmt.Errorf("%w to read /sys/kernel/tracing", kernel.ErrPermission)
	if len(but) == 0 {
		m.refuse(syscall.EPERM, kernel.WayLoad, kernel.WayRing)
	}
}

// situations are machines with the problems that are to be found, the first
// one for the first two lines.
var situations = []struct {
	name    string
	change  func(m *Machine)
	verdict string
	ids     string
}{
	{"nothing", func(m *Machine) {}, Works, ""},
	{"user", func(m *Machine) { m.unprivileged() }, Fails, "capabilities"},
	{"bpf and perfmon", func(m *Machine) { m.unprivileged(capBPF, capPerfmon) }, Partly, "tracefs"},
	{"admin alone", func(m *Machine) { m.Capabilities = 1 << capAdmin.bit }, Works, ""},
	{"container", func(m *Machine) {
		m.Capabilities, m.Container = 1<<capPtrace.bit, "Docker"
		m.refuse(syscall.EPERM, kernel.WayLoad, kernel.WayRing)
	}, Fails, "capabilities"},
	{"user namespace", func(m *Machine) {
		m.UserNamespace = true
		m.refuse(syscall.EPERM, kernel.WayLoad, kernel.WayRing)
	}, Fails, "user-namespace"},
	{"confidentiality", func(m *Machine) {
		m.Lockdown, m.Commanded = "confidentiality", true
		m.Tracefs = kernel.ErrLockdown
		m.refuse(syscall.EINVAL, kernel.WayMemory)
		m.refuse(syscall.EPERM, kernel.WayKprobe)
	}, Partly, "lockdown"},
	{"secure boot", func(m *Machine) { m.Lockdown, m.SecureBoot = "confidentiality", "on" }, Partly, "lockdown"},
	{"integrity", func(m *Machine) { m.Lockdown, m.Commanded = "integrity", true }, Works, "lockdown"},
	{"memlock", func(m *Machine) {
		m.Version = kernel.Version{Major: 5, Minor: 10, Text: "5.10.0"}
		m.unprivileged(capBPF, capPerfmon, capReadSearch)
		m.Memlock, m.Tracefs = 64<<10, nil
		m.refuse(syscall.EPERM, kernel.WayRing)
	}, Fails, "memlock"},
	{"seccomp", func(m *Machine) {
		m.Seccomp = true
		m.refuse(syscall.EPERM, kernel.WayLoad, kernel.WayRing)
	}, Fails, "forbidden"},
	{"filter of perf events", func(m *Machine) {
		m.Seccomp = true
		m.refuse(syscall.EPERM, kernel.WayProfile, kernel.WayTracepoint)
	}, Partly, "forbidden"},
	{"security module", func(m *Machine) { m.refuse(syscall.EACCES, kernel.WayLoad) }, Fails, "forbidden"},
	{"old", func(m *Machine) {
		m.Version = kernel.Version{Major: 5, Minor: 4, Text: "5.4.0"}
		m.refuse(syscall.EINVAL, kernel.WayRing)
	}, Fails, "kernel"},
	{"no bpf", func(m *Machine) {
		m.refuse(syscall.ENOSYS, kernel.WayLoad, kernel.WayRing, kernel.WayRaw, kernel.WayKprobe, kernel.WayKprobeMulti,
			kernel.WayFentry, kernel.WayUprobe)
	}, Fails, "calls"},
	{"bpf filtered", func(m *Machine) {
		m.Seccomp = true
		m.refuse(syscall.ENOSYS, kernel.WayLoad, kernel.WayRing)
	}, Fails, "calls"},
	{"no BTF", func(m *Machine) { m.BTF = errNoBTF }, Partly, "btf"},
	{"no tracefs", func(m *Machine) { m.Tracefs = kernel.ErrNoTracefs }, Partly, "tracefs"},
	{"no tracefs in a container", func(m *Machine) {
		m.Tracefs, m.Container = kernel.ErrNoTracefs, "Podman"
	}, Partly, "tracefs"},
	{"paranoid", func(m *Machine) {
		m.unprivileged(capBPF, capPerfmon, capReadSearch)
		m.Tracefs, m.Settings["perf_event_paranoid"] = nil, "3"
		m.refuse(syscall.EACCES, kernel.WayProfile, kernel.WayTracepoint)
	}, Partly, "paranoid"},
	{"no kprobes", func(m *Machine) {
		m.refuse(syscall.ENOENT, kernel.WayKprobe, kernel.WayKprobeMulti)
		m.refuse(syscall.EPERM, kernel.WayFentry)
	}, Partly, "kprobes"},
	{"kprobes switched off", func(m *Machine) {
		m.Tried[kernel.WayKprobe] = &kernel.SwitchedOff{What: "kprobes", File: "/sys/kernel/debug/kprobes/enabled"}
	}, Partly, "switched-off"},
	{"ftrace switched off", func(m *Machine) {
		off := &kernel.SwitchedOff{What: "probes of the kernel's functions", File: "/proc/sys/kernel/ftrace_enabled"}
		m.Tried[kernel.WayKprobe], m.Tried[kernel.WayFentry] = off, off
	}, Partly, "switched-off"},
	{"kprobes only", func(m *Machine) { m.refuse(syscall.EPERM, kernel.WayFentry) }, Works, ""},
	{"no uprobes", func(m *Machine) { m.refuse(syscall.ENOENT, kernel.WayUprobe) }, Partly, "uprobes"},
	{"uprobes by links", func(m *Machine) {
		m.unprivileged(capBPF, capPerfmon, capReadSearch)
		m.Tracefs = nil
		m.refuse(syscall.EACCES, kernel.WayUprobe)
	}, Works, ""},
	{"uprobes refused", func(m *Machine) {
		m.unprivileged(capBPF, capPerfmon, capReadSearch)
		m.Tracefs = nil
		m.refuse(syscall.EACCES, kernel.WayUprobe)
		m.refuse(syscall.EINVAL, kernel.WayUprobeMulti, kernel.WayUprobeSession)
	}, Partly, "admin"},
	{"several", func(m *Machine) {
		m.unprivileged()
		m.Lockdown, m.BTF = "confidentiality", errNoBTF
	}, Fails, "capabilities lockdown btf"},
}

var errNoBTF = errors.New("this kernel has no BTF")

func TestProblems(t *testing.T) {
	for _, tt := range situations {
		t.Run(tt.name, func(t *testing.T) {
			m := healthy()
			tt.change(m)
			r := Examine(m)
			var ids []string
			for _, p := range r.Problems {
				ids = append(ids, p.ID)
				if p.Cause == "" || p.Remedy == "" || strings.HasSuffix(p.Cause+p.Remedy, ".") {
					t.Errorf("%+v", p)
				}
			}
			if got := strings.Join(ids, " "); got != tt.ids || r.Verdict != tt.verdict {
				t.Errorf("problems %q, verdict %s, want %q, %s", got, r.Verdict, tt.ids, tt.verdict)
			}
		})
	}
}

// The document has each judgement word by word.
func TestDocument(t *testing.T) {
	text, err := os.ReadFile("../../docs/troubleshooting.md")
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("needs docs/ of the source tree, as make test has it")
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range situations {
		m := healthy()
		tt.change(m)
		var b strings.Builder
		Examine(m).judge(&b)
		for line := range strings.Lines(b.String()) {
			if !bytes.Contains(text, []byte("\n    "+line)) {
				t.Errorf("docs/troubleshooting.md lacks the line\n    %s", line)
			}
		}
	}
}

// What fails is explained by what can have made it fail, and nothing else is.
func TestExplain(t *testing.T) {
	tracefs := fmt.Errorf("%w here", kernel.ErrNoTracefs)
	for _, tt := range []struct {
		name   string
		change func(m *Machine)
		err    error
		id     string
	}{
		{"the script's own fault", func(m *Machine) { m.unprivileged() }, syscall.EINVAL, ""},
		{"rights", func(m *Machine) { m.unprivileged() }, syscall.EPERM, "capabilities"},
		{"types do not matter", func(m *Machine) { m.BTF = errNoBTF }, syscall.ENOENT, ""},
		{"types", func(m *Machine) { m.BTF = errNoBTF }, fmt.Errorf("x: %w", errNoBTF), "btf"},
		{"tracefs", func(m *Machine) { m.Tracefs = tracefs }, fmt.Errorf("x: %w", tracefs), "tracefs"},
		{"tracefs for a user", func(m *Machine) {
			m.unprivileged()
			m.Tracefs = tracefs
		}, fmt.Errorf("x: %w", tracefs), "capabilities"},
		{"rights, and no tracefs", func(m *Machine) { m.Tracefs = tracefs }, syscall.EPERM, "forbidden"},
		{"integrity is not it", func(m *Machine) { m.Lockdown = "integrity" }, syscall.EPERM, "forbidden"},
		{"no bpf", func(m *Machine) {}, fmt.Errorf("x: %w", syscall.ENOSYS), "calls"},
		{"lockdown", func(m *Machine) {
			m.Lockdown = "confidentiality"
		}, fmt.Errorf("x: %w", kernel.ErrLockdown), "lockdown"},
		{"seccomp", func(m *Machine) { m.Seccomp = true }, syscall.EPERM, "forbidden"},
		{"perf events", func(m *Machine) {
			m.unprivileged(capBPF, capPerfmon)
			m.Settings["perf_event_paranoid"] = "3"
		}, syscall.EACCES, "paranoid"},
		{"more rights", func(m *Machine) { m.unprivileged(capBPF, capPerfmon) }, syscall.EPERM, "admin"},
	} {
		m := healthy()
		tt.change(m)
		m.Tried = nil // a failing script tries nothing
		err := Explain(m, tt.err)
		var cause *CauseError
		id := ""
		if errors.As(err, &cause) {
			id = cause.Problem.ID
			lines := strings.SplitN(err.Error(), "\n", 3)
			if lines[0] != cause.Problem.Cause || !strings.Contains(lines[1], cause.Problem.Remedy) {
				t.Errorf("%s: %v", tt.name, err)
			}
		}
		if id != tt.id || !errors.Is(err, tt.err) {
			t.Errorf("%s: got %q (%v), want %q", tt.name, id, err, tt.id)
		}
	}
}

func TestLook(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	link := func(to string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(to), Mode: fs.ModeSymlink} }
	root := fstest.MapFS{
		"proc/self/ns/user": link("user:[4026532000]"), "proc/self/ns/pid": link(initialPIDNamespace),
		"run/.containerenv": file(""), "proc/self/status": file("Name:\tx\nSeccomp:\t2\nSeccomp_filters:\t1\n"),
		"sys/kernel/security/lockdown":        file("none [integrity] confidentiality\n"),
		"proc/cmdline":                        file("quiet lockdown=integrity\n"),
		secureBootFile:                        file("\x06\x00\x00\x00\x01"),
		"proc/sys/kernel/perf_event_paranoid": file("3\n"),
	}
	var got Machine
	got.look(root)
	want := Machine{
		UserNamespace: true, Container: "Podman", Seccomp: true, Lockdown: "integrity", Commanded: true,
		SecureBoot: "on", Settings: map[string]string{"perf_event_paranoid": "3"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for state, want := range map[byte]string{0: "", 1: "", 2: "off", 3: "on"} {
		params := make([]byte, 4096)
		params[secureBootAt] = state
		if got := secureBoot(fstest.MapFS{bootParams: file(string(params))}); got != want {
			t.Errorf("the kernel found %d: Secure Boot %q, want %q", state, got, want)
		}
	}
	var empty Machine
	empty.look(fstest.MapFS{})
	if diff := cmp.Diff(Machine{Settings: map[string]string{}}, empty); diff != "" {
		t.Error(diff)
	}
}

// Each setting has a meaning of its own.
func TestSettings(t *testing.T) {
	said := map[string]string{}
	for _, name := range settingNames {
		m := healthy()
		for _, value := range []string{"0", "1", "2", "4"} {
			meaning := m.setting(name, value)
			if other, is := said[meaning]; meaning == "" || is && other != name {
				t.Errorf("%s = %s means %q, as %s does", name, value, meaning, other)
			}
			said[meaning] = name
		}
	}
}

// Text and JSON say the same.
func TestWrite(t *testing.T) {
	m := healthy()
	m.unprivileged(capBPF, capPerfmon)
	r := Examine(m)
	var text, object strings.Builder
	if err := errors.Join(r.WriteText(&text), r.WriteJSON(&object)); err != nil {
		t.Fatal(err)
	}
	var back Report
	if err := json.Unmarshal([]byte(object.String()), &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(*r, back); diff != "" {
		t.Error(diff)
	}
	for _, f := range back.Findings {
		if !strings.Contains(text.String(), f.Text) || !strings.Contains(text.String(), f.Remedy) {
			t.Errorf("the text lacks %+v", f)
		}
	}
	if lines := strings.Split(text.String(), "\n"); !strings.HasPrefix(lines[0],
		"This machine can be traced, but for tracepoints: user 1000") || !strings.HasPrefix(lines[1], "Remedy: ") {
		t.Errorf("%s", text.String())
	}
}
