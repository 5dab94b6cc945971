package attach

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/bpfgen"
	"github.com/startrace/startrace/bpfgen/tree"
)

const tracefs = "/sys/kernel/tracing"

func testReturnEvents(t *testing.T) *returnEvents {
	t.Helper()
	if _, err := os.Stat(tracefs + "/kprobe_events"); err != nil {
		t.Skip("needs root and a kernel with CONFIG_KPROBE_EVENTS:", err)
	}
	r := openReturnEvents(func() (string, error) { return tracefs, nil })
	if r == nil {
		t.Fatal("kprobe_events cannot be written")
	}
	return r
}

func returnsLeft(t *testing.T) string {
	t.Helper()
	list, err := os.ReadFile(tracefs + "/kprobe_events")
	if err != nil {
		t.Fatal(err)
	}
	return string(list)
}

// Calls beyond those that are followed are counted, exactly, and their event is
// gone with the program. Here they are reads of an inotify, which nobody else
// does, that all wait for files.
func TestReturnEventsCountMisses(t *testing.T) {
	r := testReturnEvents(t)
	const follows, readers = 3, 20
	place := tree.Place{Func: "inotify_read"}
	l := mustLoad(t, unitOf(tree.Attach{Way: &tree.Functions{Mech: tree.AttachKretprobe, Places: []tree.Place{place}}}))
	l.returns = r
	p := l.programs[0]
	at, err := l.openReturn(p, &place, follows, 0)
	if err != nil {
		t.Fatal(err)
	}
	p.points = []spot{at}
	missed := func() uint64 {
		losses, _, err := l.Losses()
		if err != nil {
			t.Error(err)
		}
		i := slices.IndexFunc(losses, func(loss Loss) bool { return loss.Kind == LossUnseen && loss.Probe == 0 })
		if i < 0 {
			return 0
		}
		return losses[i].Count
	}
	end := waitForFiles(t, readers)
	for range 1000 {
		if missed() >= readers-follows {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	end()
	l.Disable()
	if err := l.closing.wait(); err != nil {
		t.Error(err)
	}
	if left := returnsLeft(t); strings.Contains(left, at.event) {
		t.Errorf("left: %s", left)
	}
	if n, seen := missed(), counts(l)[0]; n != readers-follows || seen != follows {
		t.Errorf("%d calls missed and %d seen of %d, of which %d are followed", n, seen, readers, follows)
	}
}

// removing is a list of which an event is removed after the first part that is read.
type removing struct {
	*os.File
	remove func() error
}

func (f *removing) ReadAt(p []byte, at int64) (int, error) {
	n, err := f.File.ReadAt(p, at)
	if f.remove != nil {
		err = errors.Join(err, f.remove())
		f.remove = nil
	}
	return n, err
}

// What events missed is found in a list that changes while it is read.
func TestReturnEventsRead(t *testing.T) {
	r := testReturnEvents(t)
	const events = 120 // more than a page of the list
	names := map[string]bool{}
	for range 1 + events {
		name, _, err := r.create(&tree.Place{Func: "inotify_read"}, 1)
		if err != nil {
			t.Fatal(err)
		}
		names[name] = true
	}
	defer func() {
		for name := range names {
			if err := r.remove(name); err != nil {
				t.Error(err)
			}
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}()
	first := r.prefix + "1"
	delete(names, first)
	left := maps.Clone(names)
	if _, err := readMissed(&removing{r.profile, func() error {
		return r.remove(first)
	}}, left); err != nil || len(left) == 0 {
		t.Errorf("%d are left out, %v: then there is no need to read it again", len(left), err)
	}
	if _, err := r.missed(left); err != nil || len(left) != 0 {
		t.Errorf("%d are not found: %v", len(left), err)
	}
}

// waitForFiles makes readers wait for files of a folder, until end makes these.
func waitForFiles(t *testing.T, readers int) (end func()) {
	t.Helper()
	dir := t.TempDir()
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := unix.InotifyAddWatch(fd, dir, unix.IN_CREATE); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, readers)
	for range readers {
		go func() {
			_, err := unix.Read(fd, make([]byte, 64))
			ended <- err
		}()
	}
	return func() {
		for n, i := 0, 0; n < readers; i++ { // a reader can take two
			if err := os.WriteFile(filepath.Join(dir, strconv.Itoa(i)), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			select {
			case err := <-ended:
				if n++; err != nil {
					t.Error(err)
				}
			case <-time.After(10 * time.Millisecond):
			}
		}
		if err := unix.Close(fd); err != nil {
			t.Error(err)
		}
	}
}

// What a process left that was killed is removed by the next that needs such
// events; those of one that runs stay, and so does what is not ours.
//
// > A run that is killed leaves `startrace/ret_…` in `kprobe_events` of tracefs, which does nothing any more.
// > The next run that needs such events removes them.
func TestReturnEventsLeft(t *testing.T) {
	r := testReturnEvents(t)
	ended := exec.Command("true")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	dead := fmt.Sprintf("ret_%d_abcdefgh_1", ended.Process.Pid)
	if _, err := fmt.Fprintf(r.file, "r:%s/%s vfs_fsync\n", returnGroup, dead); err != nil {
		t.Fatal(err)
	}
	own, _, err := r.create(&tree.Place{Func: "vfs_fsync"}, 10)
	if err != nil {
		t.Fatal(err)
	}
	other := testReturnEvents(t)
	left := returnsLeft(t)
	if strings.Contains(left, dead) || !strings.Contains(left, fmt.Sprintf("r10:%s/%s vfs_fsync", returnGroup, own)) {
		t.Errorf("left: %s", left)
	}
	if err := errors.Join(other.remove(own), other.Close(), r.Close()); err != nil {
		t.Error(err)
	}
}

// Without tracefs there are no events, nor where what they miss cannot be read,
// and the kernel's own way must do.
func TestReturnEventsMissing(t *testing.T) {
	folder := func(files ...string) func() (string, error) {
		dir := t.TempDir()
		for _, f := range files {
			if err := os.WriteFile(filepath.Join(dir, f), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return func() (string, error) { return dir, nil }
	}
	for i, where := range []func() (string, error){
		nil, func() (string, error) {
			return "", unix.ENOENT
		}, folder(), folder("kprobe_events"), folder("kprobe_profile"),
	} {
		if r := openReturnEvents(where); r != nil {
			t.Errorf("%d: got %v", i, r)
		}
	}
}

type noLink struct{}

func (noLink) Close() error { return nil }

// What cannot be read is said, not taken for no loss, also after the end.
func TestReturnEventsUnread(t *testing.T) {
	for text, want := range map[string]string{"": "is a directory", "  ret_1 5 x\n": `"x": invalid syntax`} {
		name := t.TempDir()
		if text != "" {
			name = filepath.Join(name, "kprobe_profile")
			if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		profile, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		prog := &program{Program: &tree.Program{}, points: []spot{{link: noLink{}, kind: returnPoint, event: "ret_1"}}}
		l := &Loaded{unit: &bpfgen.Unit{}, returns: &returnEvents{file: profile, profile: profile},
			programs: []*program{prog}}
		check := func() {
			t.Helper()
			if _, _, err := l.Losses(); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want: %s", err, want)
			}
		}
		check()
		l.Disable()
		_ = l.closing.wait() // there is no such point
		check()
		_ = profile.Close()
	}
}

func TestFollowedCalls(t *testing.T) {
	for places, want := range map[int]int{1: 4096, 256: 4096, 512: 2048, 4096: 256} {
		if got := followedCalls(places); got != want {
			t.Errorf("%d places: %d, want %d", places, got, want)
		}
	}
}
