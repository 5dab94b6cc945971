package memory

import (
	"bytes"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// What the machine and its control groups (cgroup) leave of memory.

// Available is how many bytes more this process can have: of the machine, of its control group and those above, and
// by its own limits of addresses (`ulimit -v`) and of data (`ulimit -d`).
func Available() uint64 {
	const addresses, data = 0, 5 // the words of statm
	return min(freeMemory(), InGroup(), freeOfLimit(unix.RLIMIT_AS, addresses), freeOfLimit(unix.RLIMIT_DATA, data))
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

// A hierarchy is a tree of control groups.
type hierarchy struct {
	// root is the folder of the tree, limit the file in each of its folders that has the limit of memory in bytes.
	// usage has what is used of it, also by the kernel, and cache are the lines of memory.stat of what is given back.
	root, limit, usage string
	cache              []string
}

var (
	version1 = hierarchy{"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
		[]string{"total_inactive_file", "total_active_file"}}
	version2 = hierarchy{"/sys/fs/cgroup", "memory.max", "memory.current",
		[]string{"inactive_file", "active_file", "slab_reclaimable"}}
)

// InGroup is what the control groups of this process and those above leave, more than any machine has where there is no
// limit.
func InGroup() uint64 { return group().left }

// A bound is what a control group leaves of its limit.
type bound struct{ left, limit uint64 }

// group is the bound of the control group that leaves least, of that of this process and those above.
func group() bound {
	least := bound{unlimited, unlimited}
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return least
	}
	for line := range strings.Lines(string(text)) {
		if tree, name, ok := groupIn(strings.TrimSpace(line)); ok {
			least = least.or(tree.boundOf(name))
		}
	}
	return least
}

// or is the bound that leaves less.
func (b bound) or(other bound) bound {
	if other.left < b.left {
		return other
	}
	return b
}

// groupIn reads a line of /proc/PID/cgroup, NUMBER:CONTROLLERS:GROUP; not ok, it is of a tree that does not limit
// memory (man 7 cgroups).
func groupIn(line string) (tree hierarchy, group string, ok bool) {
	words := strings.SplitN(line, ":", 3)
	if len(words) != 3 {
		return hierarchy{}, "", false
	}
	if words[0] == "0" && words[1] == "" {
		return version2, words[2], true
	}
	return version1, words[2], slices.Contains(strings.Split(words[1], ","), "memory")
}

// boundOf is that of a group or of one above that leaves least, up to the root of what is mounted: a container sees its
// own group there, whatever the group is called outside.
func (h hierarchy) boundOf(group string) bound {
	for least := (bound{unlimited, unlimited}); ; group = path.Dir(group) {
		folder := path.Join(h.root, group)
		if limit, ok := numberIn(path.Join(folder, h.limit)); ok { // else there is none
			least = least.or(bound{limit - min(limit, h.usedIn(folder)), limit})
		}
		if group == "/" || group == "." {
			return least
		}
	}
}

// usedIn is what the processes of a group use, without files, and names of them, that need not be in memory.
func (h hierarchy) usedIn(folder string) uint64 {
	used, _ := numberIn(path.Join(folder, h.usage))
	text, err := os.ReadFile(path.Join(folder, "memory.stat"))
	if err != nil {
		return used
	}
	for line := range strings.Lines(string(text)) {
		if words := strings.Fields(line); len(words) == 2 && slices.Contains(h.cache, words[0]) {
			if n, err := strconv.ParseUint(words[1], 10, 62); err == nil {
				used -= min(used, n)
			}
		}
	}
	return used
}

// numberIn is the number that a file has, if it has one.
func numberIn(file string) (n uint64, ok bool) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, false
	}
	n, err = strconv.ParseUint(string(bytes.TrimSpace(text)), 10, 62)
	return n, err == nil
}

// freeOfLimit is what a limit of this process leaves, of which /proc/self/statm has the pages that are taken as its
// word of a number.
func freeOfLimit(resource, word int) uint64 {
	var limit unix.Rlimit
	if err := unix.Getrlimit(resource, &limit); err != nil || limit.Cur >= unlimited {
		return unlimited
	}
	text, err := os.ReadFile("/proc/self/statm")
	words := bytes.Fields(text)
	if err != nil || len(words) <= word {
		return limit.Cur
	}
	pages, err := strconv.ParseUint(string(words[word]), 10, 50)
	if err != nil {
		return limit.Cur
	}
	return limit.Cur - min(limit.Cur, pages*uint64(os.Getpagesize()))
}
