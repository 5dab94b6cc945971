package accept

import (
	"strings"
	"testing"
)

// A function gives an IPv4 address on one way, as a number or as bytes, and an IPv6 address on the other: the same text
// from the kernel as from the interpreter, in events and in keys.
//
// > `inet(…)` of 4 bytes on one branch and of 16 on another is one kind of value.
func TestAddressesOfEitherLength(t *testing.T) {
	needTracing(t)
	e := startrace(t, script(t, `
n = count()
def peer(e):
    if e.args.count == 4:
        return inet(0x0100007f)
    return inet(mem(e.args.buf, 16))
def other(e):
    return inet(mem(e.args.buf, 16)) if e.args.count == 16 else inet(mem(e.args.buf, 4))
probe("syscall:write", kernel = lambda e: n[peer(e)].add())
probe("syscall:write", kernel = lambda e: record(p = peer(e), o = other(e)),
      handler = lambda e: print("address", e.p, e.o))
print("here", inet(0x0100007f), inet(b"0123456789abcdef"), inet(b"abcd"))
`), "-c", "sh -c 'printf 0123456789abcdef; printf abcd'").ok(t)
	const six = "3031:3233:3435:3637:3839:6162:6364:6566"
	for _, want := range []string{
		"here 127.0.0.1 " + six + " 97.98.99.100\n",
		"address " + six + " " + six + "\n", "address 127.0.0.1 97.98.99.100\n",
	} {
		if !strings.Contains(e.stdout, want) {
			t.Errorf("no %q in %s", want, e.stdout)
		}
	}
	for _, key := range []string{six, "127.0.0.1"} {
		if !strings.Contains(e.stdout, "\n"+key+" ") {
			t.Errorf("no key %s in %s", key, e.stdout)
		}
	}
}
