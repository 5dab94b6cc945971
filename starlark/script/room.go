package script

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// How large a script may be (`longestSource`), and the message that a pipe is waited for.

// longestSource is how many bytes a script may have: what is longer is something else, as /dev/zero.
const longestSource = 4 << 20

// waitSaid is how long a pipe is waited for until that is said.
const waitSaid = time.Second

// openSource opens a script. One that comes through a named pipe begins when somebody writes it: waits is called where
// that takes a while.
func openSource(name string, waits func()) (*os.File, error) {
	st, err := os.Stat(name)
	if err != nil || st.Mode()&os.ModeNamedPipe == 0 {
		return os.Open(name)
	}
	file, err := os.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0) // else it would wait for the writer
	if err != nil {
		return nil, err
	}
	written := []unix.PollFd{{Fd: int32(file.Fd()), Events: unix.POLLIN}} // from here on reads wait
	for most, until := int(waitSaid.Milliseconds()), time.Now().Add(waitSaid); ; {
		n, err := unix.Poll(written, most)
		switch {
		case n > 0 || err != nil && !errors.Is(err, unix.EINTR):
			return file, nil
		case waits != nil && most >= 0 && time.Now().After(until):
			waits()
			most = -1
		}
	}
}

// readSource reads a script.
func readSource(name string, waits func()) ([]byte, error) {
	file, err := openSource(name, waits)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, longestSource+1))
	if err == nil && len(text) > longestSource {
		return nil, fmt.Errorf("%s has more than %d MB: that is no script", name, longestSource>>20)
	}
	return text, err
}
