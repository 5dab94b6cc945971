package gofunc

import "fmt"

// Where the instruction begins that has a byte.

// Boundary gives where the instruction begins that has a byte of a function: a
// probe in its middle would change it.
func Boundary(arch string, code []byte, offset int) (int, error) {
	next, err := decoder(arch, code)
	if err != nil {
		return 0, err
	}
	for at := 0; at < len(code); {
		in, err := next(code, at)
		switch {
		case err != nil:
			return 0, fmt.Errorf("find where instructions begin: %w", err)
		case in.kind == data && at+in.size > offset:
			return 0, fmt.Errorf("+%#x is data, no instruction", offset)
		case at+in.size > offset:
			return at, nil
		}
		at += in.size
	}
	return 0, fmt.Errorf("+%#x is not in the function, which has %d bytes", offset, len(code))
}
