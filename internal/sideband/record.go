package sideband

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/internal/mapping"
)

// Records of what processes do, decoded: fork, exec, mmap, exit.

// The bodies of records (enum perf_event_type); each ends with the time, as
// PERF_SAMPLE_TIME of sample_id_all.
//
//	FORK, EXIT  u32 pid, parent's pid, tid, parent's tid; u64 time
//	COMM        u32 pid, tid; the name
//	MMAP2       u32 pid, tid; u64 address, length, offset; u32 major, minor; u64 inode, its generation;
//	            u32 protection, flags; the path
const (
	timeSize  = 8
	taskSize  = 24
	commSize  = 8
	mmap2Size = 64
)

// decode reads a record; false for one that says nothing of processes.
func decode(kind uint32, misc uint16, body []byte) (e mapping.Change, ok bool) {
	order := binary.NativeEndian
	if len(body) < commSize+timeSize {
		return e, false
	}
	e.Time = order.Uint64(body[len(body)-timeSize:])
	body = body[:len(body)-timeSize]
	e.PID = int(int32(order.Uint32(body)))
	second := int(int32(order.Uint32(body[4:])))
	switch {
	case kind == unix.PERF_RECORD_FORK && len(body) >= taskSize:
		e.Kind, e.Parent = mapping.Forked, second
	case kind == unix.PERF_RECORD_EXIT && len(body) >= taskSize:
		e.Kind = mapping.Ended
		if int(int32(order.Uint32(body[8:]))) != e.PID {
			return e, false // a thread
		}
	case kind == unix.PERF_RECORD_COMM && misc&unix.PERF_RECORD_MISC_COMM_EXEC != 0:
		e.Kind = mapping.Executed
	case kind == unix.PERF_RECORD_MMAP2 && len(body) >= mmap2Size:
		e.Kind, e.Mapping = mapping.Mapped, mapped(body)
	}
	return e, e.Kind != 0 && e.PID > 0
}

func mapped(body []byte) mapping.Mapping {
	order := binary.NativeEndian
	start := order.Uint64(body[8:])
	m := mapping.Mapping{
		Start: start, End: start + order.Uint64(body[16:]), Offset: order.Uint64(body[24:]),
		Code:  order.Uint32(body[56:])&unix.PROT_EXEC != 0,
		Dev:   fmt.Sprintf("%02x:%02x", order.Uint32(body[32:]), order.Uint32(body[36:])), // as in /proc/PID/maps
		Inode: order.Uint64(body[40:]),
	}
	name, _, _ := bytes.Cut(body[mmap2Size:], []byte{0})
	m.SetPath(string(name))
	return m
}
