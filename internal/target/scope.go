package target

import (
	"errors"
	"fmt"

	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/procs"
)

// What --cgroup, --container and --user name is looked up, and that two of them exclude each other.

// A Scope is what the command line says of processes beside their numbers; "" for nothing.
type Scope struct {
	Cgroup    string // the path of a folder
	Container string // an id, or how it begins
	User      string // a name or a number
}

// found is a scope as programs test it.
type found struct {
	cgroup plan.Cgroup
	folder string // of the cgroup
	user   *uint32
}

// find looks up what a scope names.
func (s Scope) find() (f found, err error) {
	if s.Cgroup != "" && s.Container != "" {
		return f, errors.New("--cgroup and --container exclude each other: a container is a cgroup")
	}
	if s.User != "" {
		uid, err := procs.FindUser(s.User)
		if err != nil {
			return f, fmt.Errorf("--user: %w", err)
		}
		f.user = &uid
	}
	var folder procs.CgroupFolder
	flag := "--cgroup"
	switch {
	case s.Cgroup != "":
		folder, err = procs.FindCgroup(s.Cgroup)
	case s.Container != "":
		flag = "--container"
		folder, err = procs.FindContainer(s.Container)
	default:
		return f, nil
	}
	if err != nil {
		return f, fmt.Errorf("%s: %w", flag, err)
	}
	f.cgroup, f.folder = plan.Cgroup{ID: folder.ID, Level: folder.Level}, folder.Path
	return f, nil
}

// Passing is the cgroup and the user that processes must have.
func (t *Target) Passing() (plan.Cgroup, *uint32) { return t.scope.cgroup, t.scope.user }

// CgroupFolder is the path of the cgroup that processes must be in, "" for none.
func (t *Target) CgroupFolder() string { return t.scope.folder }
