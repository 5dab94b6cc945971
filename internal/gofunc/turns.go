package gofunc

// JumpsTo reports whether some code jumps to an offset, which may be negative or behind its end.
func JumpsTo(arch string, code []byte, offset int) bool {
	next, err := decoder(arch, code)
	if err != nil {
		return false
	}
	for at := 0; at < len(code); {
		in, err := next(code, at)
		if err != nil {
			return false
		}
		if (in.kind == branch || in.kind == jump) && in.target == offset {
			return true
		}
		at += in.size
	}
	return false
}
