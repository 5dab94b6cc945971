package session

import (
	"bytes"
	"strings"
	"testing"
)

func TestGuard(t *testing.T) {
	var stderr bytes.Buffer
	o := Options{Stderr: &stderr}
	o.Verbose = true
	run := func() (exit int, err error) {
		defer guard(o, &exit, &err)
		panic("broken")
	}
	exit, err := run()
	if exit != Failed || err == nil || !strings.Contains(err.Error(), "internal error: broken") {
		t.Errorf("a panic gave exit %d, error %v", exit, err)
	}
	if !strings.Contains(stderr.String(), "TestGuard") {
		t.Errorf("-v does not show where: %s", stderr.String())
	}
}
