package symbols

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/startrace/startrace/internal/mapping"
)

// told makes a table that hears of everything, of processes that /proc does not have.
func told(t *testing.T, events ...mapping.Change) *Namer {
	t.Helper()
	table := &Namer{processes: processes{proc: t.TempDir()}}
	table.Listen(true)
	for i := range events {
		table.Tell(&events[i])
	}
	return table
}

func code(start, end, offset uint64, path string) mapping.Mapping {
	return mapping.Mapping{Start: start, End: end, Offset: offset, Code: true, Dev: "00:01", Inode: 1, Path: path}
}

func mappedAt(time uint64, pid int, m mapping.Mapping) mapping.Change {
	return mapping.Change{Kind: mapping.Mapped, Time: time, PID: pid, Mapping: m}
}

// A process is what had its number at the time: what runs a program, its copies, these after exec, and what comes
// later.
func TestEvents(t *testing.T) {
	const shell, child = 100, 101
	table := told(t,
		mapping.Change{Kind: mapping.Executed, Time: 10, PID: shell},
		mappedAt(11, shell, code(0x1000, 0x2000, 0, "/bin/sh")),
		mapping.Change{Kind: mapping.Forked, Time: 20, PID: child, Parent: shell},
		mappedAt(25, shell, code(0x5000, 0x6000, 0, "/lib/late.so")),
		mapping.Change{Kind: mapping.Executed, Time: 30, PID: child},
		mappedAt(31, child, code(0x1000, 0x2000, 0x7000, "/bin/ls")),
		mapping.Change{Kind: mapping.Ended, Time: 40, PID: child},
		mapping.Change{Kind: mapping.Forked, Time: 50, PID: child, Parent: shell},
		mapping.Change{Kind: mapping.Forked, Time: 51, PID: child, Parent: child}, // a thread
	)
	for _, c := range []struct {
		pid           int
		at, addr      uint64
		name, program string
	}{
		{shell, 15, 0x1010, "sh+0x10", "/bin/sh"},
		{child, 22, 0x1010, "sh+0x10", "/bin/sh"},
		{child, 22, 0x5010, "0x5010", "/bin/sh"},
		{child, 35, 0x1010, "ls+0x7010", "/bin/ls"},
		{child, 60, 0x1010, "sh+0x10", "/bin/sh"},
		{child, 60, 0x5010, "late.so+0x10", "/bin/sh"},
		{child, 0, 0x5010, "late.so+0x10", "/bin/sh"},
	} {
		p := table.SeeStack(c.pid, c.at, []uint64{c.addr})
		got := table.Stack(p, []uint64{c.addr}, nil)[0].Name()
		if got != c.name || p.Program() != c.program || !p.Seen() {
			t.Errorf("%+v: got %s of %s", c, got, p.Program())
		}
	}
	if p := table.SeeStack(7, 60, nil); p.Seen() {
		t.Errorf("a process of which nothing was told: %+v", p)
	}
}

// A stack has the names of the code that was mapped when it was taken, also if other code is there by now: another
// file, or another place of one. What is mapped beside it changes nothing.
func TestReplacedCode(t *testing.T) {
	other := func(path string, inode uint64) mapping.Mapping {
		m := code(0x5000, 0x6000, 0, path)
		m.Inode = inode
		return m
	}
	table := told(t,
		mapping.Change{Kind: mapping.Executed, Time: 10, PID: 100},
		mappedAt(11, 100, code(0x1000, 0x2000, 0, "/bin/sh")),
		mappedAt(20, 100, other("/lib/first.so", 2)),
		mappedAt(30, 100, other("/lib/second.so", 3)),
		mappedAt(40, 100, code(0x7000, 0x8000, 0, "/lib/beside.so")),
	)
	of := map[uint64]*Process{}
	for at, want := range map[uint64]string{25: "first.so+0x10", 35: "second.so+0x10", 45: "second.so+0x10"} {
		of[at] = table.SeeStack(100, at, []uint64{0x5010})
		frames := table.Stack(of[at], []uint64{0x5010, 0x1011}, nil)
		if frames[0].Name() != want || frames[1].Name() != "sh+0x11" || of[at].Program() != "/bin/sh" {
			t.Errorf("at %d: got %v of %s, want %s", at, frames, of[at].Program(), want)
		}
	}
	if of[35] != of[45] || of[25].over {
		t.Error("code that was mapped beside is another process, or the one before has ended")
	}
}

// A mapping takes the place of what it covers.
func TestOverlay(t *testing.T) {
	for _, c := range []struct {
		start, end uint64
		want       string
	}{
		{0x3000, 0x4000, "1000-2000 a0; 3000-4000 n0; 5000-8000 b100"},
		{0x1000, 0x2000, "1000-2000 n0; 5000-8000 b100"},
		{0x0, 0x9000, "0-9000 n0"},
		{0x1800, 0x6000, "1000-1800 a0; 1800-6000 n0; 6000-8000 b1100"},
		{0x6000, 0x7000, "1000-2000 a0; 5000-6000 b100; 6000-7000 n0; 7000-8000 b2100"},
		{0x9000, 0xa000, "1000-2000 a0; 5000-8000 b100; 9000-a000 n0"},
	} {
		p := &Process{maps: []area{{Mapping: code(0x1000, 0x2000, 0, "/a")},
			{Mapping: code(0x5000, 0x8000, 0x100, "/b")}}}
		p.add(code(c.start, c.end, 0, "/n"), false)
		got := ""
		for i, a := range p.maps {
			if i > 0 {
				got += "; "
			}
			got += fmt.Sprintf("%x-%x %s%x", a.Start, a.End, a.Path[1:], a.Offset)
		}
		if got != c.want {
			t.Errorf("%x-%x: got %s, want %s", c.start, c.end, got, c.want)
		}
	}
}

// A process that maps, and ends before anybody looks at it: its own file has its names, another at the path has not.
// The file of one that lived when it was seen may be gone later.
func TestToldFiles(t *testing.T) {
	p := start(t)
	list, err := mapping.Read(fmt.Sprintf("/proc/%d", p.pid))
	if err != nil {
		t.Fatal(err)
	}
	addrs := []uint64{p.addresses["tell"]}
	ended, another, seen := told(t), told(t), told(t)
	for i, table := range []*Namer{ended, another, seen} {
		table.processes.proc = "/proc"
		table.Tell(&mapping.Change{Kind: mapping.Executed, Time: 1, PID: p.pid})
		for _, m := range list {
			if i == 1 && m.Path == p.path {
				m.Inode++
			}
			table.Tell(&mapping.Change{Kind: mapping.Mapped, Time: 2, PID: p.pid, Mapping: m})
		}
	}
	living := seen.SeeStack(p.pid, 3, addrs)
	p.end()
	for _, table := range []*Namer{ended, another, seen} {
		table.Tell(&mapping.Change{Kind: mapping.Ended, Time: 4, PID: p.pid})
	}
	if got := ended.Stack(ended.SeeStack(p.pid, 3, addrs), addrs, nil)[0].Name(); got != "tell" {
		t.Errorf("ended before it was seen: %s", got)
	}
	if got := another.Stack(another.SeeStack(p.pid, 3, addrs), addrs, nil)[0]; got.Function != "" ||
		got.Module() != "program" {
		t.Errorf("another file at its path: %v", got)
	}
	if err := os.Remove(p.path); err != nil {
		t.Fatal(err)
	}
	if got := seen.Stack(living, addrs, nil)[0].Name(); got != "tell" {
		t.Errorf("gone since: %s", got)
	}
	if err := seen.Close(); err != nil {
		t.Error(err)
	}
}

// A copy of a process that was there before events came has what that has mapped.
func TestCopyOfOlder(t *testing.T) {
	table := told(t)
	fake(t, table.processes.proc, "1", "7f0000001000-7f0000002000 r-xp 00000000 00:00 0 /old\n")
	table.Tell(&mapping.Change{Kind: mapping.Forked, Time: 20, PID: 8, Parent: 7})
	table.Tell(&mapping.Change{Kind: mapping.Ended, Time: 21, PID: 8})
	addrs := []uint64{0x7f0000001010}
	if got := table.Stack(table.SeeStack(8, 20, addrs), addrs, nil)[0].Name(); got != "old+0x10" {
		t.Errorf("got %s", got)
	}
	// After a loss, what is known of living processes is read again.
	fake(t, table.processes.proc, "1", "7f0000003000-7f0000004000 r-xp 00000000 00:00 0 /new\n")
	table.Listen(true)
	addrs = []uint64{0x7f0000003010}
	if got := table.Stack(table.SeeStack(7, 30, addrs), addrs, nil)[0].Name(); got != "new+0x10" {
		t.Errorf("after a loss: %s", got)
	}
}

// There is room for a number of processes; those that ended go first.
func TestManyProcesses(t *testing.T) {
	const room = 64
	table := told(t)
	table.processes.most = room
	for pid := 1; pid <= 4*room; pid++ {
		table.Tell(&mapping.Change{Kind: mapping.Executed, Time: uint64(pid), PID: pid})
		if pid%2 == 0 {
			table.Tell(&mapping.Change{Kind: mapping.Ended, Time: uint64(pid), PID: pid})
		}
		if len(table.processes.byPID) > room {
			t.Fatalf("%d processes are kept", len(table.processes.byPID))
		}
	}
	var kept []int
	for pid := range table.processes.byPID {
		kept = append(kept, pid)
	}
	if slices.Max(kept) != 4*room || len(kept) < room/4 {
		t.Errorf("kept %v", kept)
	}
	for range 3 * maxBefore {
		table.Tell(&mapping.Change{Kind: mapping.Executed, Time: 1 << 20, PID: 4 * room})
	}
	n := 0
	for p := table.processes.byPID[4*room]; p != nil; p = p.before {
		n++
	}
	if n != maxBefore {
		t.Errorf("%d programs of one number are kept, want %d", n, maxBefore)
	}
}

// codeAt is a mapping of code at one place, of a file with a number.
func codeAt(path string, inode uint64) mapping.Mapping {
	m := code(0x400000, 0x401000, 0, path)
	m.Inode = inode
	return m
}

// A program that was forgotten has no names, not those of another program of its number.
func TestForgottenProgram(t *testing.T) {
	table := told(t)
	const last = maxBefore + 5
	for i := range uint64(last) {
		table.Tell(&mapping.Change{Kind: mapping.Executed, Time: i + 1, PID: 8})
		table.Tell(&mapping.Change{Kind: mapping.Mapped, Time: i + 1, PID: 8, Mapping: codeAt("/program", i+1)})
	}
	addrs := []uint64{0x400010}
	if table.SeeStack(8, 2, addrs).Seen() {
		t.Error("a program that is not kept is taken for another one")
	}
	if p := table.SeeStack(8, last, addrs); !p.Seen() || p.maps[0].Inode != last {
		t.Errorf("the last program is %+v", p)
	}
}

// What /proc says is not of a program that is known by events, if another file lies at its addresses: it has become
// another program, and the event of that has not come yet.
func TestAnotherProgramAtOnePlace(t *testing.T) {
	table := told(t)
	table.Tell(&mapping.Change{Kind: mapping.Executed, Time: 20, PID: 7})
	table.Tell(&mapping.Change{Kind: mapping.Mapped, Time: 20, PID: 7, Mapping: codeAt("/one", 1)})
	fake(t, table.processes.proc, "1", "400000-401000 r-xp 00000000 00:01 2 /two\n")
	addrs := []uint64{0x400010, 0x500000} // of which the second makes /proc be read
	p := table.SeeStack(7, 21, addrs)
	if got := table.Stack(p, addrs[:1], nil)[0].Path; got != "/one" {
		t.Errorf("the program is %s", got)
	}
}
