package accept

import (
	"fmt"
	"strings"
	"testing"
)

// labelledAggs has one aggregation of each kind, to which a kernel half adds 1 under the label of a number, and user
// code 7 under the number.
const labelledAggs = `
aggs = dict(count = count(), total = total(), mean = mean(), stats = stats(), lowest = lowest(), highest = highest(),
            hist = hist(), lhist = lhist(0, 10, 1), quantiles = quantiles(), group = group(n = count(), t = total()))
a = record(**aggs)

def add():
    for name, agg in aggs.items():
        if name == "group":
            agg[NUMBER].n.add(7)
            agg[NUMBER].t.add(7)
        else:
            agg[NUMBER].add(7)

def h(e):
    a.count[LABEL].add(1)
    a.total[LABEL].add(1)
    a.mean[LABEL].add(1)
    a.stats[LABEL].add(1)
    a.lowest[LABEL].add(1)
    a.highest[LABEL].add(1)
    a.hist[LABEL].add(1)
    a.lhist[LABEL].add(1)
    a.quantiles[LABEL].add(1)
    a.group[LABEL].n.add(1)
    a.group[LABEL].t.add(1)

def both(name, v):
    if name == "group":
        return v.n == 8 and v.t == 8
    if name == "stats":
        return v.total == 8 and v.count == 2
    if name in ("hist", "lhist", "quantiles"):
        return v.count == 2
    return v == dict(count = 8, total = 8, mean = 4, lowest = 1, highest = 7)[name]

def report():
    for name, agg in aggs.items():
        items = agg.items()
        one = len(items) == 1 and len(agg) == 1 and type(items[0][0]) == type(TEXT) and both(name, items[0][1])
        found = [k in agg and both(name, agg.get(k)) for k in (NUMBER, TEXT) + OTHERS]
        taken = agg.take()
        one = one and len(taken) == 1 and both(name, taken.get(TEXT))
        print(name, one, found, items)
    print("reported")
`

// labelledPlaces are the places from where user code adds: before and after the compiler has seen that keys are labels.
var labelledPlaces = map[string]string{
	"top level":      "add()\nprobe('syscall:close', kernel = h, where = WHERE)\nat_exit(report)\n",
	"behind a probe": "probe('syscall:close', kernel = h, where = WHERE)\nadd()\nat_exit(report)\n",
	"main": "def main():\n    add()\n    probe('syscall:close', kernel = h, where = WHERE)\n" +
		"    at_exit(report)\n",
	"callback": "probe('syscall:close', kernel = h, where = WHERE)\n" +
		"def end():\n    add()\n    report()\nat_exit(end)\n",
}

// What user code adds to the number behind a label is in the entry that reads as its text, wherever it adds it, of all
// aggregations and labels.
//
// > What user code adds to a number, as `n[-2].add()`, is added to the entry that reads as its text.
func TestNumbersOfLabelKeys(t *testing.T) {
	needTracing(t)
	for i, c := range []struct{ label, number, text, others string }{
		{"errno(-(e.args.fd & 15))", "-1", `"EPERM"`, "((1 << 64) - 1,)"},
		{"signal(e.args.fd & 15)", "1", `"SIGHUP"`, "()"},
		{"syscall_name(e.args.fd & 15)", "1", `"write"`, "()"},
		{"inet(e.args.fd)", "0x801", `"1.8.0.0"`, "()"},
		{`names(e.args.fd & 15, "SEEK_")`, "1", `"SEEK_CUR"`, "()"},
		{`names(e.args.fd & 15, "O_")`, "1", `"O_WRONLY"`, "()"},
		{"dev_name(e.args.fd)", "0x801", "dev_name(0x801)", "()"},
		{"ksym(e.args.fd)", "0x801", "ksym(0x801)", "()"},
		{`strftime("%Y", e.args.fd)`, "0x801", `strftime("%Y", 0x801)`, "()"},
		{"(errno(-(e.args.fd & 15)), e.comm)", `(-1, "wl-raw")`, `("EPERM", "wl-raw")`, "()"},
		{"record(x = signal(e.args.fd & 15), y = errno(-2))", "record(y = -2, x = 1)",
			`record(x = "SIGHUP", y = "ENOENT")`, `(record(x = 1, y = "ENOENT"),)`},
		{`(errno(-(e.args.fd & 15)), signal(9))`, `(-1, "SIGKILL")`, `("EPERM", "SIGKILL")`, `((-1, 9), ("EPERM", 9))`},
	} {
		for place, text := range labelledPlaces {
			t.Run(fmt.Sprint(i, place), func(t *testing.T) {
				text = strings.NewReplacer("LABEL", c.label, "NUMBER", c.number, "TEXT", c.text, "OTHERS", c.others,
					"WHERE", `lambda e: e.comm == "wl-raw" and e.args.fd == 0x801`).Replace(labelledAggs + text)
				e, _ := traced(t, text, []string{"-q"}, "raw", rawCall(t, "close", ",801"))
				lines := strings.Split(strings.TrimSpace(e.stdout), "\n")
				if len(lines) != 11 || lines[10] != "reported" {
					t.Fatalf("got %s%s", e.stdout, e.stderr)
				}
				for _, line := range lines[:10] {
					if !strings.Contains(line, " True [True") || strings.Contains(line, "False") {
						t.Errorf("%s: %s", c.label, line)
					}
				}
			})
		}
	}
}
