// Package setting reads the numbers of the environment by which random tests are made longer or repeated.
package setting

import (
	"os"
	"strconv"
	"testing"
)

// Numbers of the environment for tests.

// Int is a number of the environment, decimal or with 0x in front.
func Int(tb testing.TB, name string, otherwise int) int {
	tb.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseInt(text, 0, 64)
	if err != nil {
		tb.Fatalf("%s: %v", name, err)
	}
	return int(n)
}
