package accept

import (
	"fmt"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// joinedCopies is a program of which gcc -O3 says of a call of step that it begins where all cases of a switch meet.
const joinedCopies = `#include <stdio.h>
static volatile long sink, calls;
static volatile int src[64];
static long sum;
static int step(int a, int b) {
	calls++; sum += a;
	long r = a;
	r += b + 7;
	if ((((int)r + 8) & 7) == 5) return r;
	return (int)r;
}
static int middle(int a, int b) {
	long r = a;
	if ((int)r & 1) {
		int w = a & 3;
		do { r += a * 2; } while (w-- > 1);
	} else {
		switch ((int)r & 3) {
		case 0: r += b + 4; break;
		case 1: r += a * 4;
		case 2: r ^= step((int)r + 5, b ^ (int)r); break;
		default: r++;
		}
	}
	if (((a + 1) & 7) == 2) return r;
	r += step(b ^ (int)r, b + 9);
	return (int)r;
}
__attribute__((noinline)) long body(int i, int a, int b) {
	long r = 0;
	switch ((a * 3) & 3) {
	case 0: for (int k = 0; k < 3; k++) { r += src[(r + k) & 63]; r ^= step(b, (int)r + 6); } break;
	case 1: r += (int)r ^ (int)r;
	case 2: if ((a ^ i) & 2) r ^= middle((int)r * 3, (int)r); else r ^= middle(b + 4, src[(int)r & 63]); break;
	default: r++;
	}
	sink += i + 3;
	return r;
}
int main(void) {
	for (int i = 0; i < 64; i++) src[i] = i * 7 + 49;
	for (int i = 0; i < 6; i++) sink += body(i, src[i], i * 3);
	printf("made %ld\n", calls);
}
`

// What gcc joins is counted at least as often as it was called.
//
// > GCC can join the ends of two calls that it has inlined, and can say that a call begins where several ways meet.
// > Such a call is counted more often than it was made.
func TestJoinedCopies(t *testing.T) {
	needTracing(t)
	for _, level := range []string{"-O0", "-O1", "-O3"} {
		binary := need.Built(t, "gcc -g "+level, "joined.c", joinedCopies)
		e := startrace(t, "-q", "-e", "n = count()", "-e", `probe("uprobe:`+binary+`:step", lambda e: n.add())`,
			"-e", `at_exit(lambda: print("seen", n.value))`, "-c", binary).ok(t)
		var made, seen int
		if _, err := fmt.Sscanf(e.stdout, "made %d\nseen %d", &made, &seen); err != nil {
			t.Fatalf("%s: %q: %v", level, e.stdout, err)
		}
		if seen < made || level != "-O3" && seen != made {
			t.Errorf("%s: made %d, seen %d", level, made, seen)
		}
	}
}
