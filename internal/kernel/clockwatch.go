package kernel

import (
	"errors"
	"fmt"
	"math"
	"os"

	"golang.org/x/sys/unix"
)

// The time of day that is set during a run, or jumps.

// A ClockWatch tells when the time of day has been set, or has jumped as the machine was suspended, until it is closed.
type ClockWatch struct{ timer *os.File }

// WatchClock begins to listen, by a timer of the time of day that never ends but is cancelled when that is set
// (timerfd_create(2)).
func WatchClock() (*ClockWatch, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_REALTIME, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("watch the clock: %w", err)
	}
	w := &ClockWatch{os.NewFile(uintptr(fd), "timer")}
	never := unix.ItimerSpec{Value: unix.NsecToTimespec(math.MaxInt64)}
	if err := unix.TimerfdSettime(fd, unix.TFD_TIMER_ABSTIME|unix.TFD_TIMER_CANCEL_ON_SET, &never, nil); err != nil {
		return nil, errors.Join(fmt.Errorf("watch the clock: %w", err), w.Close())
	}
	return w, nil
}

// Next waits until the time of day has been set. It ends with an error when the watch is closed.
func (w *ClockWatch) Next() error {
	_, err := w.timer.Read(make([]byte, 8))
	if errors.Is(err, unix.ECANCELED) {
		return nil
	}
	return err
}

// Close ends Next.
func (w *ClockWatch) Close() error { return w.timer.Close() }
