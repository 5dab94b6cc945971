package accept

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// loopDevice makes a block device of a file.
func loopDevice(t *testing.T, size int64) string {
	t.Helper()
	needTracing(t)
	control, err := unix.Open("/dev/loop-control", unix.O_RDWR, 0)
	if err != nil {
		t.Skipf("needs /dev/loop-control (CONFIG_BLK_DEV_LOOP, modprobe loop): %v", err)
	}
	defer unix.Close(control)
	n, err := unix.IoctlRetInt(control, unix.LOOP_CTL_GET_FREE)
	if err != nil {
		t.Skipf("needs a free loop device (LOOP_CTL_GET_FREE): %v", err)
	}
	file, err := os.Create(filepath.Join(t.TempDir(), "disk"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := file.Truncate(size); err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("/dev/loop%d", n)
	device, err := unix.Open(name, unix.O_RDWR, 0)
	if err != nil {
		t.Skipf("needs the node of a free loop device in /dev (devtmpfs): %v", err)
	}
	if err := unix.IoctlSetInt(device, unix.LOOP_SET_FD, int(file.Fd())); err != nil {
		t.Skipf("needs a loop device that takes a file (LOOP_SET_FD): %v", err)
	}
	t.Cleanup(func() {
		if err := unix.IoctlSetInt(device, unix.LOOP_CLR_FD, 0); err != nil {
			t.Error(err)
		}
		unix.Close(device)
	})
	return name
}

// directRead is how the kernel calls a read with O_DIRECT: 5.10 does not mark it as synchronous, 6.1 and later do.
func directRead(t *testing.T) string {
	t.Helper()
	if atLeast(t, 6, 0) {
		return "RS"
	}
	return "R"
}

// Each request is in the histogram of its disk and kind, once. The disk is always told apart: the workload's own pages
// may have to be read from the machine's disk meanwhile.
func TestBiolatency(t *testing.T) {
	disk := loopDevice(t, 4<<20)
	name := strings.TrimPrefix(disk, "/dev/")
	e, d := tool(t, []string{"biolatency", "-D"}, "blocks", "200", disk)
	checkAccount(t, e, bars(t, e.stdout, fmt.Sprintf("latency[%s] (us):", name)), d.Calls)

	e, d = tool(t, []string{"biolatency", "-D", "-F", "-m"}, "blocks", "200", disk)
	checkAccount(t, e, bars(t, e.stdout, fmt.Sprintf("latency[%s, %s] (ms):", name, directRead(t))), d.Calls)

	e, d = tool(t, []string{"biolatency", "-D", "-Q"}, "blocks", "200", disk)
	checkAccount(t, e, bars(t, e.stdout, fmt.Sprintf("latency[%s] (us):", name)), d.Calls)
}

// The event with its fields: who asked for what, in order.
func TestBlockModule(t *testing.T) {
	disk := loopDevice(t, 4<<20)
	const text = `
load("std/block.star", "block")
probe(block.io(), lambda e: printf("%s %d %d %s %d %s %d\n", dev_name(e.dev), e.sector, e.bytes, e.rwbs, e.pid, e.comm,
                                   e.duration))
`
	e, d := traced(t, text, nil, "blocks", "100", disk)
	flags := directRead(t)
	lines := linesWith(e.stdout, strings.TrimPrefix(disk, "/dev/")+" ")
	for i, line := range lines {
		want := fmt.Sprintf("%s %d 4096 %s %d wl-blocks ", strings.TrimPrefix(disk, "/dev/"), 8*i, flags, d.PID)
		if !strings.HasPrefix(line, want) {
			t.Fatalf("line %d: %q, want %q…", i, line, want)
		}
		if ns := number(t, line, ` (\d+)$`); ns == 0 || ns > int(d.Nanoseconds) {
			t.Errorf("line %d: %d ns of %v in all", i, ns, d.Nanoseconds)
		}
	}
	checkAccount(t, e, len(lines), d.Calls)
}
