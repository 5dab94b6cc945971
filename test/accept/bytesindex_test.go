package accept

import (
	"fmt"
	"strings"
	"testing"
)

// Bytes have elements in a kernel half wherever they come from, as in user space: from a branch, a condition, a table,
// a cell, a parameter, or a constant beside them. They need not have as many as others at the same place.
//
// > In a kernel half bytes have `==`, `len`, `bool` and `b[i]` with a constant index.
// > An index behind the last byte ends the handler there, and is an error in user space.
func TestBytesByIndex(t *testing.T) {
	needTracing(t)
	const text = "/edge!"
	made := map[string]string{
		"branch":    "    b = mem(e.args.buf, 6)\n    if e.pid == 0:\n        b = mem(e.args.buf, 3)\n",
		"condition": "    b = mem(e.args.buf, 6) if e.args.count == 6 else b\"no\"\n",
		"maybe":     "    b = mem(e.args.buf, 6) if e.args.count == 6 else None\n    if b == None: return None\n",
		"shorter":   "    b = mem(e.args.buf, 64) if e.args.count == 7 else mem(e.args.buf, 6)\n",
		"function":  "    b = given(mem(e.args.buf, 6), e)\n",
		"table":     "    b = t.get(1)\n    if b == None: return None\n",
		"cell":      "    b = c.get()\n    if b == None: return None\n",
	}
	code := `
P = "syscall:write"
t, c = table(), cell(None)
given = lambda b, e: b if e.args.count == 6 else b"constant"
where = lambda e: e.comm == "wl-edge" and e.args.count == 6
def keep(e):
    t[1] = mem(e.args.buf, 6)
    c.set(mem(e.args.buf, 6))
probe(P, kernel = keep, where = where)
`
	for name, def := range made {
		code += fmt.Sprintf("def %[1]s(e):\n%[2]s    return (b[0], b[-1], b[5], b[-6], b[2] + b[3])\n"+
			"probe(P, lambda e: print(\"kernel %[1]s\", e.value), kernel = %[1]s, where = where)\n", name, def)
		if name != "table" && name != "cell" {
			code += fmt.Sprintf("probe(P, lambda e: print(\"user %[1]s\", %[1]s(e)), where = where)\n", name)
		}
	}
	want := fmt.Sprintf("(%d, %d, %d, %d, %d)", text[0], text[5], text[5], text[0], int(text[2])+int(text[3]))
	e, _ := traced(t, code, []string{"-q"}, "edge", text)
	for name := range made {
		e.has(t, "(?m)^kernel "+name+" "+strings.NewReplacer("(", `\(`, ")", `\)`).Replace(want)+"$")
		if name != "table" && name != "cell" {
			e.has(t, "(?m)^user "+name+" "+strings.NewReplacer("(", `\(`, ")", `\)`).Replace(want)+"$")
		}
	}
	ends, _ := traced(t, `
where = lambda e: e.comm == "wl-edge" and e.args.count == 6
def last(e):
    b = mem(e.args.buf, 64) if e.args.count == 7 else mem(e.args.buf, 6)
    return b[6]
probe("syscall:write", lambda e: print("never", e.value), kernel = last, where = where)
`, nil, "edge", text)
	const told = "ended early: index behind the last byte"
	if strings.Contains(ends.stdout, "never") || !strings.Contains(ends.stderr, told) {
		t.Errorf("byte 6 of 6:\n%s%s", ends.stdout, ends.stderr)
	}
}

// Bytes and texts of each length are equal to the constant that they are, and to no other, in both halves: also those
// that fill the memory that is kept for them.
func TestConstantsOfEachLength(t *testing.T) {
	needTracing(t)
	const text, longest = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-", 40
	code := "P = \"syscall:write\"\nwhere = lambda e: e.comm == \"wl-edge\" and e.args.count == 64\n"
	for n := 1; n <= longest; n++ {
		is, other, longer := text[:n], text[:n-1]+"_", text[:n+1]
		code += fmt.Sprintf(`
def f%[1]d(e):
    b, s, v = mem(e.args.buf, %[1]d), cstr(e.args.buf, %[1]d), 0
    v += 1 if b == b"%[2]s" else 0
    v += 2 if b"%[2]s" == b else 0
    v += 4 if b in (b"x", b"%[2]s") else 0
    v += 8 if b == mem(e.args.buf, %[1]d) else 0
    v += 16 if b != b"%[2]s" or b == b"%[3]s" or b == b"%[4]s" or b == b"%[5]s" else 0
    v += 32 if s == "%[2]s" and "%[2]s" == s else 0
    v += 64 if s.startswith("%[2]s") and s.endswith("%[2]s") else 0
    v += 128 if s == "%[3]s" or s == "%[4]s" or s.startswith("%[4]s") or s.endswith("%[3]s") else 0
    return v
`, n, is, other, longer, text[:n-1])
	}
	var all []string
	for n := 1; n <= longest; n++ {
		all = append(all, fmt.Sprintf("f%d(e)", n))
	}
	for at := 0; at < longest; at += 8 { // as many as one program may compare
		code += fmt.Sprintf("def all%[1]d(e):\n    return (%[2]s)\n"+
			"probe(P, lambda e: print(\"kernel %[1]d\", e.value), kernel = all%[1]d, where = where)\n"+
			"probe(P, lambda e: print(\"user %[1]d\", all%[1]d(e)), where = where)\n",
			at, strings.Join(all[at:at+8], ", "))
	}
	e, _ := traced(t, code, []string{"-q"}, "edge", text)
	for at := 0; at < longest; at += 8 {
		eight := strings.TrimSuffix(strings.Repeat("111, ", 8), ", ") // 1 + 2 + 4 + 8 + 32 + 64 each
		for _, half := range []string{"kernel", "user"} {
			e.has(t, fmt.Sprintf(`(?m)^%s %d \(%s\)$`, half, at, eight))
		}
	}
}
