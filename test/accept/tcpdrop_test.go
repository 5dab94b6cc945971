package accept

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Connections that work drop nothing, and one that is refused has one segment dropped, which has no socket: with the
// reason, and the stack on which that was.
func TestTcpdropRefused(t *testing.T) {
	needTracing(t)
	needGuest(t)
	if !atLeast(t, 5, 19) {
		t.Skip("needs a kernel that tells segments that were dealt with from those that are dropped (5.19)")
	}
	e, d := wholeSystem(t, []string{"tcpdrop"}, "", "tcp", "20", "1000")
	rows := regexp.MustCompile(fmt.Sprintf(`(?m)^127\.0\.0\.1 .* %d\b.*`, d.FDs["port"])).FindAllString(e.stdout, -1)
	works := func(row string) bool { return !strings.HasSuffix(strings.TrimSpace(row), "NO_SOCKET") }
	if n := len(slices.DeleteFunc(rows, func(row string) bool { return !works(row) })); n != 0 {
		t.Errorf("%d segments of connections that work are dropped: %s", n, excerpt(e.stdout))
	}
	row := regexp.MustCompile(`(?m)^127\.0\.0\.1 +\d+ +127\.0\.0\.1 +\d+ +- +SYN +NO_SOCKET\n +\S+\+0x.*\n` +
		`(?: +\S.*\n)*? +tcp_v4_rcv\+0x`)
	checkAccount(t, e, len(row.FindAllString(e.stdout, -1)), 1)
}

// What nobody hears, since a filter of the socket drops it, is counted under that reason by the function that did it.
func TestTcpdropReasons(t *testing.T) {
	needTracing(t)
	needGuest(t)
	e, d := wholeSystem(t, []string{"tcpdrop", "--count"}, "", "unheard", "3")
	if !atLeast(t, 5, 17) { // which says no reason
		e.has(t, `(?m)^ *\d+ +- +tcp_v4_rcv$`)
		return
	}
	m := regexp.MustCompile(`(?m)^ *(\d+) +SOCKET_FILTER +tcp_v4_rcv$`).FindStringSubmatch(e.stdout)
	if m == nil || number(t, m[1], `(\d+)`) < 3*d.Calls && !strings.Contains(e.stderr, "lost") {
		t.Errorf("want at least %d segments for filters in %s\nstderr: %s", 3*d.Calls, excerpt(e.stdout),
			excerpt(e.stderr))
	}
}
