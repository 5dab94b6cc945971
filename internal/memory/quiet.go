package memory

import (
	"io"
	"log"
)

// Libraries are kept from writing to standard error.

// init keeps libraries from writing lines of their own to standard error. The interpreter does that where the limit of
// addresses (ulimit -v) leaves too few for its integers, which it then allocates, and before main begins. This package
// is initialized before it: of those that wait for nothing the first by its path is next.
func init() { log.SetOutput(io.Discard) }
