package emit

import (
	"errors"
	"syscall"
)

// isTooComplex reports whether err is the verifier's giving up: E2BIG, or
// EFAULT for a sequence of jumps that is too long (Linux up to 6.18).
func isTooComplex(err error) bool {
	return errors.Is(err, syscall.E2BIG) || errors.Is(err, syscall.EFAULT)
}
