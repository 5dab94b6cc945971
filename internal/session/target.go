package session

import (
	"encoding/binary"
	"time"

	"github.com/cilium/ebpf"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/procs"
)

// watchTarget ends the run when the process of -p has ended; where what it started is traced as well, when all of these
// have.
func (s *session) watchTarget() {
	if s.PID == 0 {
		return
	}
	await, err := procs.Ending(s.PID)
	if err != nil {
		s.messages.Verbosef("startrace: %v: its end does not end the run", err)
		return
	}
	followed := s.followed()
	go func() {
		await()
		for !allEnded(followed) {
			time.Sleep(endedInterval)
		}
		s.targetEnded.Store(true)
		s.wake()
	}()
}

// endedInterval is how often the run asks whether the followed processes have ended, once the first of them has.
const endedInterval = 100 * time.Millisecond

// followed is the table of the processes that are followed; nil where none are.
func (s *session) followed() *ebpf.Map {
	if s.loaded == nil || s.part == nil || s.result.Follow < 0 {
		return nil
	}
	return s.loaded.Map(tree.ContainerMap(s.result.Follow))
}

// allEnded reports whether none of the processes in the table of the followed runs any more. One stays there until it
// has been waited for.
func allEnded(followed *ebpf.Map) bool {
	if followed == nil {
		return true
	}
	var key, value []byte
	list := followed.Iterate()
	for list.Next(&key, &value) {
		if !procs.Ended(int(binary.NativeEndian.Uint32(key))) {
			return false
		}
	}
	return list.Err() == nil // else programs changed the table meanwhile
}
