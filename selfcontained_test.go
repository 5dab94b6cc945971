package startrace_test

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// What is written here must be understood from here, on any machine: a relative path stays within the module, an
// absolute one names a folder that every Linux has, and only documents name pages of the web (where Debian's packages
// and kernels come from is the configuration of the machine).
func TestSelfContained(t *testing.T) {
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	check := selfContained{parent: outsideSystem(filepath.Dir(root))}
	err = fs.WalkDir(os.DirFS("."), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (name == ".git" || name == "bin"):
			return fs.SkipDir
		case d.IsDir() || name == ".git": // which a linked working tree has as a file
			return nil
		}
		text, err := os.ReadFile(name)
		if strings.Contains(string(text), "\x00") {
			return nil // a program that a test has built
		}
		for _, found := range check.outside(name, string(text)) {
			t.Errorf("%s: %s", name, found)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// The check itself finds what it is there for.
func TestSelfContainedFinds(t *testing.T) {
	const up = "../"
	check := selfContained{parent: "/builds/nightly"}
	for _, c := range []struct{ name, text, want string }{
		{"docs/a.md", "see (" + up + up + "notes/x.md)", up + up + "notes/x.md leaves the module"},
		{"docs/a.md", "see (" + up + "README.md)", ""},
		{"Makefile", "cp " + up + "notes .", up + "notes leaves the module"},
		{"a.go", `open("/builds/other/x")`, "/builds/ is no folder of every Linux"},
		{"a.go", `open("/proc/self/maps")`, ""},
		{"a.go", `open(process + "/ns/mnt")`, ""},
		{"a.go", `"/builds/nightlyonly"`, "/builds/ is no folder of every Linux"},
		{"a_test.go", `"/srv/a b/lib.so"`, ""},
		{"a_test.go", `"/builds/nightly/main/x"`, "/builds/nightly is where this tree lies"},
		{"get.go", `"http://mirror.example/pool"`, "http://mirror.example: only documents name pages of the web"},
		{"docs/a.md", "https://mirror.example/", ""},
	} {
		got := strings.Join(check.outside(c.name, c.text), "; ")
		if got != c.want {
			t.Errorf("%s %q: %q, want %q", c.name, c.text, got, c.want)
		}
	}
}

// selfContained looks for names of things outside of the module.
type selfContained struct {
	// parent is the folder that holds this tree; empty where that is a folder of every Linux, as /tmp.
	parent string
}

var (
	upPath   = regexp.MustCompile(`(?:^|[^\w./*-])((?:\.\./)+[\w.-]+(?:/[\w.-]+)*)`)
	rootPath = regexp.MustCompile("(\\+ ?)?(?:^|[\\s\"'`(=])(/[a-z][\\w.-]*/)")
	webPage  = regexp.MustCompile(`https?://[\w.-]+`)
)

// ofEveryLinux are the folders of the Filesystem Hierarchy Standard and the kernel's; the last two are said by messages
// and examples of paths that are not there.
var ofEveryLinux = []string{
	"/bin/", "/boot/", "/dev/", "/etc/", "/home/", "/lib/", "/lib64/", "/opt/", "/proc/", "/root/", "/run/", "/sbin/",
	"/srv/", "/sys/", "/tmp/", "/usr/", "/var/", "/no/", "/nonexistent/",
}

// inGuests are the folders of the guests' own initramfs, which test/vm makes.
var inGuests = []string{"/modules/", "/out/"}

func (c selfContained) outside(name, text string) []string {
	var found []string
	for _, m := range upPath.FindAllStringSubmatch(text, -1) {
		if strings.HasPrefix(path.Join(path.Dir(name), m[1]), "../") {
			found = append(found, m[1]+" leaves the module")
		}
	}
	if c.parent != "" && strings.Contains(text, c.parent+"/") {
		found = append(found, c.parent+" is where this tree lies")
	}
	if !strings.HasSuffix(name, "_test.go") && !strings.Contains(name, "testdata/") {
		for _, m := range rootPath.FindAllStringSubmatch(text, -1) {
			joined := m[1] != "" // to a path that is not known here
			if !joined && !c.known(name, m[2]) {
				found = append(found, m[2]+" is no folder of every Linux")
			}
		}
	}
	if page := webPage.FindString(text); page != "" && !strings.HasSuffix(name, ".md") &&
		!strings.HasSuffix(name, "_test.go") {
		found = append(found, page+": only documents name pages of the web")
	}
	return found
}

func (c selfContained) known(name, folder string) bool {
	return slices.Contains(ofEveryLinux, folder) || strings.HasPrefix(name, "test/vm/") &&
		slices.Contains(inGuests, folder)
}

// outsideSystem is folder, or empty where its first part is a folder of every Linux, which files may well name.
func outsideSystem(folder string) string {
	first, _, _ := strings.Cut(strings.TrimPrefix(folder, "/"), "/")
	if first == "" || slices.Contains(ofEveryLinux, "/"+first+"/") {
		return ""
	}
	return folder
}
