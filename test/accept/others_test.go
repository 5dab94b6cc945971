package accept

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
)

func TestMain(m *testing.M) {
	status := m.Run()
	if folder := folderOfOthers; folder != "" {
		os.RemoveAll(folder)
	}
	os.Exit(status)
}

// folderOfOthers is removed at the end.
var folderOfOthers string

// forOthers is a copy of startrace that other users may execute, to whom the tree may be closed. All tests have one: an
// emulator translates the code of each copy anew, which takes longer than the run.
func forOthers(t *testing.T) string {
	t.Helper()
	file, err := copyForOthers(program(t, "startrace"))
	if err != nil {
		t.Fatal(err)
	}
	return file
}

var copying sync.Mutex

func copyForOthers(from string) (string, error) {
	copying.Lock()
	defer copying.Unlock()
	if folderOfOthers != "" {
		return filepath.Join(folderOfOthers, "startrace"), nil
	}
	binary, err := os.ReadFile(from)
	if err != nil {
		return "", err
	}
	folder, err := os.MkdirTemp("/tmp", "startrace-others")
	if err != nil {
		return "", err
	}
	folderOfOthers = folder
	if err := os.Chmod(folder, 0o755); err != nil {
		return "", err
	}
	to := filepath.Join(folder, "startrace")
	return to, os.WriteFile(to, binary, 0o755)
}
