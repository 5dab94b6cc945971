package accept

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

const webServer = `package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
)

type counts struct {
	sync.Mutex
	of map[string]int
}

var seen = counts{of: map[string]int{}}

type recorder struct {
	http.ResponseWriter
	status int
}

func (r *recorder) WriteHeader(status int) {
	r.status = status
	r.ResponseWriter.WriteHeader(status)
}

func logged(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		of := &recorder{w, 200}
		next.ServeHTTP(of, r)
		seen.Lock()
		seen.of[fmt.Sprint(r.Method, " ", r.URL.Path, " ", of.status, " ", r.UserAgent())]++
		seen.Unlock()
	})
}

func main() {
	mux := http.NewServeMux()
	mux.HandleFunc("/cart/", func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) })
	mux.HandleFunc("/old", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/cart/1", 301) })
	server := httptest.NewServer(logged(mux))
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	var all sync.WaitGroup
	for worker := range 4 {
		all.Add(1)
		go func() {
			defer all.Done()
			for i := range 100 {
				path := []string{"/cart/1", "/cart/2", "/old", "/missing"}[(i+worker)%4]
				method := []string{"GET", "POST", "DELETE"}[i%3]
				r, _ := http.NewRequest(method, server.URL+path, strings.NewReader("text"))
				r.Header.Set("User-Agent", fmt.Sprint("agent", i%5))
				if a, err := client.Do(r); err == nil {
					_, _ = io.Copy(io.Discard, a.Body)
					_ = a.Body.Close()
				}
			}
		}()
	}
	all.Wait()
	server.Close()
	for k, n := range seen.of {
		fmt.Println(k, n)
	}
}
`

// Requests of a web server in Go by the fields of its structs, and a header by the map that has it, are those that the
// server has counted.
func TestRequestsOfWebServer(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	binary := need.BuiltOf(t, "go build", map[string]string{"go.mod": "module web\n\ngo 1.24\n", "main.go": webServer})
	e := startrace(t, "-q", script(t, strings.ReplaceAll(`
types("""
struct text { char *at; long len; };
struct slot { struct text key; struct text *values; long len, cap; };
struct group { u64 control; struct slot slots[8]; };
struct gomap { long used; u64 seed; struct group *group; };
""")

def header(request, name):
    group = cast("struct gomap", cast("u64 *", request)[7]).group
    for i in range(8):
        s = group.slots[i]
        if s.key.at != None and cstr(s.key.at, min(s.key.len, 32)) == name:
            return cstr(s.values[0].at, min(s.values[0].len, 64))
    return ""

n = count()

def served(e):
    r = e.args.req
    n[r.Method, r.URL.Path, cast("BIN:net/http.response", e.args.rw.data).status, header(r, "User-Agent")].add()

probe("ufunc:BIN:net/http.serverHandler.ServeHTTP", served)

def end():
    for k, v in n.items():
        print("saw", " ".join([str(p) for p in k]), v)

at_exit(end)
`, "BIN", binary)), "-c", binary).ok(t)
	var said, saw []string
	for _, line := range lines(e.stdout) {
		if rest, ok := strings.CutPrefix(line, "saw "); ok {
			saw = append(saw, rest)
		} else {
			said = append(said, line)
		}
	}
	if len(said) != 60 {
		t.Fatalf("the server has %d kinds of requests: %s", len(said), e.stdout)
	}
	equalLines(t, saw, said)
}

// Queries of PostgreSQL as Debian builds it, by its static probes, are as many as pgbench says that it has made.
func TestQueriesOfPostgreSQL(t *testing.T) {
	needTracing(t)
	need.Program(t, "pgbench")
	need.Program(t, "setpriv")
	servers, err := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if err != nil || len(servers) == 0 {
		t.Skipf("needs a server of PostgreSQL (Debian's package postgresql) in /usr/lib/postgresql/*/bin: %v", err)
	}
	dir, err := os.MkdirTemp("/tmp", "pg") // paths of sockets are short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	t.Setenv("DIR", dir)
	t.Setenv("BIN", filepath.Dir(servers[0]))
	run := filepath.Join(dir, "run.sh")
	if err := os.WriteFile(run, []byte(`set -e
chown nobody $DIR
as="setpriv --reuid nobody --clear-groups"
$as $BIN/initdb -D $DIR/data > /dev/null 2>&1
$as $BIN/postgres -D $DIR/data -k $DIR -c listen_addresses= > /dev/null 2>&1 & server=$!
until $as $BIN/pg_isready -q -h $DIR; do sleep 0.05; kill -0 $server; done
$as $BIN/pgbench -h $DIR -i postgres > /dev/null 2>&1
$as $BIN/pgbench -h $DIR -t 100 -c 2 -S postgres 2> /dev/null | grep processed
kill -INT $server
wait $server
`), 0o700); err != nil {
		t.Fatal(err)
	}
	text := `
n = count()
probe("usdt:SERVER:query__start", lambda e: n.add(),
      where = lambda e: matches(e.args.query, "SELECT abalance FROM pgbench_accounts WHERE aid = *"))
at_exit(lambda: print("queries:", n.value))
`
	e := startrace(t, "-q", script(t, strings.ReplaceAll(text, "SERVER", servers[0])), "-c", "sh "+run).ok(t)
	equalLines(t, lines(e.stdout), []string{"number of transactions actually processed: 200/200", "queries: 200"})
}
