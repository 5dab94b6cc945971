package attach

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cilium/ebpf"

	"github.com/startrace/startrace/bpfgen/tree"
)

// The maps that all units of a session share: containers, epochs, CPUs.

// Shared has the maps that several units use: those of containers, that of the containers' epochs, and that which says
// for each CPU how many programs are in calls that take locks, and those by which user stacks are walked. The first
// unit that uses one makes its map; the others get the same one. The maps belong to Shared and outlive the units.
type Shared struct{ maps map[string]*ebpf.Map }

// isShared: the numbers of containers mean the same in all units, and so do those of CPUs and of processes; all else
// belongs to one.
func isShared(name string) bool {
	number, _ := strings.CutPrefix(name, tree.MapContainer)
	_, err := strconv.Atoi(number)
	ofRun := []string{tree.MapEpochs, tree.MapBusy, tree.MapUnwindProcesses, tree.MapUnwindTables, tree.MapUnwindRows,
		tree.MapUnwindFiles, tree.MapUnwindGuesses}
	return err == nil || slices.Contains(ofRun, name)
}

// find gives the map that a unit is to use, nil where it makes its own.
func (s *Shared) find(name string, spec *ebpf.MapSpec) (*ebpf.Map, error) {
	if s == nil || s.maps[name] == nil {
		return nil, nil
	}
	m := s.maps[name]
	if m.Type() != spec.Type || m.KeySize() != spec.KeySize || m.ValueSize() != spec.ValueSize ||
		m.MaxEntries() != spec.MaxEntries {
		return nil, fmt.Errorf("the map has keys of %d bytes and values of %d, the programs %d and %d",
			m.KeySize(), m.ValueSize(), spec.KeySize, spec.ValueSize)
	}
	return m, nil
}

// owns reports whether a map of that name is one of Shared, which no unit closes.
func (s *Shared) owns(name string, m *ebpf.Map) bool { return s != nil && s.maps[name] == m }

// keep takes over the maps of a unit that has been loaded.
func (s *Shared) keep(maps map[string]*ebpf.Map) {
	if s == nil {
		return
	}
	if s.maps == nil {
		s.maps = map[string]*ebpf.Map{}
	}
	for name, m := range maps {
		if isShared(name) {
			s.maps[name] = m
		}
	}
}

// Close releases the maps. The caller has closed all units before.
func (s *Shared) Close() error {
	var errs []error
	for name, m := range s.maps {
		errs = append(errs, m.Close())
		delete(s.maps, name)
	}
	return errors.Join(errs...)
}
