package kernel

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Messages that CPUs go offline and come online are heard (netlink).

// CPUNews says what became of a CPU.
type CPUNews struct {
	CPU    int
	Online bool // it came; else it went
	// Lost: messages were lost, and any CPU can have gone and come. There is no CPU then.
	Lost bool
}

// A CPUWatch tells when CPUs go offline and come online, until it is closed.
type CPUWatch interface {
	// Next waits for the next piece of news. It ends with an error when the watch is closed.
	Next() (CPUNews, error)
	// Close ends Next.
	Close() error
}

// WatchCPUs begins to listen. Where this process may not hear the kernel, the list of CPUs is read now and then, and
// refused says why: a CPU that goes and comes back in between is not noticed.
func WatchCPUs() (watch CPUWatch, refused error) {
	told, err := listenToKernel()
	if err == nil {
		return &toldCPUs{told}, nil
	}
	listed := &listedCPUs{list: OnlineCPUs, done: make(chan struct{}), pace: time.Tick(listPause)}
	listed.known, _ = listed.list() // without it, the next list that can be read is the first
	return listed, err
}

// listPause is how often the list of CPUs is read.
const listPause = time.Second

// toldCPUs hears what the kernel tells: when a CPU is taken off or put on (device_offline and device_online of
// drivers/base/core.c), and that it is on again after the machine slept (thaw_secondary_cpus of kernel/cpu.c, which
// tells nothing before).
type toldCPUs struct{ *uevents }

// Next waits for a message.
func (w *toldCPUs) Next() (news CPUNews, err error) {
	lost, err := w.until(func(head string) (ok bool) {
		news, ok = cpuNewsIn(head)
		return ok
	})
	news.Lost = lost
	return news, err
}

// cpuDevices is where the kernel has CPUs in its tree of devices, below /sys.
const cpuDevices = "devices/system/cpu/cpu"

// cpuNewsIn reads the first line of a message.
func cpuNewsIn(head string) (CPUNews, bool) {
	action, path, _ := strings.Cut(head, "@")
	number, ok := strings.CutPrefix(path, "/"+cpuDevices)
	if !ok || action != "online" && action != "offline" {
		return CPUNews{}, false
	}
	cpu, err := strconv.ParseUint(number, 10, 16)
	return CPUNews{CPU: int(cpu), Online: action == "online"}, err == nil
}

// listedCPUs compares the list of CPUs with the one before.
type listedCPUs struct {
	list func() ([]int, error)
	// pace is when the list is read.
	pace <-chan time.Time
	// done is closed by Close.
	done chan struct{}
	// known is the last list, and found what differed from the one before and was not given yet.
	known []int
	found []CPUNews
}

// Next waits until the list differs.
func (w *listedCPUs) Next() (CPUNews, error) {
	for len(w.found) == 0 {
		select {
		case <-w.done:
			return CPUNews{}, os.ErrClosed
		case <-w.pace:
		}
		if now, err := w.list(); err == nil { // else at the next time
			w.found, w.known = changedCPUs(w.known, now), now
		}
	}
	news := w.found[0]
	w.found = w.found[1:]
	return news, nil
}

// Close ends Next.
func (w *listedCPUs) Close() error {
	close(w.done)
	return nil
}

// changedCPUs gives those that are in one list only: first those that went.
func changedCPUs(before, now []int) (news []CPUNews) {
	for _, cpu := range before {
		if !slices.Contains(now, cpu) {
			news = append(news, CPUNews{CPU: cpu})
		}
	}
	for _, cpu := range now {
		if len(before) > 0 && !slices.Contains(before, cpu) {
			news = append(news, CPUNews{CPU: cpu, Online: true})
		}
	}
	return news
}
