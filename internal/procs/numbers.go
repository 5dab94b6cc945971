package procs

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/internal/bpf"
	"github.com/startrace/startrace/internal/kernel"
)

// The two numbers of each process, that of the kernel's programs and that here; messages about -p of a thread and about
// pid namespaces.

// Numbers are the two numbers of each process: programs in the kernel know it by the one of the initial pid namespace,
// /proc and startrace by the one of the namespace that startrace runs in. Outside of containers both are the same. Any
// goroutine may ask.
type Numbers struct {
	types func() (*kernel.BTF, error)
	// same reports once whether both are the same.
	same func() bool

	mu sync.Mutex
	// list runs for each task that startrace's namespace has; nil until it is wanted.
	list *ebpf.Program
	// own has the numbers here by those of the kernel, and kernels the other way, as they were at read.
	own, kernels map[int]int
	read         time.Time
	// absent are numbers of the kernel that no process had that is seen here, and when that was.
	absent map[int]time.Time
}

// numbersAge is how long numbers are believed. They come again only after many thousands of other processes.
const numbersAge = 100 * time.Millisecond

// NewNumbers asks for the kernel's types only where the numbers differ.
func NewNumbers(types func() (*kernel.BTF, error)) *Numbers {
	return &Numbers{types: types, same: sync.OnceValue(sameNumbers)}
}

// sameNumbers reports whether /proc has the kernel's own numbers: that of the initial namespace has, wherever it is
// mounted.
func sameNumbers() bool {
	if initial, err := inInitialNamespace(); err != nil || initial {
		return true
	}
	self, err := os.Readlink("/proc/self")
	if err != nil || self == fmt.Sprint(os.Getpid()) {
		return false
	}
	number, err := SelfInitPID()
	return err == nil && self == fmt.Sprint(number)
}

// Own is the number here of the process that programs know by a number; false where it has ended, or is outside of the
// namespace.
func (n *Numbers) Own(number int) (pid int, ok bool) {
	if n.same() {
		return number, true
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if time.Since(n.read) < numbersAge {
		if pid, ok = n.own[number]; ok || time.Since(n.absent[number]) < numbersAge {
			return pid, ok
		}
	}
	if n.refresh() != nil {
		return 0, false
	}
	if pid, ok = n.own[number]; !ok {
		n.absent[number] = n.read
	}
	return pid, ok
}

// Sight is the number by which a process is looked for in /proc: that of Own, or one that no process has.
func (n *Numbers) Sight(number int) int {
	if pid, ok := n.Own(number); ok {
		return pid
	}
	return -number
}

// Kernel is the number by which programs know the process that has a number here.
func (n *Numbers) Kernel(pid int) (int, error) {
	if n.same() {
		return pid, nil
	}
	if pid == os.Getpid() {
		return SelfInitPID()
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if number, ok := n.kernels[pid]; ok && time.Since(n.read) < numbersAge {
		return number, nil
	}
	if err := n.refresh(); err != nil {
		return 0, fmt.Errorf("process %d: %w", pid, err)
	}
	number, ok := n.kernels[pid]
	if !ok {
		return 0, fmt.Errorf("there is no process %d", pid)
	}
	return number, nil
}

// Program is Kernel of a process that -p may name: no thread of another one.
func (n *Numbers) Program(pid int) (int, error) {
	leader, ok := leaderOf(pid)
	switch {
	case !ok:
		return 0, fmt.Errorf("there is no process %d", pid)
	case leader != pid:
		return 0, fmt.Errorf("%d is a thread of process %d: give that, and "+
			"where = lambda e: e.tid == %d for the thread alone", pid, leader, pid)
	}
	if initial, err := inInitialNamespace(); err == nil && !initial && n.same() {
		return 0, fmt.Errorf("process %d: %w", pid, ErrNamespace) // calls of the system take numbers of the own one
	}
	return n.Kernel(pid)
}

// Close gives back what finds numbers.
func (n *Numbers) Close() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.list == nil {
		return nil
	}
	return n.list.Close()
}

// ErrNamespace says that /proc has the numbers of yet another namespace.
var ErrNamespace = errors.New("startrace runs in a pid namespace of its own (a container), and /proc there has the " +
	"numbers of another one, which mean other processes: mount its own one, as unshare --mount-proc does")

// refresh reads all numbers.
func (n *Numbers) refresh() error {
	if nested() {
		return ErrNamespace
	}
	if n.list == nil {
		b, err := n.types()
		if err == nil {
			n.list, err = loadTaskList(b)
		}
		if err != nil {
			return fmt.Errorf("find the numbers that the kernel uses for processes of this pid namespace: %w", err)
		}
	}
	tasks, err := bpf.OpenIterator(n.list, nil)
	if err != nil {
		return fmt.Errorf("list processes: %w", err)
	}
	defer tasks.Close()
	n.own, n.kernels, n.absent = map[int]int{}, map[int]int{}, map[int]time.Time{}
	n.read = time.Now()
	for buf := make([]byte, 1<<12); ; {
		size, err := tasks.Read(buf)
		for at := 0; at+taskSize <= size; at += taskSize {
			number := int(binary.NativeEndian.Uint32(buf[at:]))
			pid := int(binary.NativeEndian.Uint32(buf[at+4:]))
			n.own[number], n.kernels[pid] = pid, number
		}
		if err != nil && !errors.Is(err, unix.EINTR) && !errors.Is(err, unix.EAGAIN) || err == nil && size == 0 {
			return nil // the end
		}
	}
}

// nested reports whether /proc shows this process as one of a namespace below its own.
func nested() bool {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return true
	}
	for line := range strings.Lines(string(text)) {
		if numbers, ok := strings.CutPrefix(line, "NSpid:"); ok {
			return len(strings.Fields(numbers)) != 1
		}
	}
	return true
}
