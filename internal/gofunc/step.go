package gofunc

import "fmt"

// unsteppable are bytes with which instructions of amd64 begin that uprobes
// refuse, since they run instructions elsewhere: segments, LOCK, VEX and EVEX
// as prefixes (is_prefix_bad and good_insns_64 of arch/x86/kernel/uprobes.c).
var unsteppable = map[byte]string{0x26: "es", 0x2e: "cs", 0x36: "ss", 0x3e: "ds", 0xf0: "lock", 0xc4: "vex", 0xc5: "vex", 0x62: "evex"}

// Steppable says why an instruction cannot be probed, nil if it perhaps can.
func Steppable(arch string, code []byte) error {
	if arch != "amd64" {
		return nil
	}
	for _, c := range code {
		switch {
		case unsteppable[c] != "":
			return fmt.Errorf("it begins with an instruction that the kernel cannot run at another place (prefix %s)", unsteppable[c])
		case c != 0x66 && c != 0xf2 && c != 0xf3:
			return nil
		}
	}
	return nil
}
