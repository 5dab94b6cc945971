package accept

import (
	"fmt"
	"testing"
)

// Labels in kernel halves: the numbers are counted, readers see the text, and numbers with one text are one key.
func TestLabels(t *testing.T) {
	const text = `
by_text, merged, results = count(by = ("flags", "error", "year")), count(), count()

def opened(e):
    by_text[names(e.args.flags, "O_"), errno(min(e.ret, 0)), strftime("%Y")].add()
    merged[strftime("made", e.time)].add()
    results[errno(-2 if e.ret < 0 else 2)].add()

probe("syscall:openat", kernel = opened, where = lambda e: e.comm == "wl-opens")

def report():
    for (flags, error, year), n in by_text.items():
        printf("%s %s %s: %d\n", flags, error, matches(year, "20[0-9][0-9]"), n)
    print("as items:", merged.items())
    print("by text:", merged["made"].value, merged.get("other"))
    print("results:", results["ENOENT"].value, results[2].value)

at_exit(report)
`
	e, d := traced(t, text, nil, "opens", "300", "3", t.TempDir())
	failed := number(t, e.stdout, `(?m)^O_RDONLY ENOENT True: (\d+)$`)
	opened := number(t, e.stdout, `(?m)^O_RDONLY 0 True: (\d+)$`)
	checkAccount(t, e, failed, d.Failed)
	checkAccount(t, e, failed+opened, d.Calls)
	e.has(t, fmt.Sprintf(`(?m)^as items: \[\("made", %d\)\]$`, failed+opened))
	e.has(t, fmt.Sprintf(`(?m)^results: %d %d$`, failed, opened)) // a descriptor is no error
	e.has(t, fmt.Sprintf(`(?m)^by text: %d None$`, failed+opened))
}

// The same in events: what is sent is the number, what the handler sees the text.
func TestLabelsInEvents(t *testing.T) {
	const text = `
opened = event(("syscall:openat", lambda e: record(flags = names(e.args.flags, "O_"), error = errno(e.ret),
                                                   at = strftime("%H:%M", e.time))))
probe(opened, lambda e: printf("%s %s %s\n", e.flags, e.error, matches(e.at, "[0-2][0-9]:[0-5][0-9]")),
      where = lambda e: e.ret < 0 and e.comm == "wl-opens")
`
	e, d := traced(t, text, nil, "opens", "90", "1", t.TempDir())
	checkAccount(t, e, len(linesWith(e.stdout, "O_RDONLY ENOENT True")), d.Failed)
}
