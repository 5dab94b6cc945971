package abi

// Which values go into registers, which into memory: the classes of System V (amd64) and AAPCS64 (arm64).

// A class is how a value is passed.
type class struct {
	how how
	// parts are the registers that it takes, in order: of each which file, and how
	// many bytes.
	parts []part
}

type how uint8

const (
	inRegisters how = iota // if enough are left, else on the stack
	inMemory               // on the stack
	byAddress              // the address of a copy is passed as an integer
	nothing                // it has no bytes
)

// A part goes into one register, or, if none, is padding.
type part struct {
	none  bool
	float bool
	bytes int
}

// classifyAMD64 is 3.2.3 of the System V ABI: a value of up to 16 bytes is taken
// apart into eightbytes, each of which is an integer if one of its scalars is, and
// a float otherwise.
func classifyAMD64(v *Value) class {
	switch {
	case v.ByAddress:
		return class{how: byAddress}
	case v.Size == 0 || v.Composite && len(v.Scalars) == 0:
		return class{how: nothing}
	case v.Size > 16 || !aligned(v):
		return class{how: inMemory}
	}
	return passed(eightbytes(v, Group{0, len(v.Scalars)}, v.Groups), v.Size)
}

// eightbytes are those of a group of a value; within are the groups that it has, and others before it. An example:
// union { long l; union { long double d; double e; } u; } is in memory, since a long double and a float lie over each
// other in u. All scalars in a row would be an integer, since the first of them is one.
func eightbytes(v *Value, g Group, within []Group) []eightbyte {
	classes := make([]eightbyte, v.words())
	for at := g.From; at < g.To; {
		n := len(within) - 1
		for n >= 0 && within[n].From != at {
			n--
		}
		if n >= 0 {
			for i, e := range eightbytes(v, within[n], within[:n]) {
				classes[i] = classes[i].merge(e)
			}
			at = within[n].To
			continue
		}
		s := v.Scalars[at]
		for i := s.Off / 8; i < len(classes) && 8*i < s.Off+s.Size; i++ {
			classes[i] = classes[i].merge(eightbyteOf(s, i))
		}
		at++
	}
	for i, e := range classes {
		if e == x87up && classes[i-1] != x87 {
			classes[i] = memory // 3.2.3, 5 (b): the half of a long double, with something over the other half
		}
	}
	return classes
}

// An eightbyte is the class of eight bytes of a value of amd64.
type eightbyte uint8

const (
	padding eightbyte = iota
	integer
	sse
	sseup // the upper half of a register whose lower half is the one before
	x87
	x87up
	memory
)

func eightbyteOf(s Scalar, i int) eightbyte {
	switch {
	case s.Kind == Int:
		return integer
	case s.Kind >= Quad && s.Off < 8*i:
		return sseup
	case s.Kind != Long:
		return sse
	case s.Off == 8*i:
		return x87
	}
	return x87up
}

// merge is 3.2.3, 4: the class of eight bytes in which several scalars are, or over which members of a union lie.
func (e eightbyte) merge(other eightbyte) eightbyte {
	switch {
	case e == other || other == padding:
		return e
	case e == padding:
		return other
	case e == memory || other == memory:
		return memory
	case e == integer || other == integer:
		return integer
	case e < x87 && other < x87:
		return sse
	}
	return memory // a float and a long double
}

// passed is 3.2.3, 5: where a value of such classes goes as an argument.
func passed(classes []eightbyte, size int) class {
	var parts []part
	for i, e := range classes {
		bytes := min(8, size-8*i)
		switch {
		case e >= x87:
			return class{how: inMemory}
		case e == sseup && classes[i-1] == sse:
			parts[len(parts)-1].bytes += bytes
		default:
			parts = append(parts, part{none: e == padding, float: e == sse || e == sseup, bytes: bytes})
		}
	}
	return class{parts: parts}
}

// aligned reports whether each scalar lies at a multiple of its size, as it does
// unless the struct is packed.
func aligned(v *Value) bool {
	for _, s := range v.Scalars {
		if n := min(s.Size, 16); n > 1 && s.Off%n != 0 {
			return false
		}
	}
	return true
}

// classifyARM64 is 6.8.2 of AAPCS64: up to four floats of one size take registers
// of their own, other composites of more than 16 bytes are passed by their address.
func classifyARM64(v *Value) class {
	if v.Size == 0 {
		return class{how: nothing}
	}
	if v.ByAddress {
		return class{how: byAddress}
	}
	if n := homogeneous(v); n > 0 {
		parts := make([]part, n)
		for i := range parts {
			parts[i] = part{float: true, bytes: v.Size / n}
		}
		return class{parts: parts}
	}
	if v.Size > 16 {
		return class{how: byAddress}
	}
	parts := make([]part, v.words())
	for i := range parts {
		parts[i].bytes = min(8, v.Size-8*i)
	}
	return class{parts: parts}
}

// maxHomogeneous is how many floats of one size take registers of their own.
const maxHomogeneous = 4

// homogeneous gives the number of floats if v has nothing else, of one size each;
// 0 if it is none of that. Members of unions lie over each other and count once.
func homogeneous(v *Value) int {
	if len(v.Scalars) == 0 {
		return 0
	}
	first := v.Scalars[0]
	for _, s := range v.Scalars {
		if s.Kind == Int || s.Kind != first.Kind || s.Size != first.Size || s.Size == 0 || s.Off%s.Size != 0 {
			return 0
		}
	}
	at := map[int]bool{}
	for _, s := range v.Scalars {
		at[s.Off] = true
	}
	if len(at) > maxHomogeneous || len(at)*first.Size != v.Size {
		return 0
	}
	return len(at)
}
