package cfi_test

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/startrace/startrace/internal/elffile"
	"github.com/startrace/startrace/test/need"
)

// source is a C program with frames of many kinds: of a size that is not known, aligned, very large, of a signal.
const source = `#include <alloca.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define KEPT __attribute__((noinline, noclone))
KEPT long sum(const char *s, long n) { long t = 0; for (long i = 0; i < n; i++) t += s[i]; return t; }
KEPT long varied(long n) { char *s = alloca(n); memset(s, n, n); return sum(s, n); }
KEPT long aligned(long n) {
	char s[256] __attribute__((aligned(128)));
	memset(s, n, sizeof s);
	return sum(s, n) + varied(n);
}
KEPT long large(long n) { char s[70000]; memset(s, n, sizeof s); return sum(s, n) + aligned(n); }
KEPT long many(long a, long b, long c, long d, long e, long f, long g, long h) {
	if (a > 9) return large(a) + large(b) * large(c) - large(d) + large(e) * large(f) - large(g) * large(h);
	if (b > 7) abort();
	return qsort, h;
}
static void handler(int n) { printf("%ld\n", many(n, 1, 2, 3, 4, 5, 6, 7)); }
int main(int argc, char **argv) {
	signal(SIGUSR1, handler);
	raise(SIGUSR1);
	return many(argc, 1, 2, 3, 4, 5, 6, 7) == 0;
}
`

const goSource = `package main

import "fmt"

func main() { fmt.Println("done") }
`

// commands make programs of source. Without asynchronous tables, there is .debug_frame.
var commands = []string{
	"gcc -O2", "gcc -O0 -g", "clang -O2", "gcc -O2 -static", "gcc -g -O2 -fno-asynchronous-unwind-tables",
	"gcc -g -O2 -fno-asynchronous-unwind-tables -gz=zlib", "clang -g -O2 -fno-asynchronous-unwind-tables",
	"aarch64-linux-gnu-gcc -O2 -mbranch-protection=standard", "aarch64-linux-gnu-gcc -O0 -static",
	"aarch64-linux-gnu-gcc -g -O2 -fno-asynchronous-unwind-tables",
}

// installed are programs and libraries that machines may have.
var installed = []string{
	"/lib/x86_64-linux-gnu/libc.so.6", "/lib/aarch64-linux-gnu/libc.so.6", "/usr/aarch64-linux-gnu/lib/libc.so.6",
	"/usr/aarch64-linux-gnu/lib/libstdc++.so.6", "/lib/x86_64-linux-gnu/libcrypto.so.3", "/usr/bin/python3",
	"/usr/bin/bash", "/lib64/ld-linux-x86-64.so.2",
}

// everyProgram runs a test for each program of this machine, and for some that are made for it.
func everyProgram(t *testing.T, test func(t *testing.T, f *elffile.File)) {
	installed, commands, archs := installed, commands, []string{"amd64", "arm64"}
	if testing.Short() {
		installed, commands, archs = installed[:1], commands[:2], archs[:1]
	}
	for _, path := range installed {
		if _, err := os.Stat(path); err == nil {
			t.Run(filepath.Base(path), func(t *testing.T) { test(t, opened(t, path)) })
		}
	}
	for _, command := range commands {
		t.Run(command, func(t *testing.T) { test(t, opened(t, need.Built(t, command, "program.c", source))) })
	}
	for _, arch := range archs {
		t.Run("go "+arch, func(t *testing.T) { test(t, opened(t, builtGo(t, arch))) })
	}
}

// builtGo is a program of Go for an architecture, with flags.
func builtGo(t *testing.T, arch string, flags ...string) string {
	t.Helper()
	dir := t.TempDir()
	in, out := filepath.Join(dir, "main.go"), filepath.Join(dir, "program")
	if err := os.WriteFile(in, []byte(goSource), 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.Command(need.Program(t, "go"), slices.Concat([]string{"build", "-o", out}, flags, []string{in})...)
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GO111MODULE=off", "GOARCH="+arch)
	if text, err := command.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, text)
	}
	return out
}

// builtFor is a program that a compiler makes for a machine: gcc is that of the machine that it runs on.
func builtFor(t *testing.T, machine elf.Machine, command, file, source string) string {
	t.Helper()
	compiler, _, _ := strings.Cut(command, " ")
	out, err := exec.Command(need.Program(t, compiler), "-dumpmachine").Output()
	prefix := map[elf.Machine]string{elf.EM_X86_64: "x86_64-", elf.EM_AARCH64: "aarch64-"}[machine]
	if err != nil || !strings.HasPrefix(string(out), prefix) {
		t.Skipf("needs a %s for %s: this one makes programs for %s, %v", compiler, machine, out, err)
	}
	return need.Built(t, command, file, source)
}

func opened(t testing.TB, path string) *elffile.File {
	t.Helper()
	f, err := elffile.Open(path, elffile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}
