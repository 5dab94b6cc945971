package accept

import (
	"fmt"
	"net"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// connections runs a tool on connections of known number, each of 5000 bytes from one side to the other.
func connections(t *testing.T, words ...string) (e ended, d done, port int) {
	t.Helper()
	e, d = tool(t, words, "tcp", "50", "5000")
	return e, d, d.FDs["port"]
}

// rowsLike counts the rows that are as a pattern says, with any number of blanks where it has one.
func rowsLike(e ended, pattern string) int {
	return len(regexp.MustCompile(`(?m)^ *`+strings.ReplaceAll(pattern, " ", " +")+` *$`).FindAllString(e.stdout, -1))
}

// Both ends of each connection, with the bytes that went each way.
func TestTcplife(t *testing.T) {
	e, d, port := connections(t, "tcplife")
	who := fmt.Sprintf(`%d %s 127\.0\.0\.1`, d.PID, d.Comm)
	checkAccount(t, e, rowsLike(e, fmt.Sprintf(`%s \d+ 127\.0\.0\.1 %d 4\.88 0\.00 \d+\.\d\d`, who, port)), d.Calls)
	checkAccount(t, e, rowsLike(e, fmt.Sprintf(`%s %d 127\.0\.0\.1 \d+ 0\.00 4\.88 \d+\.\d\d`, who, port)), d.Calls)
	// The one that was refused.
	if n := rowsLike(e, fmt.Sprintf(`%s \d+ 127\.0\.0\.1 %d 0\.00 0\.00 \d+\.\d\d`, who, port)); n != 1 &&
		e.lost(t) == 0 {
		t.Errorf("%d connections without data, want one\n%s", n, excerpt(e.stdout))
	}
	if rows := strings.Count(e.stdout, "\n") - 1; rows > 2*d.Calls+1 {
		t.Errorf("%d rows of %d connections: %s", rows, d.Calls, excerpt(e.stdout))
	}
	e, _, _ = connections(t, "tcplife", "-P", "1")
	if strings.Count(e.stdout, "\n") > 1 {
		t.Errorf("connections of port 1: %s", e.stdout)
	}
	// To the byte.
	e, d = traced(t, `
load("std/tcp.star", "tcp")
bytes = group(sent = total(), received = total())
def add(e):
    bytes.sent.add(e.sent)
    bytes.received.add(e.received)
probe(tcp.life(), add)
at_exit(lambda: print("sent", bytes.sent.value, "received", bytes.received.value))
`, nil, "tcp", "50", "5000")
	if want := fmt.Sprintf("sent %d received %d\n", d.Calls*d.Bytes, d.Calls*d.Bytes); e.stdout != want &&
		e.lost(t) == 0 {
		t.Errorf("got %s, want %s", e.stdout, want)
	}
}

// A few bytes are not none.
func TestTcplifeSmall(t *testing.T) {
	e, d := tool(t, []string{"tcplife"}, "halfends", "10", "1000")
	who := fmt.Sprintf(`%d %s 127\.0\.0\.1`, d.PID, d.Comm)
	row := fmt.Sprintf(`%s \d+ 127\.0\.0\.1 %d 0\.01 0\.98 \d+\.\d\d`, who, d.FDs["port"])
	checkAccount(t, e, rowsLike(e, row), d.Calls)
}

func TestTcpaccept(t *testing.T) {
	e, d, port := connections(t, "tcpaccept")
	checkAccount(t, e, rowsLike(e, fmt.Sprintf(`%d %s 127\.0\.0\.1 \d+ 127\.0\.0\.1 %d`, d.PID, d.Comm, port)), d.Calls)
}

func TestTcpconnectAll(t *testing.T) {
	e, d, port := connections(t, "tcpconnect")
	n := rowsLike(e, fmt.Sprintf(`%d %s 127\.0\.0\.1 (-|[1-9]\d*) 127\.0\.0\.1 %d`, d.PID, d.Comm, port))
	if n < d.Calls || n > d.Calls+1 { // the kernel's function succeeds where the other side refuses later
		t.Errorf("%d connections, want %d and one that was refused\nstderr: %s", n, d.Calls, excerpt(e.stderr))
	}
}

func TestTcpconnlat(t *testing.T) {
	e, d, port := connections(t, "tcpconnlat")
	row := fmt.Sprintf(`%d %s 127\.0\.0\.1 127\.0\.0\.1 %d \d+\.\d{3}`, d.PID, d.Comm, port)
	checkAccount(t, e, rowsLike(e, row+" connected"), d.Calls)
	checkAccount(t, e, rowsLike(e, row+" ECONNREFUSED"), 1)
	e, _, _ = connections(t, "tcpconnlat", "--min", "1h")
	if strings.Count(e.stdout, "\n") > 1 {
		t.Errorf("connections that took an hour: %s", e.stdout)
	}
}

// The states that a program's own calls bring about.
func TestTcpstates(t *testing.T) {
	e, d, port := connections(t, "tcpstates")
	who := fmt.Sprintf(`%d %s 127\.0\.0\.1`, d.PID, d.Comm)
	for change, want := range map[string]int{
		fmt.Sprintf(`%s 0 127\.0\.0\.1 %d CLOSE SYN_SENT`, who, port):              d.Calls + 1,
		fmt.Sprintf(`%s \d+ 127\.0\.0\.1 %d ESTABLISHED FIN_WAIT1`, who, port):     d.Calls,
		fmt.Sprintf(`%s %d 127\.0\.0\.1 \d+ CLOSE_WAIT LAST_ACK`, who, port):       d.Calls,
		fmt.Sprintf(`%s %d (?:0\.0\.0\.0|127\.0\.0\.1) 0 CLOSE LISTEN`, who, port): 1,
		fmt.Sprintf(`%s %d (?:0\.0\.0\.0|127\.0\.0\.1) 0 LISTEN CLOSE`, who, port): 1,
	} {
		checkAccount(t, e, rowsLike(e, change+` \d+\.\d{3}`), want)
	}
}

// How long a state lasted that began before the trace is not known, and is not 0.
func TestTcpstatesFromBefore(t *testing.T) {
	needTracing(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	var conns []net.Conn
	for range 100 {
		conn, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		conns = append(conns, conn)
	}
	closed := make(chan bool)
	go func() {
		defer close(closed)
		for _, conn := range conns {
			conn.Close()
			time.Sleep(50 * time.Millisecond)
		}
	}()
	e := startrace(t, "-q", "tcpstates", "-p", fmt.Sprint(os.Getpid()), "--duration", "1s").ok(t)
	e.has(t, `(?m) ESTABLISHED +FIN_WAIT1 +None$`)
	if regexp.MustCompile(`(?m) ESTABLISHED +FIN_WAIT1 +0\.000$`).MatchString(e.stdout) {
		t.Error(excerpt(e.stdout))
	}
	<-closed
}

func TestSolisten(t *testing.T) {
	e, d, port := connections(t, "solisten")
	e.wantRows(t, "PID COMM PROTO BACKLOG ADDR PORT RESULT", fmt.Sprintf(`%d %s TCP 16 127\.0\.0\.1 %d 0`, d.PID,
		d.Comm, port))
}

// Bytes by connection, both ways, and how many answers there were.
func TestTcptop(t *testing.T) {
	needKernelFunctions(t)
	e, d, port := connections(t, "tcptop", "-i", "1h", "-r", "1000")
	who := fmt.Sprintf(`%d %s 127\.0\.0\.1`, d.PID, d.Comm)
	checkAccount(t, e, rowsLike(e, fmt.Sprintf(`%s \d+ 127\.0\.0\.1 %d 5000 0 5000`, who, port)), d.Calls)
	checkAccount(t, e, rowsLike(e, fmt.Sprintf(`%s %d 127\.0\.0\.1 \d+ 0 5000 5000`, who, port)), d.Calls)
}

// Bytes are counted once, by whatever call a program moves them, and not when it only looks at them.
func TestTcptopOfAllCalls(t *testing.T) {
	needKernelFunctions(t)
	e, d := tool(t, []string{"tcptop", "-i", "1h"}, "tcpmoves")
	who := fmt.Sprintf(`%d %s 127\.0\.0\.1`, d.PID, d.Comm)
	port := d.FDs["port"]
	checkAccount(t, e, rowsLike(e, fmt.Sprintf(`%s \d+ 127\.0\.0\.1 %d %d 0 %d`, who, port, d.Bytes, d.Bytes)), 1)
	checkAccount(t, e, rowsLike(e, fmt.Sprintf(`%s %d 127\.0\.0\.1 \d+ 0 %d %d`, who, port, d.Bytes, d.Bytes)), 1)
}

// What is received after both sides have ended what they send is of the same connection.
func TestTcptopAfterTheEnd(t *testing.T) {
	needKernelFunctions(t)
	e, d := tool(t, []string{"tcptop", "-i", "1h", "-r", "1000"}, "halfends", "10", "1000")
	who := fmt.Sprintf(`%d %s 127\.0\.0\.1`, d.PID, d.Comm)
	port := d.FDs["port"]
	checkAccount(t, e, rowsLike(e, fmt.Sprintf(`%s [1-9]\d* 127\.0\.0\.1 %d 10 %d %d`, who, port, d.Bytes,
		10+d.Bytes)), d.Calls)
	checkAccount(t, e, rowsLike(e, fmt.Sprintf(`%s %d 127\.0\.0\.1 \d+ %d 10 %d`, who, port, d.Bytes,
		10+d.Bytes)), d.Calls)
}

// A socket that connects to itself stands: there both sides begin at once.
func TestTcpconnlatToItself(t *testing.T) {
	e, d := tool(t, []string{"tcpconnlat"}, "toitself", "10")
	row := fmt.Sprintf(`%d %s 127\.0\.0\.1 127\.0\.0\.1 \d+ \d+\.\d{3} connected`, d.PID, d.Comm)
	checkAccount(t, e, rowsLike(e, row), d.Calls)
	if n := strings.Count(e.stdout, "\n") - 1; n > d.Calls {
		t.Errorf("%d rows of %d connections: %s", n, d.Calls, excerpt(e.stdout))
	}
}

func TestTcprtt(t *testing.T) {
	needKernelFunctions(t)
	e, d, port := connections(t, "tcprtt", "-B")
	if n := bars(t, e.stdout, "rtt[127.0.0.1] (us):"); n < d.Calls {
		t.Errorf("%d segments of %d connections", n, d.Calls)
	}
	e, _, _ = connections(t, "tcprtt", "-P", strconv.Itoa(1+port%2))
	if strings.Contains(e.stdout, "|") {
		t.Errorf("connections of another port: %s", e.stdout)
	}
}
