package kernel

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

// Functions that kprobes refuse (kprobes/blacklist), and the message of it.

// ErrNoProbes says that the kernel forbids probes on a function.
var ErrNoProbes = errors.New("the kernel allows no probes on it")

// A Blacklist has the functions that kprobes refuse: those that run while a
// probe is handled, and would call themselves without end.
type Blacklist struct{ names map[string]bool }

// blacklistPath is in debugfs, which need not be mounted (since 2.6.34; needs
// CONFIG_KPROBES).
const blacklistPath = "/sys/kernel/debug/kprobes/blacklist"

// OpenBlacklist reads the kernel's list. Where it is not shown the list is
// empty: attaching then tells.
func OpenBlacklist() (*Blacklist, error) {
	f, err := os.Open(blacklistPath)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return &Blacklist{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the functions that must not be probed: %w", err)
	}
	defer f.Close()
	return ReadBlacklist(f)
}

// ReadBlacklist parses lines as (kernel/kprobes.c, kprobe_blacklist_seq_show)
//
//	0xffffffff81000000-0xffffffff81000010	do_int3
//	0xffffffffc0201000-0xffffffffc0201010	handler [some_module]
func ReadBlacklist(r io.Reader) (*Blacklist, error) {
	b := &Blacklist{names: map[string]bool{}}
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		_, symbol, ok := strings.Cut(lines.Text(), "\t")
		name, _, _ := strings.Cut(symbol, " ")
		name, _, _ = strings.Cut(name, "+") // a part of a function
		if ok && name != "" {
			b.names[name] = true
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read the functions that must not be probed: %w", err)
	}
	return b, nil
}

// Check gives an error with the reason if a function must not be probed.
func (b *Blacklist) Check(name string) error {
	if !b.names[name] {
		return nil
	}
	return fmt.Errorf("%s: %w: it runs while a probe is handled, so a probe on it would never end "+
		"(see %s); probe a function that calls it", name, ErrNoProbes, blacklistPath)
}
