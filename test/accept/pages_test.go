package accept

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// Each page that a write makes dirty is counted once, for its inode and its disk, however many of them the kernel keeps
// in one folio, and whether it is a file's or the disk's own. (S1-23)
func TestDirtied(t *testing.T) {
	disk := loopDevice(t, 16<<20)
	var size int64 = 5 << 20
	e := startrace(t, "dirtied", "-c", fmt.Sprintf("dd if=/dev/zero of=%s bs=1M count=5 conv=notrunc", disk)).ok(t)
	checkDirtied(t, e, filepath.Base(disk), `\d+`, size)

	// A file of a disk has folios of many pages where its file system has them, as ext4 from Linux 6.16 on.
	file := filepath.Join(t.TempDir(), "file")
	e = startrace(t, "dirtied", "-c", fmt.Sprintf("dd if=/dev/zero of=%s bs=1M count=20", file)).ok(t)
	var st syscall.Stat_t
	if err := syscall.Stat(file, &st); err != nil {
		t.Fatal(err)
	}
	if onDisk(t, file) {
		checkDirtied(t, e, `\S+`, fmt.Sprint(st.Ino), st.Size)
	}
}

// checkDirtied compares the row of dd's writes to an inode, the largest if there are several, with the bytes written.
func checkDirtied(t *testing.T, e ended, disk, inode string, bytes int64) {
	t.Helper()
	most := 0
	for _, m := range regexp.MustCompile(`(?m)^ *\d+ +dd +`+disk+` +`+inode+` +(\d+)$`).FindAllStringSubmatch(e.stdout,
		-1) {
		most = max(most, number(t, m[1], `(\d+)`))
	}
	checkAccount(t, e, most, int(bytes)/os.Getpagesize())
}

// onDisk says whether a file's pages are written back, which those of memory are not.
func onDisk(t *testing.T, file string) bool {
	t.Helper()
	const tmpfs, ramfs = 0x01021994, 0x858458f6 // TMPFS_MAGIC, RAMFS_MAGIC
	var st syscall.Statfs_t
	if err := syscall.Statfs(file, &st); err != nil {
		t.Fatal(err)
	}
	return st.Type != tmpfs && st.Type != ramfs
}

// A disk that is read twice misses the page cache the first time, page for page, and hits it the second time; what is
// written is neither. Each with calls of one page, of many, and by sendfile, which copies nothing.
func TestCachestat(t *testing.T) {
	needKernelFunctions(t)
	const pages, others = 1000, 400 // others: what sh and dd themselves use of their files
	reads := []string{"dd if=%s of=/dev/null bs=65536", program(t, "workload") + " sendfile %s"}
	if !testing.Short() { // each is two runs, of some seconds in a guest
		reads = append(reads, "dd if=%s of=/dev/null bs=4096")
	}
	for _, command := range reads {
		t.Run(strings.Fields(command)[len(strings.Fields(command))-1], func(t *testing.T) {
			unskipped(t, func() int {
				read := fmt.Sprintf(command, loopDevice(t, pages*4096))
				cold, warm := cacheUse(t, read), cacheUse(t, read)
				if skipped := cold.skipped + warm.skipped; skipped > 0 {
					return skipped
				}
				if cold.misses != pages || cold.hits > others {
					t.Errorf("the first time: %+v, want %d misses", cold, pages)
				}
				if warm.misses != 0 || warm.hits < pages || warm.hits > pages+others {
					t.Errorf("the second time: %+v, want %d hits", warm, pages)
				}
				return 0
			})
		})
	}
	unskipped(t, func() int {
		disk := loopDevice(t, pages*4096)
		written := cacheUse(t, fmt.Sprintf("dd if=/dev/zero of=%s bs=65536 conv=notrunc count=%d", disk,
			pages*4096/65536))
		if want := pages * 4096 / 65536 * 16; written.skipped == 0 && (written.misses != 0 || written.dirties != want) {
			t.Errorf("written: %+v, want %d pages dirty and no misses", written, want)
		}
		return written.skipped
	})
}

// cacheUsed is what cachestat says of a whole run, and how many events the kernel skipped.
type cacheUsed struct{ hits, misses, dirties, skipped int }

func cacheUse(t *testing.T, command string) (c cacheUsed) {
	t.Helper()
	e := startrace(t, "cachestat", "-i", "1h", "-c", command).ok(t)
	m := regexp.MustCompile(`(?m)^ +HITS +MISSES +DIRTIES +RATIO\n +(\d+) +(\d+) +(\d+) +[\d.]+%$`).
		FindStringSubmatch(e.stdout)
	if m == nil {
		t.Fatalf("no row in %s\nstderr: %s", e.stdout, excerpt(e.stderr))
	}
	c.skipped = e.lost(t)
	fmt.Sscan(m[1], &c.hits)
	fmt.Sscan(m[2], &c.misses)
	fmt.Sscan(m[3], &c.dirties)
	return c
}
