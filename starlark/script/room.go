package script

import (
	"fmt"
	"io"
	"os"

	"go.starlark.net/starlark"
)

// roomKey is where the thread has Options.Room.
const roomKey = "room"

// largeResult is from how many bytes on it is asked whether there is room.
const largeResult = 1 << 20

// checkRoom is an error where so many bytes would be too much.
func checkRoom(th *starlark.Thread, n uint64) error {
	if room, ok := th.Local(roomKey).(func(uint64) error); ok && room != nil {
		return room(n)
	}
	return nil
}

// longestSource is how many bytes a script may have: what is longer is something else, as /dev/zero.
const longestSource = 4 << 20

// readSource reads a script.
func readSource(name string) ([]byte, error) {
	file, err := os.Open(name)
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
