package accept

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// movesOf are the calls of workload moves for each file, in its order, and the bytes of each.
var movesOf = map[string][]struct {
	call  string
	bytes int
}{
	"from": {
		{"read", 101}, {"pread64", 102}, {"readv", 103}, {"preadv", 104}, {"preadv2", 105},
		{"copy_file_range", 301}, {"sendfile64", 302}, {"splice", 303}, {"io_uring", 401}, {"aio", 501}, {"aio", 503},
	},
	"to": {
		{"write", 201}, {"pwrite64", 202}, {"writev", 203}, {"pwritev", 204}, {"pwritev2", 205},
		{"copy_file_range", 301}, {"sendfile64", 302}, {"splice", 303}, {"io_uring", 402}, {"aio", 502}, {"aio", 504},
	},
}

// seenMoves are those that a tool can see: io_uring and AIO where the workload could use them, AIO only with kprobes.
func seenMoves(t *testing.T, d done, file string) (calls []string, bytes []int, sum int) {
	t.Helper()
	for _, m := range movesOf[file] {
		_, ring := d.FDs["ring"]
		_, aio := d.FDs["aio"]
		if m.call == "io_uring" && !ring || m.call == "aio" && (!aio || !kernelFunctions(t)) {
			continue
		}
		calls, bytes, sum = append(calls, m.call), append(bytes, m.bytes), sum+m.bytes
	}
	return calls, bytes, sum
}

// Each way to move bytes of a file is in the file's row, to the byte, and pages that are stored into by memory, too.
func TestFiletopMoves(t *testing.T) {
	dir := t.TempDir()
	e, d := tool(t, []string{"filetop", "-i", "1h", "-r", "100"}, "moves", dir)
	for file, row := range map[string]string{"from": "%[3]d +0 +%[4]d +0 +%[4]d", "to": "0 +%[3]d +0 +%[4]d +%[4]d"} {
		calls, _, sum := seenMoves(t, d, file)
		e.has(t, fmt.Sprintf(`(?m)^ *%[1]d +wl-moves +%[2]s +\S+ +\d+ +`+row+`$`, d.PID, file, len(calls),
			sum))
	}
	if onDisk(t, dir) {
		e.has(t, fmt.Sprintf(`(?m)^ *%[1]d +wl-moves +mapped +\S+ +\d+ +0 +3 +0 +%[2]d +%[2]d$`, d.PID,
			3*os.Getpagesize()))
	}
}

// Files of one name are told apart, and a file of two names by the name that the program opened.
func TestFiletopTwoFiles(t *testing.T) {
	dir := t.TempDir()
	for i, name := range []string{"a/same", "b/same"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), make([]byte, 100+i), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	needTracing(t)
	e := startrace(t, "filetop", "-i", "1h", "-r", "100", "-c", fmt.Sprintf("cat %s/a/same %[1]s/b/same", dir)).ok(t)
	for i, name := range []string{"a/same", "b/same"} {
		var file unix.Stat_t
		if err := unix.Stat(filepath.Join(dir, name), &file); err != nil {
			t.Fatal(err)
		}
		e.has(t, fmt.Sprintf(`(?m)^ *\d+ +cat +same +\S+ +%d +\d+ +0 +%[2]d +0 +%[2]d$`, file.Ino, 100+i))
	}
}

// cp is seen, whatever call it makes use of.
func TestFiletopCopy(t *testing.T) {
	needTracing(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "one"), make([]byte, 123456), 0o600); err != nil {
		t.Fatal(err)
	}
	e := startrace(t, "filetop", "-i", "1h", "-c", fmt.Sprintf("cp %s/one %[1]s/two", dir)).ok(t)
	e.has(t, `(?m)^ *\d+ +cp +one +\S+ +\d+ +\d+ +0 +123456 +0 +123456$`)
	e.has(t, `(?m)^ *\d+ +cp +two +\S+ +\d+ +0 +\d+ +0 +123456 +123456$`)
}

// A read at the end of a file counts, with 0 bytes, also where it is the only one.
func TestFiletopAtTheEnd(t *testing.T) {
	needTracing(t)
	dir := t.TempDir()
	for name, size := range map[string]int{"empty": 0, "three": 3 * 512} {
		if err := os.WriteFile(filepath.Join(dir, name), make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	e := startrace(t, "filetop", "-i", "1h", "-r", "100", "-c",
		fmt.Sprintf("sh -c 'dd if=%s/three of=/dev/null; dd if=%[1]s/empty of=/dev/null'", dir)).ok(t)
	e.has(t, `(?m)^ *\d+ +dd +three +\S+ +\d+ +4 +0 +1536 +0 +1536$`)
	e.has(t, `(?m)^ *\d+ +dd +empty +\S+ +\d+ +1 +0 +0 +0 +0$`)
}

// At the end of a file each way to read counts, with 0 bytes, and each copy for both of its files.
func TestFiletopEnds(t *testing.T) {
	e, d := tool(t, []string{"filetop", "-i", "1h", "-r", "100"}, "ends", t.TempDir())
	reads, writes, bytes := 4, 2, 0 // those of the calls; splice writes into a pipe
	if _, ring := d.FDs["ring"]; ring {
		reads, writes, bytes = reads+1, writes+1, bytes+402
	}
	if _, aio := d.FDs["aio"]; aio && kernelFunctions(t) {
		reads, writes, bytes = reads+2, writes+2, bytes+502+504
	}
	e.has(t, fmt.Sprintf(`(?m)^ *%d +wl-ends +empty +\S+ +\d+ +%d +0 +0 +0 +0$`, d.PID, reads))
	e.has(t, fmt.Sprintf(`(?m)^ *%d +wl-ends +other +\S+ +\d+ +0 +%d +0 +%d +%[3]d$`, d.PID, writes, bytes))
}

// A line for each end of each call that moves bytes. The lines of fatrace(8) only in the long form: TestFatraceClassic
// has them, and a guest compiles each of the two for many seconds.
func TestFatraceMoves(t *testing.T) {
	dir := t.TempDir()
	e, d := tool(t, []string{"fatrace"}, "moves", dir)
	for file, letter := range map[string]string{"from": "R", "to": "W"} {
		calls, bytes, _ := seenMoves(t, d, file)
		for i, call := range calls {
			where := fmt.Sprintf("fd %d ", d.FDs[file])
			if call == "io_uring" || call == "aio" {
				call, where = call+" "+map[string]string{"R": "read", "W": "write"}[letter], ""
			}
			e.has(t, fmt.Sprintf(`(?m)^\S+\(%d\) %s %ssize %d %s/%s$`, d.PID, call, where, bytes[i],
				regexp.QuoteMeta(dir), file))
		}
	}
	if testing.Short() {
		return
	}
	classic, cd := tool(t, []string{"fatrace", "--classic"}, "moves", dir)
	for file, letter := range map[string]string{"from": "R", "to": "W"} {
		calls, _, _ := seenMoves(t, cd, file)
		line := fmt.Sprintf("wl-moves(%d): %s %s/%s", cd.PID, letter, dir, file)
		checkAccount(t, classic, len(linesWith(classic.stdout, line)), len(calls))
	}
}

// clonesOf are the clones that workload clones makes of the file origin, and the bytes of each.
var clonesOf = []struct {
	file, call string
	bytes      int
}{{"whole", "FICLONE", 100000}, {"range", "FICLONERANGE", 8192}, {"tail", "FICLONERANGE", 100000 - 65536}}

// reflinks is a folder of a file system in which files can share bytes, empty, or a skip. The image is what
// mkfs.xfs --unsupported -d agcount=1 -m crc=1,reflink=1,rmapbt=0,bigtime=0,inobtcount=0 made of 16 MB.
func reflinks(t *testing.T) string {
	t.Helper()
	disk := loopDevice(t, 16<<20)
	packed, err := os.Open("testdata/reflinks.xfs.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	image, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	device, err := os.OpenFile(disk, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(device, image); err != nil {
		t.Fatal(err)
	}
	if err := device.Close(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := unix.Mount(disk, dir, "xfs", 0, "nouuid"); errors.Is(err, unix.ENODEV) {
		t.Skip("needs a kernel with xfs (CONFIG_XFS_FS, modprobe xfs)")
	} else if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// A clone moves bytes from one file into another, though no disk does, as cp --reflink=auto: by filetop and by fatrace.
func TestClones(t *testing.T) {
	dir := reflinks(t)
	e, d := tool(t, []string{"filetop", "-i", "1h", "-r", "100"}, "clones", dir)
	sum := 0
	for _, c := range clonesOf {
		sum += c.bytes
		e.has(t, fmt.Sprintf(`(?m)^ *%d +wl-clones +%s +\S+ +\d+ +0 +1 +0 +%[3]d +%[3]d$`, d.PID, c.file, c.bytes))
	}
	e.has(t, fmt.Sprintf(`(?m)^ *%d +wl-clones +origin +\S+ +\d+ +%d +0 +%[3]d +0 +%[3]d$`, d.PID, len(clonesOf), sum))

	e, d = tool(t, []string{"fatrace"}, "clones", dir)
	for _, c := range clonesOf {
		for _, file := range []string{"origin", c.file} {
			e.has(t, fmt.Sprintf(`(?m)^\S+\(%d\) %s fd \d+ size %d %s/%s$`, d.PID, c.call, c.bytes,
				regexp.QuoteMeta(dir), file))
		}
	}
	e.has(t, fmt.Sprintf(`(?m)^\S+\(%d\) FICLONE fd \d+ size -18 %s/whole$`, d.PID, regexp.QuoteMeta(dir)))
}

// Two requests of io_uring with one number at a time: where the kernel does not say which of them ends, they count, and
// their file is not known, instead of that of the other.
func TestTwinRequests(t *testing.T) {
	e, d := tool(t, []string{"filetop", "-i", "1h", "-r", "100"}, "twins", t.TempDir())
	if d.Calls == 0 {
		t.Skip("needs io_uring (CONFIG_IO_URING, sysctl kernel.io_uring_disabled)")
	}
	row := `twin +\S+ +\d+ +1 +0 +401 +0 +401` // and the pipe has no name
	if !atLeast(t, 5, 18) {
		row = `<fault> +<fault> +<fault> +2 +0 +402 +0 +402`
	}
	e.has(t, fmt.Sprintf(`(?m)^ *%d +wl-twins +%s$`, d.PID, row))
}

// Each of the calls is a line of fileslower and counts in a histogram of fsdist, with the type of the file system.
func TestSlowMoves(t *testing.T) {
	dir := t.TempDir()
	e, d := tool(t, []string{"fileslower", "--min", "0ms"}, "moves", dir)
	for file := range movesOf {
		calls, bytes, _ := seenMoves(t, d, file)
		for i, call := range calls {
			e.has(t, fmt.Sprintf(`(?m)^wl-moves +\d+ +%s +%d +\d+\.\d\d \S+ +%s/%s$`, call, bytes[i],
				regexp.QuoteMeta(dir), file))
		}
	}
	if kernelFunctions(t) { // msync is seen by the function that it calls
		e.has(t, `(?m)^wl-moves +\d+ +msync +0 +\d+\.\d\d \S+ +`+regexp.QuoteMeta(dir)+`/mapped$`)
	}
	e, d = tool(t, []string{"fsdist"}, "moves", dir)
	fs := regexp.MustCompile(`(?m)^time\[(\S+), write\] \(us\):$`).FindStringSubmatch(e.stdout)
	if fs == nil {
		t.Fatalf("no writes in %s\nstderr: %s", excerpt(e.stdout), excerpt(e.stderr))
	}
	calls, _, _ := seenMoves(t, d, "to")
	if writes := bars(t, e.stdout, fs[0]); writes < len(calls) && e.skipped(t) == 0 {
		t.Errorf("%d writes, want at least the %d of the file\n%s", writes, len(calls), excerpt(e.stdout))
	}
}

// seenFiles are probes of a few of fatrace's events, each a line of fatrace --classic. The whole tool has many probes
// more, which a guest needs half a minute for.
const seenFiles = `
load("std/fatrace.star", "closed", "executed")
load("std/fileio.star", "fileio")

def say(e, letters, file):
    printf("%s(%d): %s %s\n", e.comm, e.pid, letters, file)

def closes():
    probe(closed(), lambda e: say(e, "C", e.file))
    ended, left = fileio.left()
    probe(ended, lambda e: [say(e, "C", one.file) for one in left(e)], kernel = lambda e: record())

def opens():
    probe(executed(), lambda e: say(e, "RO", e.file if e.name == None else e.folder + "/" + e.name))
`

// A file that nobody closes is closed by the end of the last process that has it, once, and not when another one leaves
// it. Without kprobes calls of close are seen, too: sh closes the first number of a file that it gives another one.
func TestFatraceCloses(t *testing.T) {
	needTracing(t)
	file := filepath.Join(t.TempDir(), "left open")
	if err := os.WriteFile(file, []byte("text\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	e := startrace(t, script(t, seenFiles+"closes()\n"), "-c",
		fmt.Sprintf(`sh -c "exec 5<'%s'; true; exec sleep 0"`, file)).ok(t)
	closed := linesWith(e.stdout, "): C "+file)
	byEnd := slices.DeleteFunc(slices.Clone(closed), func(line string) bool {
		return !strings.HasPrefix(line,
			"sleep(")
	})
	if e.skipped(t) == 0 && (len(byEnd) != 1 || kernelFunctions(t) && len(closed) != 1) {
		t.Errorf("closed: %q, want once by sleep\n%s", closed, excerpt(e.stdout))
	}
}

// What execve opens has a line each: a program that begins with #!, the program that it names, the dynamic linker of
// that. The last of them is read from the memory of the process, of which kernels have different forms.
func TestFatraceInterpreter(t *testing.T) {
	path := traceable(t, "chain-shared")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "script"), []byte("#!"+path+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	e := startrace(t, script(t, seenFiles+"opens()\n"), "-c", fmt.Sprintf(`sh -c "cd %s; ./script; true"`, dir)).ok(t)
	program := `\n\S+\(\d+\): RO ` + regexp.QuoteMeta(path)
	e.has(t, `(?m)^script\(\d+\): RO `+regexp.QuoteMeta(dir)+`/./script`+program+`\n\S+\(\d+\): RO \S*/ld-linux\S*$`)
}

// A program without a dynamic linker has one line.
func TestFatraceStatic(t *testing.T) {
	path := traceable(t, "chain")
	e := startrace(t, script(t, seenFiles+"opens()\n"), "-c", path).ok(t)
	if lines := linesWith(e.stdout, "chain("); len(lines) != 1 && e.skipped(t) == 0 {
		t.Errorf("want one line of the program:\n%s", excerpt(e.stdout))
	}
}

// What a program stores into a file that it has mapped is a line for each page, and a write of filetop.
func TestMemoryWrites(t *testing.T) {
	dir := reflinks(t)
	e, d := tool(t, []string{"fatrace"}, "moves", dir)
	line := fmt.Sprintf("(%d) memory write size %d %s/mapped", d.PID, os.Getpagesize(), dir)
	checkAccount(t, e, len(linesWith(e.stdout, line)), 3)
	e, d = tool(t, []string{"filetop", "-i", "1h", "-r", "100"}, "moves", dir)
	e.has(t, fmt.Sprintf(`(?m)^ *%d +wl-moves +mapped +\S+ +\d+ +0 +3 +0 +%[2]d +%[2]d$`, d.PID, 3*os.Getpagesize()))
}
