package bpf

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Waiting until all runs of programs that were going on have ended.

// membarrierGlobal is MEMBARRIER_CMD_GLOBAL of include/uapi/linux/membarrier.h.
const membarrierGlobal = 1

// WaitForPrograms returns when every run of a program that was going on at
// the call has ended (sleepable ones excepted): the kernel holds the RCU read
// lock during a run, and a grace period waits for it.
//
// Missing in ebpf: a way to wait.
func WaitForPrograms() error {
	// membarrier(2) waits for a grace period (kernel/sched/membarrier.c), but for
	// machines with one CPU, where it does nothing, and with nohz_full, where it
	// fails. It comes first because it disturbs no program.
	if several, err := severalCPUs(); err == nil && several {
		if _, _, errno := unix.Syscall(unix.SYS_MEMBARRIER, membarrierGlobal, 0, 0); errno == 0 {
			return nil
		}
	}
	return waitByMap()
}

func severalCPUs() (bool, error) {
	online, err := os.ReadFile("/sys/devices/system/cpu/online") // as "0-3,5"
	return strings.ContainsAny(string(online), "-,"), err
}

// mapAttr has the attributes of BPF_MAP_CREATE, in the order of union bpf_attr (include/uapi/linux/bpf.h): typ is the
// kind of map, keySize, valueSize and maxEntries are its measures, flags are BPF_F_*, and inner is the descriptor of a
// map as those that this one is to hold.
type mapAttr struct {
	typ, keySize, valueSize, maxEntries uint32
	flags, inner                        uint32
}

type elemAttr struct {
	fd    uint32
	_     uint32
	key   *uint32
	value *uint32
	flags uint64
}

const (
	mapArray       = 2  // BPF_MAP_TYPE_ARRAY
	mapArrayOfMaps = 12 // BPF_MAP_TYPE_ARRAY_OF_MAPS
)

// waitByMap changes an entry of an array of maps: the call returns after a
// grace period, so that the old map is out of use (maybe_wait_bpf_programs in
// kernel/bpf/syscall.c, 5.0).
func waitByMap() (err error) {
	inner, err := createMap(&mapAttr{typ: mapArray, keySize: 4, valueSize: 8, maxEntries: 1})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unix.Close(inner)) }()
	outer, err := createMap(&mapAttr{typ: mapArrayOfMaps, keySize: 4, valueSize: 4, maxEntries: 1,
		inner: uint32(inner)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unix.Close(outer)) }()
	key, value := uint32(0), uint32(inner)
	attr := elemAttr{fd: uint32(outer), key: &key, value: &value}
	if _, err := call(unix.BPF_MAP_UPDATE_ELEM, unsafe.Pointer(&attr), unsafe.Sizeof(attr)); err != nil {
		return fmt.Errorf("wait for running programs: %w", err)
	}
	return nil
}

func createMap(attr *mapAttr) (int, error) {
	fd, err := call(unix.BPF_MAP_CREATE, unsafe.Pointer(attr), unsafe.Sizeof(*attr))
	if err != nil {
		return -1, fmt.Errorf("make a map to wait with: %w", err)
	}
	return fd, nil
}
