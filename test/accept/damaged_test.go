package accept

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/tried"
)

// damage changes a copy of a program, in one of the ways in which files are damaged or made to do harm.
func damage(r *rand.Rand, good []byte) []byte {
	b := slices.Clone(good)
	odd := []byte{0, 127, 128, 255}
	switch r.IntN(5) {
	case 0: // anywhere
		for range 1 + r.IntN(60) {
			b[r.IntN(len(b))] = byte(r.Uint32())
		}
	case 1: // the header behind its identification
		for range 1 + r.IntN(6) {
			b[16+r.IntN(48)] = odd[r.IntN(len(odd))]
		}
	case 2: // the end is missing
		b = b[:r.IntN(len(b))]
	case 3: // the headers of the sections
		at := int(binary.LittleEndian.Uint64(b[40:]))
		for range 1 + r.IntN(8) {
			b[at+r.IntN(len(b)-at)] = odd[r.IntN(len(odd))]
		}
	case 4: // a size or an address that is too large
		sizes := []uint64{1<<63 - 1, 1<<64 - 1, 1 << 40, 1 << 32, 1 << 31}
		binary.LittleEndian.PutUint64(b[r.IntN(len(b)-8)&^7:], sizes[r.IntN(len(sizes))])
	}
	return b
}

// A damaged program gets a message, or its points, and nothing else happens: no crash, no words of the inside, no wait.
// make soak (SOAK=20) tries twenty times as many.
func TestSoakDamagedPrograms(t *testing.T) {
	const files, long = 12, 20 // make soak
	tried.Many(t, "%d, in the long form %d; four commands each", files, files*long)
	needTracing(t)
	good, err := os.ReadFile(program(t, "workload"))
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, uint64(soak(t))))
	path := filepath.Join(t.TempDir(), "damaged")
	for i := range files * soak(t) {
		if err := os.WriteFile(path, damage(r, good), 0o755); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{
			{"list", "uprobe:" + path + ":*"},
			{"list", "usdt:" + path + ":*"},
			{"explain", "-e", fmt.Sprintf(`probe("uprobe:%s:main.go:125", lambda e: print(e.args[0]))`, path)},
			{"-e", fmt.Sprintf(`probe("ufunc:%s:main.getppid", `+
				`lambda e: print(e.args[0], e.args, e.args.args.array[0], e.ret))`, path), "-c",
				"true"},
		} {
			e := startrace(t, args...)
			all := e.stdout + e.stderr
			if !slices.Contains([]int{0, 1, 2, failedBeside}, e.status) || strings.Contains(all, "goroutine ") {
				t.Errorf("file %d, %q: exit code %d\n%s", i, args, e.status, excerpt(all))
			}
		}
	}
}
