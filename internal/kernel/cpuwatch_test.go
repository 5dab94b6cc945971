package kernel

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"testing"
	"time"
)

func TestCPUNewsIn(t *testing.T) {
	for head, want := range map[string]CPUNews{
		"online@/devices/system/cpu/cpu1":    {CPU: 1, Online: true},
		"offline@/devices/system/cpu/cpu0":   {},
		"offline@/devices/system/cpu/cpu255": {CPU: 255},
	} {
		if got, ok := cpuNewsIn(head); got != want || !ok {
			t.Errorf("%q: %+v, %v; want %+v", head, got, ok, want)
		}
	}
	for _, head := range []string{
		"", "@", "online@", "online@/devices/system/cpu/cpu", "online@/devices/system/cpu/cpu-1",
		"online@/devices/system/cpu/cpu1/cache", "online@/devices/system/cpu/cpufreq",
		"online@/devices/system/cpu/cpu99999",
		"add@/devices/system/cpu/cpu1", "change@/devices/system/cpu/cpu1", "online@/devices/system/memory/memory1",
		"online /devices/system/cpu/cpu1", "online@/devices/system/cpu/cpu+1", "online@/devices/system/cpu/cpu1 ",
	} {
		if got, ok := cpuNewsIn(head); ok {
			t.Errorf("%q: %+v", head, got)
		}
	}
}

// Where the kernel is not heard, lists of CPUs are compared; a list that cannot be read says nothing.
func TestListedCPUs(t *testing.T) {
	lists := [][]int{{0, 1, 3}, nil, {0, 1, 3}, {0, 2, 3}, {0, 1, 2, 3}}
	pace := make(chan time.Time, len(lists))
	for range lists {
		pace <- time.Time{}
	}
	w := &listedCPUs{pace: pace, done: make(chan struct{}), known: []int{0, 1}, list: func() ([]int, error) {
		list := lists[0]
		lists = lists[1:]
		if list == nil {
			return nil, fs.ErrPermission
		}
		return list, nil
	}}
	var got []CPUNews
	for range 4 {
		news, err := w.Next()
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, news)
	}
	want := []CPUNews{{CPU: 3, Online: true}, {CPU: 1}, {CPU: 2, Online: true}, {CPU: 1, Online: true}}
	if !slices.Equal(got, want) {
		t.Errorf("%+v; want %+v", got, want)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if news, err := w.Next(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("closed: %+v, %v", news, err)
	}
	if got := changedCPUs(nil, []int{0, 1}); got != nil { // the first list that could be read
		t.Errorf("first list: %+v", got)
	}
}
