// Package pty makes pairs of a terminal's two ends.
package pty

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// A terminal's two ends are opened, with a number of columns.

// Open makes a terminal (pts(4)) with a number of columns. A program runs at
// the slave; what it prints comes out of the master.
func Open(rows, columns uint16) (master, slave *os.File, err error) {
	if master, err = os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		return nil, nil, err
	}
	if slave, err = slaveOf(master); err == nil {
		err = unix.IoctlSetWinsize(int(slave.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: columns})
	}
	if err != nil {
		master.Close()
		return nil, nil, fmt.Errorf("open a terminal: %w", err)
	}
	return master, slave, nil
}

func slaveOf(master *os.File) (*os.File, error) {
	fd := int(master.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		return nil, err
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		return nil, err
	}
	return os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
}
