package kernel

import (
	"fmt"
	"os"
	"strings"
)

// Names of block devices (sda1) by the kernel's numbers, for dev_name().

// minorBits is MINORBITS of include/linux/kdev_t.h: the numbers of devices in
// the kernel, which are not as stat(2) gives them.
const minorBits = 20

// DeviceName gives the name of the block device with the kernel's number dev:
// sda1. Without one it is "MAJOR,MINOR", as the kernel's own tracepoints print
// it.
func DeviceName(dev uint32) string { return deviceName("/sys", dev) }

func deviceName(sysfs string, dev uint32) string {
	major, minor := dev>>minorBits, dev&(1<<minorBits-1)
	// The file has lines NAME=value, DEVNAME among them.
	text, err := os.ReadFile(fmt.Sprintf("%s/dev/block/%d:%d/uevent", sysfs, major, minor))
	if err == nil {
		for line := range strings.Lines(string(text)) {
			if name, ok := strings.CutPrefix(line, "DEVNAME="); ok {
				return strings.TrimSpace(name)
			}
		}
	}
	return fmt.Sprintf("%d,%d", major, minor)
}
