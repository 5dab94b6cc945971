package parts

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cilium/ebpf"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/procs"
)

// The table of processes that a part follows: one is put in, one taken out; cgroups, too.

// Follow puts processes into the table of followed processes. Package state has
// a way that keeps no program from running meanwhile; it takes a program of its
// own, and here nothing is attached yet, or hardly anything.
func (p *Part) Follow(pids ...int) error {
	for _, pid := range pids {
		if err := p.followOne(pid); err != nil {
			return err
		}
	}
	return nil
}

// followOne is follow of one process. It does nothing where the part follows none.
func (p *Part) followOne(pid int) error {
	if p.Result.Follow < 0 {
		return nil
	}
	value := make([]byte, p.followTable().ValueLayout.Size)
	if err := p.Followed().Put(p.followKey(pid), value); err != nil {
		return fmt.Errorf("following process %d: %w", pid, err)
	}
	return nil
}

// FollowLiving is follow of a process that may have ended: then it does not stay in
// the table, out of which the programs took it before it came there.
func (p *Part) FollowLiving(pid int) error {
	if err := p.Follow(pid); err != nil {
		return err
	}
	if procs.ThreadEnded(pid) {
		return p.unfollow(pid)
	}
	return nil
}

// unfollow takes a process out again, if it is there.
func (p *Part) unfollow(pid int) error {
	if err := p.Followed().Delete(p.followKey(pid)); err != nil && !errors.Is(err, ebpf.ErrKeyNotExist) {
		return fmt.Errorf("following process %d: %w", pid, err)
	}
	return nil
}

// followTable is the declaration of the table of followed processes.
func (p *Part) followTable() *tree.Container { return p.Unit.Tree.Containers[p.Result.Follow] }

// followKey is a process as the key of that table.
func (p *Part) followKey(pid int) []byte {
	key := make([]byte, p.followTable().KeyLayout.Size)
	binary.NativeEndian.PutUint32(key, uint32(pid))
	return key
}

// Followed is the table of the processes that the programs of a part follow; nil
// where they follow none.
func (p *Part) Followed() *ebpf.Map {
	if p.Loaded == nil || p.Result.Follow < 0 {
		return nil
	}
	return p.Loaded.Map(tree.ContainerMap(p.Result.Follow))
}

// TraceCgroup puts a cgroup into the table of those that the programs of a part trace, if it has one.
func (p *Part) TraceCgroup(number uint64) error {
	id := p.Result.Cgroups
	if id < 0 || p.Loaded == nil {
		return nil
	}
	table := p.Unit.Tree.Containers[id]
	key, value := make([]byte, table.KeyLayout.Size), make([]byte, table.ValueLayout.Size)
	binary.NativeEndian.PutUint64(key, number)
	if err := p.Loaded.Map(tree.ContainerMap(id)).Put(key, value); err != nil {
		return fmt.Errorf("tracing cgroup %d: %w", number, err)
	}
	return nil
}
