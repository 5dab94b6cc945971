package accept

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
	"github.com/startrace/startrace/test/tried"
)

// A busywork is work of a program as distributions build it: without frame pointers, and without symbols.
type busywork struct {
	// comm is the name of its threads, as a pattern, needs are the programs that it takes, and command is run in a
	// folder of its own, as $DIR.
	comm    string
	needs   []string
	command string
}

var busyworks = map[string]busywork{
	"redis": {"redis-server", []string{"redis-server", "redis-benchmark", "redis-cli"}, `
redis-server --port 0 --unixsocket $DIR/socket --save "" > /dev/null & server=$!
until [ -S $DIR/socket ]; do sleep 0.05; done
redis-benchmark -s $DIR/socket -q -n 30000 -t set,get,lpush,lrange_100,mset > /dev/null
redis-cli -s $DIR/socket eval "local x = 0 for i = 1, 10000000 do x = x + i % 7 end return x" 0 > /dev/null
kill $server; wait $server`},
	"nginx": {"nginx", []string{"nginx", "curl"}, `
cat > $DIR/conf << END
daemon off; pid $DIR/pid; error_log $DIR/errors; user root; worker_processes 1; events {}
http { access_log off; gzip on; gzip_types *; gzip_comp_level 6; client_body_temp_path $DIR/body;
	server { listen unix:$DIR/socket; root $DIR; } }
END
seq 1 100000 > $DIR/page
nginx -p $DIR -c $DIR/conf 2> /dev/null & server=$!
until [ -S $DIR/socket ]; do sleep 0.05; done
for i in 1 2 3 4 5 6 7 8 9 10; do
	curl -s --unix-socket $DIR/socket -H "Accept-Encoding: gzip" "http://x/page?[1-5]" > /dev/null
done
kill $server; wait $server; true`},
	"postgres": {"postgres", []string{"pgbench", "setpriv"}, `
bin=$(echo /usr/lib/postgresql/*/bin)
chown nobody $DIR
as="setpriv --reuid nobody --clear-groups"
$as $bin/initdb -D $DIR/data > /dev/null 2>&1
$as $bin/postgres -D $DIR/data -k $DIR -c listen_addresses= > /dev/null 2>&1 & server=$!
until $as $bin/pg_isready -q -h $DIR; do sleep 0.05; done
$as $bin/pgbench -h $DIR -i -s 2 postgres > /dev/null 2>&1
$as $bin/pgbench -h $DIR -t 2500 -c 2 -S postgres > /dev/null 2>&1
kill -INT $server; wait $server; true`},
	"python": {"python3", []string{"/usr/bin/python3"}, `/usr/bin/python3 -c '
import json, re, zlib
def f(n):
    if n: return f(n - 1)
    for i in range(300):
        json.dumps({"a": [1, 2.5, "x"] * 20}); re.match("(a|b)*c", "ababababc"); zlib.compress(b"xy" * 5000)
        sorted(range(2000), key = lambda x: -x)
for i in range(10): f(12)'`},
	"bash": {"bash", []string{"bash"}, `bash -c 'f() {
	local i; if [ $1 -gt 0 ]; then f $(($1 - 1)); else
	for ((i = 0; i < 2000; i++)); do x="${x:0:50}$i"; [[ $x =~ ([0-9]+)9 ]]; done; fi; }
for j in 1 2 3 4 5 6 7 8 9 10; do f 10; done'`},
	"perl": {"perl", []string{"perl"}, `perl -e '
sub f { my $n = shift; if ($n) { return f($n - 1) } my %h; for my $i (1 .. 200000) { $h{$i % 1000} .= "x$i";
$_ = join ",", $i, $i + 1; s/(\d+),(\d+)/$2-$1/; } my @s = sort { $a <=> $b } keys %h; } f(20) for 1 .. 4'`},
	"git": {"git", []string{"git"}, `git clone -q --no-local --bare $REPOSITORY $DIR/clone && git -C $DIR/clone gc -q`},
	"cc1": {"cc1", []string{"gcc"}, `for i in 1 2 3 4 5 6 7 8 9; do for k in 1 2 3 4 5 6 7 8 9; do
	echo "int g$i$k(int a, int *p) { int s = 0; for (int j = 0; j < a; j++) { s += p[j * $i$k] % $i; switch (s & 7) {
	case 0: s += 1; break; case 1: s -= 3; break; case 5: s *= 2; } } return s; }"; done; done > $DIR/large.c
for i in 1 2 3 4; do gcc -O2 -c $DIR/large.c -o $DIR/large.o; done`},
	"openssl": {"openssl", []string{"openssl"}, `openssl genrsa 4096 > $DIR/key 2> /dev/null
openssl speed -bytes 4096 -seconds 1 sha256 ecdsap256 > /dev/null 2>&1`},
	"sqlite3": {"sqlite3", []string{"sqlite3"}, `sqlite3 :memory: "create table t(a, b text);
with recursive c(x) as (select 1 union all select x + 1 from c where x < 400000)
insert into t select x, hex(x * 7 % 1000) from c; create index i on t(b);
select count(*), b from t group by b order by 1 limit 3;" > /dev/null`},
}

// Samples of programs of distributions under load lead to their beginning, but for those that are taken before it is
// known what a program has mapped, or while exec makes it, and each frame has the name of a function or of a file.
//
// > Programs are unwound by the tables that compilers leave in files (`.eh_frame`, `.debug_frame`).
func TestStacksReachTheBeginning(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	if runtime.GOARCH != "amd64" {
		t.Skip("needs programs of Debian for amd64: those of arm64 were not tried, their rules are (internal/cfi)")
	}
	here, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	tried.Many(t, "%d programs", len(busyworks))
	for name, l := range busyworks {
		t.Run(name, func(t *testing.T) {
			for _, program := range l.needs {
				need.Program(t, program)
			}
			dir, err := os.MkdirTemp("/tmp", "load") // paths of sockets are short
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.RemoveAll(dir) })
			t.Setenv("DIR", dir)
			t.Setenv("REPOSITORY", here)
			run := filepath.Join(dir, "run.sh")
			if err := os.WriteFile(run, []byte(l.command), 0o644); err != nil {
				t.Fatal(err)
			}
			e := startrace(t, script(t, fmt.Sprintf(samplesOfLoad, l.comm)), "-q", "-c", "sh "+run).ok(t)
			all, early := number(t, e.stdout, `(?m)^samples (\d+)`), number(t, e.stdout, `(?m)^early (\d+)`)
			short, bare := number(t, e.stdout, `(?m)^short (\d+)`), number(t, e.stdout, `(?m)^bare (\d+)`)
			t.Logf("%d samples, %d early, %d short, %d with a bare address\n%s", all, early, short, bare,
				regexp.MustCompile(`(?m)^example.*`).FindString(e.stdout))
			// One in 200, and one more, as there may be few: of code that saves a register where no table says it.
			rest := all - early
			most := rest/200 + 1
			if rest < 10 || short+bare > most {
				t.Errorf("%d samples, %d early, %d short and %d with a bare address\n%s%s", all, early, short, bare,
					strings.Join(regexp.MustCompile(`(?m)^example.*`).FindAllString(e.stdout, 3), "\n"), e.stderr)
			}
		})
	}
}

// samplesOfLoad counts samples by what becomes of their stacks.
const samplesOfLoad = `
counted = {"samples": 0, "early": 0, "short": 0, "bare": 0}

def note(e):
    stack = e.ustack()
    end = str(stack).split("\n")[-2]
    counted["samples"] += 1
    if "before it was known" in end or "no user stack" in end:
        counted["early"] += 1
    elif "not followed" in end or "lost" in end:
        counted["short"] += 1
        print("example", end, stack.folded())
    if any([f.name.startswith("0x") for f in stack]):
        counted["bare"] += 1
        print("example", stack.folded())

probe("profile:499hz", note, where = lambda e: e.comm == "%s")
at_exit(lambda: [print(name, n) for name, n in counted.items()])
`
