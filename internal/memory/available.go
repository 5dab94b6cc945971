package memory

import (
	"bytes"
	"os"
	"path"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// available is how many bytes more this process can have: of the machine, of its control group and those above, and
// by its own limit of addresses.
func available() uint64 {
	return min(freeMemory(), freeInGroup(), freeAddresses())
}

const unlimited = 1 << 62

// freeMemory is what the machine has left (man 5 proc_meminfo).
func freeMemory() uint64 {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return unlimited
	}
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if len(words) < 2 || words[0] != "MemAvailable:" {
			continue
		}
		if kb, err := strconv.ParseUint(words[1], 10, 50); err == nil {
			return kb << 10
		}
	}
	return unlimited
}

// groups is where the control groups of version 2 are.
const groups = "/sys/fs/cgroup"

// freeInGroup is the smallest limit of the group of this process and of those above.
func freeInGroup() uint64 {
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return unlimited
	}
	for line := range strings.Lines(string(text)) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "0::"); ok {
			return limitOf(groups, name)
		}
	}
	return unlimited
}

func limitOf(root, group string) (least uint64) {
	least = unlimited
	for ; group != "/" && group != "."; group = path.Dir(group) {
		text, err := os.ReadFile(path.Join(root, group, "memory.max"))
		if err != nil {
			continue
		}
		if n, err := strconv.ParseUint(string(bytes.TrimSpace(text)), 10, 62); err == nil { // else it is "max"
			least = min(least, n)
		}
	}
	return least
}

// freeAddresses is what `ulimit -v` leaves.
func freeAddresses() uint64 {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_AS, &limit); err != nil || limit.Cur >= unlimited {
		return unlimited
	}
	text, err := os.ReadFile("/proc/self/statm") // the first word: pages of addresses
	words := bytes.Fields(text)
	if err != nil || len(words) == 0 {
		return limit.Cur
	}
	pages, err := strconv.ParseUint(string(words[0]), 10, 50)
	if err != nil {
		return limit.Cur
	}
	return limit.Cur - min(limit.Cur, pages*uint64(os.Getpagesize()))
}
