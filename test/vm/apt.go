package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
)

// Packages of Debian found and fetched by an apt of its own.

// keyring signs all suites of Debian, old ones too (package debian-archive-keyring).
const keyring = "/usr/share/keyrings/debian-archive-keyring.gpg"

// aptRoot is an apt configuration of our own: its own sources, lists and cache below dir, so that the machine's
// packages and lists stay as they are. Proxy and authentication settings are still the machine's.
type aptRoot struct {
	dir  string
	arch arch
}

// mirrors are the addresses from which this machine gets Debian; security may be empty.
type mirrors struct{ main, security string }

// findMirrors reads the machine's own apt configuration: the sources of its release and of the security suite.
func findMirrors() (mirrors, error) {
	codename, err := debianCodename()
	if err != nil {
		return mirrors{}, err
	}
	out, err := output("apt-get", "indextargets", "--format", "$(RELEASE) $(COMPONENT) $(REPO_URI)",
		"Created-By: Packages")
	if err != nil {
		return mirrors{}, fmt.Errorf("read the apt configuration: %w", err)
	}
	var found mirrors
	for line := range strings.Lines(out) {
		fields := strings.Fields(line)
		if len(fields) != 3 || fields[1] != "main" {
			continue
		}
		switch fields[0] {
		case codename, "stable":
			found.main = fields[2]
		case codename + "-security", "stable-security":
			found.security = fields[2]
		}
	}
	if found.main == "" {
		return mirrors{}, fmt.Errorf("the apt configuration names no mirror for Debian %s", codename)
	}
	return found, nil
}

func debianCodename() (string, error) {
	release, err := os.ReadFile("/etc/os-release")
	if err != nil {
		return "", err
	}
	m := regexp.MustCompile(`(?m)^VERSION_CODENAME="?(\w+)"?$`).FindSubmatch(release)
	if m == nil {
		return "", errors.New("/etc/os-release has no VERSION_CODENAME: " +
			"kernels are fetched with the apt of a Debian machine")
	}
	return string(m[1]), nil
}

// update writes the sources and fetches the lists of all suites.
func (a aptRoot) update() error {
	from, err := findMirrors()
	if err != nil {
		return err
	}
	for _, dir := range []string{"state/lists/partial", "cache/archives/partial"} {
		if err := os.MkdirAll(filepath.Join(a.dir, dir), 0o755); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(a.dir, "sources.list"), a.sources(from), 0o644); err != nil {
		return err
	}
	// A suite that the mirror lacks fails the update; the lists of the others are there nevertheless, and a kernel
	// that is then not found is the error that matters.
	if err := run("apt-get", a.options("-qq", "update")...); err != nil {
		fmt.Fprintf(os.Stderr, "vm: apt-get update: %v; going on with the lists that are there\n", err)
	}
	return nil
}

// sources is the text of sources.list: package lists only, no descriptions, icons or translations.
func (a aptRoot) sources(from mirrors) []byte {
	var b bytes.Buffer
	for _, suite := range suites(a.arch) {
		uri := from.main
		if strings.HasSuffix(suite, "-security") {
			uri = from.security
		}
		if uri != "" {
			fmt.Fprintf(&b, "deb [arch=%s target=Packages signed-by=%s] %s %s main\n", a.arch.name, keyring, uri, suite)
		}
	}
	return b.Bytes()
}

// candidates returns the releases ("6.12.117+deb13") for which every package of k exists, newest first. A list may
// name packages that the mirror has not got yet or any more, so the caller tries one after the other.
func (a aptRoot) candidates(k kernel) ([]string, error) {
	pattern := k.packages[0]
	number, _, _ := strings.Cut(k.version, "-")
	release := strings.ReplaceAll(number, ".", "[.]") + `[.][0-9]+([-+][^-]*)?`
	out, err := output("apt-cache", a.options("search", "--names-only", "^"+fmt.Sprintf(pattern, release)+"$")...)
	if err != nil {
		return nil, err
	}
	before, after, _ := strings.Cut(pattern, "%s")
	var found []string
	for line := range strings.Lines(out) {
		name, _, _ := strings.Cut(line, " ")
		found = append(found, strings.TrimSuffix(strings.TrimPrefix(name, before), after))
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("no package %s for kernel %s in %s", fmt.Sprintf(pattern, "*"), k.version,
			strings.Join(k.suites, ", "))
	}
	sort.Slice(found, func(i, j int) bool { return newer(found[i], found[j]) })
	return found, nil
}

// download fetches a package, checked against the signed lists, into dir and returns its file.
func (a aptRoot) download(name, dir string) (string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	cmd := exec.Command("apt-get", a.options("-qq", "download", name)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("apt-get download %s: %w: %s", name, err, bytes.TrimSpace(out))
	}
	files, err := filepath.Glob(filepath.Join(dir, name+"_*.deb"))
	if err != nil || len(files) != 1 {
		return "", fmt.Errorf("apt-get download %s left %d files: %w", name, len(files), err)
	}
	return files[0], nil
}

func (a aptRoot) options(args ...string) []string {
	return append([]string{
		"-o", "Dir::Etc::SourceList=" + filepath.Join(a.dir, "sources.list"),
		"-o", "Dir::Etc::SourceParts=/dev/null",
		"-o", "Dir::State=" + filepath.Join(a.dir, "state"),
		"-o", "Dir::State::status=/dev/null",
		"-o", "Dir::Cache=" + filepath.Join(a.dir, "cache"),
		"-o", "APT::Architecture=" + a.arch.name,
		"-o", "APT::Architectures::=" + a.arch.name,
		"-o", "Acquire::Languages=none",
		"-o", "Acquire::Check-Valid-Until=false", // an archived suite is signed, but no longer renewed
		"-o", "Acquire::Retries=3",
		"-o", "APT::Sandbox::User=root", // the cache may lie where user _apt cannot write
	}, args...)
}

var number = regexp.MustCompile(`\d+|\D+`)

// newer orders releases by their numbers, so that 6.12.117 comes before 6.12.96.
func newer(a, b string) bool {
	x, y := number.FindAllString(a, -1), number.FindAllString(b, -1)
	for i := range min(len(x), len(y)) {
		if x[i] == y[i] {
			continue
		}
		if len(x[i]) != len(y[i]) {
			return len(x[i]) > len(y[i])
		}
		return x[i] > y[i]
	}
	return len(x) > len(y)
}

// run executes a command with its output on standard error.
func run(name string, args ...string) error { return runEnv(nil, name, args...) }

// runEnv does so with further variables in the environment.
func runEnv(env []string, name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	return cmd.Run()
}

// output executes a command and returns its standard output.
func output(name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	return string(out), err
}
