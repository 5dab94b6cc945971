package printfmt

import (
	"encoding/binary"
	"encoding/hex"
	"net"
	"net/netip"
	"strings"
)

// Conversions of printk for addresses: %pI4, %pM, %pU.

// The families of addresses that the kernel prints with %pIS (include/linux/socket.h).
const inet, inet6 = 2, 10

// addresses are the conversions that print an array of bytes of the record
// (Documentation/core-api/printk-formats.rst), by what stands behind the %.
var addresses = map[string]func([]byte) (string, bool){
	"pI4": ofSize(4, func(b []byte) string { return netip.AddrFrom4([4]byte(b)).String() }),
	"pI6": ofSize(16, func(b []byte) string { return netip.AddrFrom16([16]byte(b)).StringExpanded() }),
	// Compressed as RFC 5952 says.
	"pI6c":  ofSize(16, func(b []byte) string { return netip.AddrFrom16([16]byte(b)).String() }),
	"pM":    ofSize(6, func(b []byte) string { return net.HardwareAddr(b).String() }),
	"pU":    ofSize(16, identifier),
	"pUb":   ofSize(16, identifier),
	"pISpc": socketAddress,
}

// ofSize is for arrays of so many bytes.
func ofSize(n int, text func([]byte) string) func([]byte) (string, bool) {
	return func(b []byte) (string, bool) {
		if len(b) != n {
			return "", false
		}
		return text(b), true
	}
}

// identifier is a UUID whose bytes are in the order in which they are printed.
func identifier(b []byte) string {
	text := hex.EncodeToString(b)
	return strings.Join([]string{text[:8], text[8:12], text[12:16], text[16:20], text[20:]}, "-")
}

// socketAddress is a struct sockaddr_in or sockaddr_in6 with its port, in an array that may be longer. The kernel
// prints only those two.
func socketAddress(b []byte) (string, bool) {
	if len(b) < 8 {
		return "", false
	}
	port := binary.BigEndian.Uint16(b[2:])
	switch family := binary.NativeEndian.Uint16(b); {
	case family == inet:
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte(b[4:])), port).String(), true
	case family == inet6 && len(b) >= 24:
		return netip.AddrPortFrom(netip.AddrFrom16([16]byte(b[8:])), port).String(), true
	}
	return "", false
}
