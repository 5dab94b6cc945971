package accept

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// Calls and returns are indented by depth. (S4-15)
func TestCallindent(t *testing.T) {
	path := traceable(t, "calls")
	e := startrace(t, "callindent", path, "-F", "factorial", "-c", path+" factorial 3").ok(t)
	want := []string{"-> factorial", "  -> factorial", "    -> factorial", "    <- factorial 0x1", "  <- factorial 0x2",
		"<- factorial 0x6"}
	got := regexp.MustCompile(`(?m)^ *\d+ calls\(\d+\): ( *[-<]. factorial(?: 0x\d)?)$`).FindAllStringSubmatch(e.stdout,
		-1)
	if len(got) != len(want) {
		t.Fatalf("got %s\nstderr: %s", e.stdout, e.stderr)
	}
	for i, m := range got {
		if m[1] != want[i] {
			t.Errorf("line %d: %q, want %q", i, m[1], want[i])
		}
	}
}

// What is typed into a bash is shown as it was typed. (S3-04)
func TestBashreadline(t *testing.T) {
	needTracing(t)
	if _, err := os.Stat("/bin/bash"); err != nil {
		t.Skipf("needs the program bash: %v", err)
	}
	e := startrace(t, "bashreadline", "-f", "-c",
		`sh -c "printf 'echo typed\nexit\n' | bash --norc --noprofile -i"`).ok(t)
	e.has(t, `(?m)^\d\d:\d\d:\d\d +\d+ +echo typed$`)
}

// Look-ups of names: the text that the program gave, even where it was not in memory yet.
func TestGethostlatency(t *testing.T) {
	needTracing(t)
	need.Program(t, "getent")
	e := startrace(t, "gethostlatency", "-c", "getent ahosts localhost").ok(t)
	e.has(t, `(?m)^\d\d:\d\d:\d\d +\d+ +getent +\d+\.\d\d getaddrinfo +localhost$`)
}

// Each function of libc that looks up names is one line, with its name of a host, also where it is called by another
// one.
func TestGethostlatencyFunctions(t *testing.T) {
	path := traceable(t, "hosts")
	e := startrace(t, "gethostlatency", "-c", path).ok(t)
	const row = `\d\d:\d\d:\d\d \d+ hosts \d+\.\d\d `
	e.wantRows(t, "TIME PID COMM LATMS CALL HOST", row+`getaddrinfo 127\.0\.0\.1`, row+`getaddrinfo -`,
		row+`gethostbyname localhost`, row+`gethostbyname2 localhost`, row+`gethostbyname_r 127\.0\.0\.3`,
		row+`gethostbyname2_r 127\.0\.0\.4`)
}

// A connection to a known port.
func TestTcpconnect(t *testing.T) {
	needKernelFunctions(t)
	e := startrace(t, "tcpconnect", "-P", "7788", "-f", "-c",
		`sh -c "nc -l -p 7788 >/dev/null & sleep 1; echo x | nc 127.0.0.1 7788; nc 127.0.0.1 7789; true"`).ok(t)
	rows := linesWith(e.stdout, "7788")
	if len(rows) != 1 || !regexp.MustCompile(`^\d+ +nc +127\.0\.0\.1 +\S+ +127\.0\.0\.1 +7788$`).MatchString(rows[0]) {
		t.Errorf("got %s\nstderr: %s", e.stdout, e.stderr)
	}
}

// Segments with what is in them: the bytes of data that were sent arrive, in whatever process then has the CPU.
func TestTcpSegments(t *testing.T) {
	needKernelFunctions(t)
	report := filepath.Join(t.TempDir(), "report.json")
	cmd, in := readied(t, exec.Command(program(t, "workload"), "-wait", "-report", report, "tcp", "20", "1000"))
	r := start(t, script(t, `
load("std/tcp.star", "tcp")
sent = total()
got = total()
probe(tcp.output, lambda e: sent[e.dport].add(e.len))
probe(tcp.input, lambda e: got[e.sport].add(e.len))
probe(tcp.input, lambda e: print("segment", e.saddr, e.sport, e.state, e.flags, e.len), where = lambda e: e.len > 0)
`+attached+`
at_exit(lambda: [print("port", port, "sent", n, "got", got[port].value) for port, n in sent.items()])
`))
	r.await(t, "attached")
	goOn(t, cmd, in)
	e, d := tracedBy(t, r.interrupt(t).ok(t), report)
	port := d.FDs["port"]
	if want := fmt.Sprintf("port %d sent %d got %d\n", port, d.Calls*d.Bytes,
		d.Calls*d.Bytes); !strings.Contains(e.stdout, want) && e.lost(t) == 0 {
		t.Errorf("want %s in %s\nstderr: %s", want, excerpt(e.stdout), excerpt(e.stderr))
	}
	row := fmt.Sprintf(`segment 127\.0\.0\.1 %d TCP_ESTABLISHED TCPHDR_PSH\|TCPHDR_ACK %d`, port, d.Bytes)
	checkAccount(t, e, rowsLike(e, row), d.Calls)
}

// How connections begin and end is seen, too: each begins by a SYN, which a SYN-ACK answers, and both of its sides end
// it. Who is refused has no socket: its SYN is dropped, by name.
func TestTcpBeginsAndEnds(t *testing.T) {
	needKernelFunctions(t)
	report := filepath.Join(t.TempDir(), "report.json")
	cmd, in := readied(t, exec.Command(program(t, "workload"), "-wait", "-report", report, "tcp", "20", "1000"))
	r := start(t, script(t, `
load("std/tcp.star", "tcp")
seen = count(by = ("way", "port", "what"))
TYPES = {1: "fin", 2: "syn", 17: "fin", 18: "syn-ack"}
def of(e):
    return TYPES.get(mem(e.th, 14)[13] & 0x17, "other")
probe(tcp.input, kernel = lambda e: seen["in", e.dport, of(e)].add())
probe(tcp.input, kernel = lambda e: seen["to", e.sport, of(e)].add())
probe(tcp.output, kernel = lambda e: seen["out", e.sport, of(e)].add())
probe(tcp.drop, lambda e: print("drop", e.daddr, e.sport, e.flags, e.reason, e.sk == None),
      where = lambda e: mem(e.th, 14)[13] == 2)
`+attached+`
at_exit(lambda: [print(way, port, what, n) for (way, port, what), n in seen.take().items()])
`))
	r.await(t, "attached")
	goOn(t, cmd, in)
	e, d := tracedBy(t, r.interrupt(t).ok(t), report)
	port := d.FDs["port"]
	for what, want := range map[string]int{
		"to %d syn": d.Calls, "in %d syn-ack": d.Calls, "out %d syn-ack": d.Calls, // to who listens, from there
		"to %d fin": d.Calls, "in %d fin": d.Calls, // of who connected, of who accepted
	} {
		if row := fmt.Sprintf(what, port) + fmt.Sprintf(" %d\n", want); !strings.Contains(e.stdout, row) &&
			e.lost(t) == 0 {
			t.Errorf("want %s in %s\nstderr: %s", row, excerpt(e.stdout), excerpt(e.stderr))
		}
	}
	if atLeast(t, 5, 19) { // before, what has no socket is not told from what has been dealt with
		checkAccount(t, e, rowsLike(e, fmt.Sprintf(`drop 127\.0\.0\.1 %d TCPHDR_SYN SKB_DROP_REASON_NO_SOCKET True`,
			port)), 1)
	}
}
