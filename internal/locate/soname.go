package locate

import (
	"strings"
	"unicode"
)

// Short names of libraries, as ssl of libssl.so.3, and which version is newer.

// isLibrary says whether a file's name is that of a library which scripts call
// by a short name. `ssl` and `libssl` are libssl.so.3, `c` is also libc-2.31.so
// (glibc before 2.34) and ld-musl-x86_64.so.1 (musl keeps its library in its
// dynamic linker). A whole name is itself.
func isLibrary(file, name string) bool {
	if file == name {
		return true
	}
	if name == "c" || name == "libc" {
		for _, musl := range []string{"ld-musl-", "libc.musl-"} {
			if strings.HasPrefix(file, musl) && strings.Contains(file, ".so") {
				return true
			}
		}
	}
	rest, ok := strings.CutPrefix(file, "lib"+strings.TrimPrefix(name, "lib"))
	if !ok {
		rest, ok = strings.CutPrefix(file, name) // ld-linux-x86-64.so.2, linux-vdso.so.1
	}
	return ok && isSuffix(rest)
}

// isSuffix takes `.so`, `.so.1.2` and `-2.31.so`.
func isSuffix(rest string) bool {
	if number, ok := strings.CutPrefix(rest, "-"); ok {
		digits, so, found := strings.Cut(number, ".so")
		return found && so == "" && digits != "" && strings.Trim(digits, "0123456789.") == ""
	}
	version, ok := strings.CutPrefix(rest, ".so")
	return ok && (version == "" || version[0] == '.')
}

// newer says whether a is a later version of a library than b: numbers compare
// as numbers. A name without a version is for linking, and comes last.
func newer(a, b string) bool {
	x, y := versionOf(a), versionOf(b)
	for len(x) > 0 && len(y) > 0 {
		n, restX := leadingNumber(x)
		m, restY := leadingNumber(y)
		if n != m {
			return n > m
		}
		if n < 0 && x[0] != y[0] {
			return x[0] > y[0]
		}
		x, y = restX, restY
	}
	return len(x) > 0
}

func versionOf(file string) string {
	_, version, _ := strings.Cut(file, ".so.")
	return version
}

// leadingNumber takes a number, or one byte that is none (-1).
func leadingNumber(text string) (int, string) {
	end := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsDigit(r) || r > unicode.MaxASCII })
	switch {
	case end < 0:
		end = len(text)
	case end == 0:
		return -1, text[1:]
	}
	n := 0
	for _, digit := range []byte(text[:end]) {
		n = min(n*10+int(digit-'0'), 1<<40)
	}
	return n, text[end:]
}
