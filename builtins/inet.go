package builtins

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/netip"
	"strings"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/internal/format"
	"github.com/startrace/startrace/starlark/value"
)

// inet() and mac(): addresses of networks as text, in user space.

// inet4 gives an IPv4 address that lies in memory in the network's order.
func inet4(v uint64) string {
	var b [4]byte
	binary.NativeEndian.PutUint32(b[:], uint32(v))
	return netip.AddrFrom4(b).String()
}

// inetLabel gives an address of 4 or 16 bytes; other bytes stay as they are.
func inetLabel(b []byte, _ bool) starlark.Value {
	if a, ok := netip.AddrFromSlice(b); ok {
		return starlark.String(a.String())
	}
	return value.Bytes(b)
}

// inetCall writes an address of the internet: an int is one of IPv4 in the order of the network, bytes are one of IPv4
// or IPv6.
func inetCall(_ *Env, c *call) (starlark.Value, error) {
	var addr starlark.Value
	if err := c.unpack("addr", &addr); err != nil {
		return nil, err
	}
	if n, ok := addr.(starlark.Int); ok {
		return starlark.String(inet4(lowBits(n, 32))), nil
	}
	b, err := addressBytes(addr)
	if err != nil {
		return nil, fmt.Errorf("inet: %w", err)
	}
	a, ok := netip.AddrFromSlice(b)
	if !ok {
		return nil, fmt.Errorf("inet: got %s, want 4 or 16", format.Count(len(b), "byte"))
	}
	return starlark.String(a.String()), nil
}

// macCall writes the address of a device, of any length that the kernel has.
func macCall(_ *Env, c *call) (starlark.Value, error) {
	var addr starlark.Value
	if err := c.unpack("addr", &addr); err != nil {
		return nil, err
	}
	b, err := addressBytes(addr)
	if err != nil {
		return nil, fmt.Errorf("mac: %w", err)
	}
	// The longest address of a device is that of InfiniBand (MAX_ADDR_LEN is 32).
	if len(b) < 6 || len(b) > 32 {
		return nil, fmt.Errorf("mac: got %s, want 6", format.Count(len(b), "byte"))
	}
	return starlark.String(macText(b)), nil
}

// macText writes bytes in hex with colons between them: 02:42:ac:11:00:02.
func macText(b []byte) string {
	parts := make([]string, len(b))
	for i := range b {
		parts[i] = hex.EncodeToString(b[i : i+1])
	}
	return strings.Join(parts, ":")
}

// addressBytes reads bytes, or the elements of an array of them.
func addressBytes(v starlark.Value) ([]byte, error) {
	switch v := value.OwnBytes(v).(type) {
	case value.Bytes:
		return []byte(v), nil
	case starlark.Tuple, *starlark.List:
		var out []byte
		for elem := range starlark.Elements(v.(starlark.Iterable)) {
			var b uint8
			if err := starlark.AsInt(elem, &b); err != nil {
				return nil, fmt.Errorf("got %s in the list, want bytes", elem)
			}
			out = append(out, b)
		}
		return out, nil
	}
	return nil, fmt.Errorf("got %s, want bytes", v.Type())
}
