package accept

import (
	"fmt"
	"strings"
	"testing"
)

// Nests of loops over ranges of constants: written out, followed by the verifier, or run by the kernel.

// nest is a script whose kernel half runs loops over ranges in each other, the innermost with body. At its end user
// space runs the same.
func nest(body string, rounds ...int) string {
	turns := "THREES = tuple([3 * i for i in range(60)])\nseed = cell(12345)\ndef turns(n):\n    c = 0\n"
	indent := "    "
	for i, n := range rounds {
		turns += fmt.Sprintf("%sfor %c in range(%d):\n", indent, 'i'+i, n)
		indent += "    "
	}
	for _, line := range strings.Split(body, "\n") {
		turns += indent + line + "\n"
	}
	return handler(turns+"    return c", "    got[0] = turns(seed.get())") +
		"at_exit(lambda: print(\"same\", got.get(0) == turns(12345)))\n"
}

// The bodies of nests.
const (
	breaks    = "if (i * j + n) % 7 == 0:\n    c += 1\nelif j > i:\n    break"
	continues = "if (i + j * n) & 3:\n    continue\nc += j\nif c > 100000:\n    return c"
	both      = "if j & n == 5:\n    continue\nelif c > i * 30:\n    break\nelse:\n    c += n % 5"
	chooses   = "if (i * j + n) % 7 == 0:\n    c += i\nelif j > i:\n    c ^= n"
	three     = "if (i * j + n) % 7 == k & 7:\n    c += 1\n    continue\nif k > i:\n    break"
	indexes   = "if (i * j + n) % 7 == 0:\n    c += THREES[i]\nelif j > i:\n    break"
)

// nestCases are nests that are too large if they are written out, beside some that are not. The kernel runs them by
// itself, if it can.
func nestCases(t *testing.T) (out []limitCase) {
	old := !atLeast(t, 5, 17)
	add := func(refused bool, name, body string, rounds ...int) {
		c := limitCase{name: fmt.Sprint(name, rounds), text: nest(body, rounds...), runs: true,
			stdout: `(?m)^same True$`, slow: rounds[0]*rounds[1] > 2000 || name == "three"}
		if old && refused {
			c.runs, c.stdout = false, ""
			c.stderr = `script.star:6:9: this kernel's verifier does not follow a loop of this size to its end: it ` +
				`may go round \d+ times, and kernels before Linux 5.17 cannot run it by themselves \(bpf_loop\); ` +
				`give its range a smaller end`
		}
		out = append(out, c)
	}
	for _, n := range []int{4, 16, 20, 64, 100} {
		for _, m := range []int{4, 20, 64, 100} {
			add(m == 100 && n != 4 && n != 64, "breaks", breaks, n, m)
		}
	}
	add(false, "continues", continues, 16, 100)
	add(false, "chooses", chooses, 60, 20)
	for name, body := range map[string]string{"continues": continues, "both": both, "chooses": chooses} {
		add(false, name, body, 60, 60)
		add(name == "both", name, body, 70, 64)
	}
	add(true, "an index that must be a constant", indexes, 60, 60)
	add(false, "three", three, 16, 16, 16)
	add(false, "three", three, 20, 20, 20)
	add(false, "three", three, 3, 60, 60)
	add(false, "three", three, 60, 60, 4)
	return out
}
