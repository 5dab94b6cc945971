package sideband

import (
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/internal/mapping"
)

// openOurs listens to this process and to what it starts.
func openOurs(t testing.TB) *Band {
	t.Helper()
	b, err := OpenProcess(os.Getpid())
	if errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOENT) ||
		errors.Is(err, unix.ENOSYS) {
		t.Skip("needs CAP_PERFMON (before 5.8 CAP_SYS_ADMIN) and CONFIG_PERF_EVENTS:", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// A child begins as a copy of us, runs a program, maps its code and ends, in this order.
func TestBand(t *testing.T) {
	b := openOurs(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	before := clock()
	cmd := exec.Command(self, "-test.run", "^$")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	after := clock()
	var kinds []mapping.ChangeKind
	var code []mapping.Mapping
	last := before
	var others []int
	ours := map[int]bool{os.Getpid(): true}
	if err := b.Read(func(e *mapping.Change) {
		if e.Kind == mapping.Forked && e.Parent == os.Getpid() {
			ours[e.PID] = true // the runtime starts one too, to try what the kernel can
		}
		if !ours[e.PID] {
			others = append(others, e.PID)
		}
		if e.PID != cmd.Process.Pid || e.Kind == mapping.Forked && e.Parent == e.PID {
			return
		}
		if e.Time < last || e.Time > after {
			t.Errorf("%+v is not between %d and %d", e, last, after)
		}
		last = e.Time
		kinds = append(kinds, e.Kind)
		if e.Kind == mapping.Mapped && e.Mapping.Path == self {
			code = append(code, e.Mapping)
		}
		if e.Kind == mapping.Forked && e.Parent != os.Getpid() {
			t.Errorf("parent %d, want %d", e.Parent, os.Getpid())
		}
	}); err != nil {
		t.Fatal(err)
	}
	kinds = slices.Compact(kinds)
	if !slices.Equal(kinds, []mapping.ChangeKind{mapping.Forked, mapping.Executed, mapping.Mapped, mapping.Ended}) {
		t.Errorf("got %v", kinds)
	}
	var st unix.Stat_t
	if err := unix.Stat(self, &st); err != nil {
		t.Fatal(err)
	}
	if len(code) == 0 || !code[0].Code || code[0].Inode != st.Ino || code[0].End <= code[0].Start || code[0].Deleted {
		t.Errorf("its own code is %+v, want inode %d", code, st.Ino)
	}
	if len(others) > 0 {
		t.Errorf("it told of processes that are not ours: %v", others)
	}
	if b.Lost() != 0 {
		t.Errorf("%d records lost", b.Lost())
	}
}

// A thread that began after the threads had been listed, and whose parent was not listened to yet, is heard, too.
func TestThreadsThatBeganMeanwhile(t *testing.T) {
	listed, err := threadsOf(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	tids, done, ended := make(chan int), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		runtime.LockOSThread() // and ends with the thread, which is one that nobody else uses
		tids <- unix.Gettid()
		<-done
		mapped, err := unix.Mmap(-1, 0, os.Getpagesize(), unix.PROT_READ|unix.PROT_EXEC, unix.MAP_PRIVATE|unix.MAP_ANON)
		if err == nil {
			err = unix.Munmap(mapped)
		}
		if err != nil {
			t.Error(err)
		}
	}()
	late := <-tids
	listed = slices.DeleteFunc(listed, func(tid int) bool { return tid == late })
	b, err := open(listed)
	if errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOENT) ||
		errors.Is(err, unix.ENOSYS) {
		t.Skip("needs CAP_PERFMON (before 5.8 CAP_SYS_ADMIN) and CONFIG_PERF_EVENTS:", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if err := b.join(os.Getpid()); err != nil {
		t.Fatal(err)
	}
	rings := len(b.rings)
	close(done)
	<-ended
	heard := 0
	if err := b.Read(func(e *mapping.Change) {
		if e.Kind == mapping.Mapped && e.PID == os.Getpid() && e.Mapping.Code {
			heard++
		}
	}); err != nil {
		t.Fatal(err)
	}
	if heard == 0 || !slices.Contains(b.threads, late) {
		t.Errorf("of thread %d nothing was heard; threads %v", late, b.threads)
	}
	if err := b.join(os.Getpid()); err != nil || len(b.rings) != rings {
		t.Errorf("%d rings, %d before: %v", len(b.rings), rings, err)
	}
}

// What the kernel wrote is not believed.
func TestDamagedRing(t *testing.T) {
	const page, size = 4096, 4096
	for _, c := range []struct {
		head uint64
		size uint16
	}{{size + 8, 8}, {64, 4}, {64, 128}} {
		mem := make([]byte, page+size)
		binary.NativeEndian.PutUint64(mem[headPlace:], c.head)
		binary.NativeEndian.PutUint16(mem[page+6:], c.size)
		r := newRing(-1, mem, page)
		if _, err := r.drain(func(uint32, uint16, []byte) {}); err == nil {
			t.Errorf("%+v: no error", c)
		}
	}
}

// Records wrap at the end of the ring.
func TestWrap(t *testing.T) {
	const page, size, record = 4096, 4096, 24
	mem := make([]byte, page+size)
	r := newRing(-1, mem, page)
	for i := range uint64(1000) {
		body := make([]byte, record)
		binary.NativeEndian.PutUint32(body, unix.PERF_RECORD_LOST)
		binary.NativeEndian.PutUint16(body[6:], record)
		binary.NativeEndian.PutUint64(body[16:], i)
		for j, c := range body {
			r.data[(*r.head+uint64(j))%size] = c
		}
		*r.head += record
		if lost, err := r.drain(func(uint32, uint16, []byte) {}); err != nil || lost != i {
			t.Fatalf("got %d, %v, want %d", lost, err, i)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(uint32(unix.PERF_RECORD_MMAP2), uint16(0), make([]byte, 80))
	f.Fuzz(func(t *testing.T, kind uint32, misc uint16, body []byte) {
		if e, ok := decode(kind, misc, body); ok && (e.PID <= 0 || e.Kind == 0) {
			t.Errorf("got %+v", e)
		}
	})
}

func BenchmarkOpen(b *testing.B) {
	for b.Loop() {
		band, err := OpenProcess(os.Getpid())
		if err != nil {
			b.Skip("needs CAP_PERFMON (before 5.8 CAP_SYS_ADMIN) and CONFIG_PERF_EVENTS:", err)
		}
		if err := band.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkProcess is what a short process costs with the band and without.
func BenchmarkProcess(b *testing.B) {
	for _, name := range []string{"without", "with"} {
		b.Run(name, func(b *testing.B) {
			if name == "with" {
				openOurs(b)
			}
			for b.Loop() {
				if err := exec.Command("/bin/true").Run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A CPU that comes is listened to, and what was told of it before is kept.
func TestCame(t *testing.T) {
	b, err := Open()
	if errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOENT) ||
		errors.Is(err, unix.ENOSYS) {
		t.Skip("needs CAP_PERFMON (before 5.8 CAP_SYS_ADMIN) and CONFIG_PERF_EVENTS:", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var pids []int
	run := func() {
		cmd := exec.Command(self, "-test.run", "^$")
		if err := cmd.Run(); err != nil {
			t.Fatal(err)
		}
		pids = append(pids, cmd.Process.Pid)
	}
	run()
	rings := len(b.rings)
	for _, r := range slices.Clone(b.rings) {
		if err := b.Came(r.cpu); err != nil {
			t.Fatal(err)
		}
	}
	run()
	var executed []int
	if err := b.Read(func(e *mapping.Change) {
		if e.Kind == mapping.Executed && slices.Contains(pids, e.PID) {
			executed = append(executed, e.PID)
		}
	}); err != nil {
		t.Fatal(err)
	}
	if len(b.rings) != rings || !slices.Equal(executed, pids) {
		t.Errorf("%d rings, executed %v; want %d, %v", len(b.rings), executed, rings, pids)
	}
}
