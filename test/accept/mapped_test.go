package accept

import (
	"fmt"
	"strings"
	"testing"
)

// A socket of IPv6 can have a connection of IPv4: ::ffff:127.0.0.1. It is one connection to each tool, with the address
// that the socket has.
func TestTcpMapped(t *testing.T) {
	const at, n, size = `::ffff:127\.0\.0\.1`, 20, 5000
	for _, tt := range []struct {
		words   []string
		row     string
		refused int  // rows that the connection which is refused may have
		probes  bool // the tool needs probes of functions
	}{
		{words: []string{"tcpconnect"}, row: at + ` \S+ ` + at + ` PORT`, refused: 1},
		{words: []string{"tcpaccept"}, row: at + ` \d+ ` + at + ` PORT`},
		{words: []string{"tcplife"}, row: at + ` \d+ ` + at + ` PORT 4\.88 0\.00 \d+\.\d\d`},
		{words: []string{"tcplife"}, row: at + ` PORT ` + at + ` \d+ 0\.00 4\.88 \d+\.\d\d`},
		{words: []string{"tcpconnlat"}, row: at + ` ` + at + ` PORT \d+\.\d{3} connected`},
		{words: []string{"tcpstates"}, row: `\S+ \d+ ` + at + ` PORT CLOSE SYN_SENT \d+\.\d{3}`, refused: 1},
		{words: []string{"tcpstates"}, row: at + ` \d+ ` + at + ` PORT ESTABLISHED FIN_WAIT1 \d+\.\d{3}`},
		{words: []string{"tcptop", "-i", "1h", "-r", "99"}, row: at + ` \d+ ` + at + ` PORT 5000 0 5000`, probes: true},
		{words: []string{"tcptop", "-i", "1h", "-r", "99"}, row: at + ` PORT ` + at + ` \d+ 0 5000 5000`, probes: true},
	} {
		t.Run(tt.words[0], func(t *testing.T) {
			if tt.probes {
				needKernelFunctions(t)
			}
			e, d := tool(t, tt.words, "tcp6", fmt.Sprint(n), fmt.Sprint(size))
			who := fmt.Sprintf(`%d %s `, d.PID, d.Comm)
			rows := rowsLike(e, who+strings.ReplaceAll(tt.row, "PORT", fmt.Sprint(d.FDs["port"])))
			if rows > d.Calls && rows <= d.Calls+tt.refused {
				rows = d.Calls
			}
			checkAccount(t, e, rows, d.Calls)
		})
	}
}

// A segment of such a connection goes out once and arrives once.
func TestTcpMappedSegments(t *testing.T) {
	needKernelFunctions(t)
	e, d := traced(t, `
load("std/tcp.star", "tcp")
sent, got = total(), total()
probe(tcp.output, kernel = lambda e: sent[e.dport].add(e.len))
probe(tcp.input, kernel = lambda e: got[e.sport].add(e.len))
at_exit(lambda: [print("sent", port, n) for port, n in sent.items()])
`, nil, "tcp6", "20", "1000")
	if want := fmt.Sprintf("sent %d %d\n", d.FDs["port"], d.Calls*d.Bytes); !strings.Contains(e.stdout, want) &&
		e.lost(t) == 0 {
		t.Errorf("want %s in %s", want, excerpt(e.stdout))
	}
}
