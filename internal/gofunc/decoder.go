package gofunc

import "fmt"

// The decoder of instructions for a machine (amd64, arm64).

// decode gives the instruction at an offset.
type decode func(code []byte, at int) (instruction, error)

// decoder decodes the code of a function for a processor.
func decoder(arch string, code []byte) (decode, error) {
	switch arch {
	case "amd64":
		return decodeAMD64, nil
	case "arm64":
		pool := literals(code)
		return func(code []byte, at int) (instruction, error) { return decodeARM64(code, at, pool) }, nil
	}
	return nil, fmt.Errorf("functions of Go on %s are not known: amd64 and arm64 are", arch)
}
