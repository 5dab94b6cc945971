package kernel

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// The capabilities of this process, read of /proc/self/status.

// Capabilities are sets of capabilities(7), a bit each: the Effective ones count now, the Permitted ones may be made
// so.
type Capabilities struct{ Effective, Permitted uint64 }

// OwnCapabilities gives those of the calling thread.
func OwnCapabilities() (c Capabilities, err error) {
	hdr := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&hdr, &data[0]); err != nil {
		return c, fmt.Errorf("read the capabilities: %w", err)
	}
	for i, word := range data {
		c.Effective |= uint64(word.Effective) << (32 * i)
		c.Permitted |= uint64(word.Permitted) << (32 * i)
	}
	return c, nil
}
