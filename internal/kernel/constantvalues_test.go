package kernel

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// otherValues are constants of which golang.org/x/sys has the value of the C library.
var otherValues = map[string]bool{"O_LARGEFILE": true}

var assigned = regexp.MustCompile(`(?m)^\t([A-Z]\w*) += (-?0x[0-9a-f]+|-?\d+)$`)

// TestConstantValues compares the shipped constants of each architecture with those that golang.org/x/sys generates
// from the kernel's headers.
func TestConstantValues(t *testing.T) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "golang.org/x/sys").Output()
	if err != nil {
		t.Skip("needs the Go command and the modules:", err)
	}
	folder := filepath.Join(strings.TrimSpace(string(out)), "unix")
	for _, arch := range []string{"amd64", "arm64"} {
		compared := 0
		for _, file := range []string{"zerrors_linux.go", "zerrors_linux_" + arch + ".go", "ztypes_linux.go"} {
			text, err := os.ReadFile(filepath.Join(folder, file))
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range assigned.FindAllStringSubmatch(string(text), -1) {
				want, err := strconv.ParseInt(m[2], 0, 64)
				if err != nil || otherValues[m[1]] {
					continue
				}
				got, ok := constantFor(arch, m[1])
				if ok {
					compared++
				}
				if ok && got != want {
					t.Errorf("%s on %s is %d, want %d", m[1], arch, got, want)
				}
			}
		}
		if compared < 1500 {
			t.Errorf("%s: %d constants were compared", arch, compared)
		}
	}
}
