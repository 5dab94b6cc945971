package printfmt

import (
	"fmt"
	"strings"
	"testing"
)

var record = map[string]Value{
	"dev": Int(266338304, 4, false), "dir": Int(246947, 8, false), "mode": Int(16895, 2, false), "comm": String("cat"),
	"pid":   Int(7, 4, true),
	"state": Int(0x101, 8, true), "left": Int(-2, 4, true), "yes": Int(1, 1, false), "vec": Int(9, 4, false),
	"addr": Int(-1<<40, 8, false), "long": Int(-5, 8, true),
	"saddr": bytes([]byte{127, 0, 0, 1}), "mac": bytes([]byte{2, 0, 0xab, 4, 5, 6}),
	"v6":     bytes([]byte{0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}),
	"mapped": bytes([]byte{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 10, 0, 0, 7}),
	"in":     bytes(append([]byte{2, 0, 0, 80, 10, 0, 0, 7}, make([]byte, 20)...)),
	"gone":   Missing("<fault>"), "mask": Array([]byte{7, 2, 0, 0, 1, 0, 0, 0}, 8, false),
	"ints": Array([]byte{11, 0, 0, 0, 0xea, 255, 255, 255}, 4, true),
	"in6":  bytes(append(append([]byte{10, 0, 1, 187, 0, 0, 0, 0}, make([]byte, 15)...), 1, 0, 0, 0, 0)),
}

func bytes(b []byte) Value { return Array(b, 1, false) }

func fieldsOf(r map[string]Value) Fields {
	return func(name string) (Value, bool) { v, ok := r[name]; return v, ok }
}

func enums(name string) (int64, bool) { return 9, name == "NINE" }

// Formats of kernel 6.18 and what the kernel prints by them; with S4-01's.
//
// > What the format computes from the kernel's memory, as an age from `jiffies`, prints as `<not shown>`.
func TestAppend(t *testing.T) {
	for _, tt := range []struct{ format, want string }{
		{`"dev %d,%d dir %lu mode 0%o", ((unsigned int) ((REC->dev) >> 20)), ((unsigned int) ` +
			`((REC->dev) & ((1U << 20) - 1))), (unsigned long) REC->dir, REC->mode`,
			"dev 254,0 dir 246947 mode 040777"},
		{`"comm=%s pid=%d group_dead=%s", REC->comm, REC->pid, REC->yes ? "true" : "false"`,
			"comm=cat pid=7 group_dead=true"},
		{`"%s%s|", (REC->state & ((((0x00000000 | 0x00000001 | 0x00000002) + 1) << 1) - 1)) ? ` +
			`__print_flags(REC->state & 7, "|", { 0x01, "S" }, { 0x02, "D" }) : "R", REC->state & 0x100 ? "+" : ""`,
			"S+|"},
		{`"%s", __print_flags(REC->state, "|", { 0x02, "D" }, { ( unsigned long)((1UL) << (0)), "S" }, ` +
			`{ 0, ((void *)0) } )`, "S|0x100"},
		{`"vec=%u [action=%s]", REC->vec, __print_symbolic(REC->vec, { 0, "HI" }, { NINE, "RCU" })`,
			"vec=9 [action=RCU]"},
		{`"%s", __print_symbolic(REC->pid, { 0, "HI" })`, "0x7"},
		{`"%d %u %x %ld %hhu", REC->left, REC->left, REC->left, REC->left, REC->left`, "-2 4294967294 fffffffe -2 254"},
		{`"%08x|%-6s|%5d|%.2s|%%|%c", REC->pid, REC->comm, REC->pid, REC->comm, 65`, "00000007|cat   |    7|ca|%|A"},
		{`"%pS %ps %p", (void *)REC->addr, REC->addr, REC->addr`,
			"<fffff00000000000>+0x1/0x2 <fffff00000000000> 0xffffff0000000000"},
		{`"%d %d %d", REC->long / 2, REC->long % 3, !REC->long`, "-2 -2 0"},
		{`"%d", (REC->left < 1U) + (REC->left < 1)`, "1"},
		{`"%d" " and " "more", REC->pid == 7 && REC->vec != 9 || -REC->pid == -7`, "1 and more"},
		{`"none"`, "none"},
		{`"%pI4 %pM|%pI6c %pI6c %pI6", REC->saddr, REC->mac, REC->v6, REC->mapped, REC->v6`,
			"127.0.0.1 02:00:ab:04:05:06|2001:db8::1 ::ffff:10.0.0.7 2001:0db8:0000:0000:0000:0000:0000:0001"},
		{`"%pU %pISpc %pISpc", REC->v6, REC->in, REC->in6`,
			"20010db8-0000-0000-0000-000000000001 10.0.0.7:80 [::1]:443"},
		// What lib/vsprintf.c of the kernel makes of flags, which is not what Go does.
		{`"%hhd %hd %hhx %hu|%#06x|%#x|%#o|%#o|%+d|% d|%-6dX|%06d|%.3d|%8.3d|%X|%#X", 2147483647, -65536 - 5, ` +
			`REC->left, REC->left, 1, 0, 8, 0, 7, 7, REC->left, REC->left, 7, 7, 43981, 43981`,
			"-1 -5 fe 65534|0x0001|0x0|010|0|+7| 7|-2    X|-00002|007|     007|ABCD|0XABCD"},
		{`"%*d|%-*d|%*d|%.*s|%5.2s|%-3c|%px", 4, 7, 4, 7, -4, 7, 2, REC->comm, REC->comm, 65, REC->addr`,
			"   7|7   |7   |ca|   ca|A  |ffffff0000000000"},
		{`"%*pbl|%*pb|%*pb|%*pbl|%*phN %*phC", 48, REC->mask, 36, REC->mask, 64, REC->mask, 0, REC->mask, ` +
			`2, REC->mac, 3, REC->mac`, "0-2,9,32|1,00000207|00000001,00000207||0200 02:00:ab"},
		{`"%s %s", __get_bitmask(mask), __get_rel_cpumask(mask)`, "00000001,00000207 00000001,00000207"},
		{`"%s %s %s %s", __print_hex(REC->mac, 3), __print_hex_str(REC->mac, 3), ` +
			`__print_array(__get_dynamic_array(ints), __get_dynamic_array_len(ints) / sizeof(int), sizeof(int)), ` +
			`__print_array(REC->mask, 1, 8)`, "02 00 ab 0200ab {0xb,0xffffffea} {0x100000207}"},
		{`"%02x:%d", REC->mac[REC->pid - 5], REC->ints[1]`, "ab:-22"},
		{`"%s %.*s|", ((void *)0), 0, ((void *)0)`, "(null) |"},
		{`"%s=%d %s", REC->gone, REC->gone + 1, __print_flags(REC->gone, "|", { 1, "S" })`, "<fault>=<fault> <fault>"},
		{"\"a\tb\nc %d\", 'A'", "a\tb\nc 65"},
		{`"%d", __builtin_expect(!!((unsigned long)(void *)(REC->addr) >= (unsigned long)-4095), 0)`, "0"},
		// An argument that cannot be computed says so, where its fields stand in others, too.
		{`"page=%p pfn=0x%lx", ((struct page *)vmemmap_base) + (REC->pid), REC->pid`, "page=<not shown> pfn=0x7"},
		{`"%d age=%s", REC->pid, ({ int x = REC->pid, y; x; })`, "7 age=<not shown>"},
		{`"%lu %d", (jiffies - 1) / 250, REC->pid`, "<not shown> 7"},
		{`"%s", __print_symbolic(REC->pid, { 7, "APIC_" "ID" })`, "APIC_ID"},
	} {
		f, err := Parse(tt.format, enums)
		if err != nil {
			t.Errorf("%s: %v", tt.format, err)
			continue
		}
		got, err := f.Append(nil, fieldsOf(record), func(a uint64, offset bool) string {
			if offset {
				return fmt.Sprintf("<%x>+0x1/0x2", a<<4)
			}
			return fmt.Sprintf("<%x>", a<<4)
		})
		if err != nil || string(got) != tt.want {
			t.Errorf("%s: got %q, %v; want %q", tt.format, got, err, tt.want)
		}
	}
}

// What cannot be answered is refused, and so is what nobody wrote.
//
// > Arguments are printed by their names where a field would be lost by that.
func TestRefused(t *testing.T) {
	for format, want := range map[string]string{
		`"%s", mc_event_error_type(3)`:      "helper mc_event_error_type",
		`"%d %d", REC->pid, some(REC->dev)`: "helper some",
		`"%pbl", REC->mac`:                  "conversion %pbl without a width",
		`"%d", sizeof(struct strange)`:      "the size of struct strange",
		`"%pI4h", REC->saddr`:               "conversion %pI4h",
		`"%d", REC->a[0`:                    `want "]"`,
		`"%d", WHATEVER`:                    "name WHATEVER",
		`"%d"`:                              "0 arguments for 1 conversions",
		`"%d", 1, 2`:                        "2 arguments for 1 conversions",
		`"%d", (1`:                          `want ")"`,
		`"%d", 1 +`:                         "an expression is missing",
		`"%*d", 1`:                          "1 arguments for 1 conversions",
		`"%.d", 1`:                          "conversion",
		`"open`:                             "a string without its end",
		`"%d", 1 @ 2`:                       `got "@", want an argument's end`,
		`"%d", __print_flags(1, "|", {1})`:  `want ","`,
	} {
		if f, err := Parse(format, enums); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, %v; want %s", format, f, err, want)
		}
	}
}

// A field that has another type in scripts than in C, and one that failed to be read.
func TestUnanswered(t *testing.T) {
	for format, want := range map[string]string{
		`"%lx", (unsigned long)REC->comm`: "the address of a text",
		`"%d", REC->missing`:              "field missing",
		`"%s", REC->pid`:                  "%s of another type",
		`"%d", REC->comm`:                 "%d of another type",
		`"%d", 1 / (REC->pid - 7)`:        "division by zero",
	} {
		f, err := Parse(format, enums)
		if err != nil {
			t.Errorf("%s: %v", format, err)
			continue
		}
		if _, err := f.Append(nil, fieldsOf(record), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", format, err, want)
		}
	}
}
