package format

// Which kinds of arguments the verbs of a format refuse, for the compiler.

// Unknown, for Check, is the kind of an argument that only the run will tell.
const Unknown ArgKind = 255

// samples stand for all values of their kinds; all verbs take a None.
var samples = map[ArgKind]Arg{
	Unknown: {Kind: None}, None: {Kind: None}, Fault: {Kind: Fault},
	Bool: {Kind: Bool, sample: true, Type: "bool"}, Int: {Kind: Int, sample: true, Type: "int"},
	Uint:  {Kind: Uint, sample: true, Type: "int"},
	Float: {Kind: Float, sample: true, Type: "float"}, Str: {Kind: Str, Str: "a", sample: true, Type: "string"},
	Bytes: {Kind: Bytes, sample: true, Type: "bytes"}, Other: {Kind: Other, sample: true,
		Type: "a value of several parts"},
}

// Check says what is wrong with arguments of these kinds, whatever their values are.
func (f *Format) Check(kinds []ArgKind) error {
	args := make([]Arg, len(kinds))
	for i, k := range kinds {
		args[i] = samples[k]
	}
	if len(args) == f.wanted {
		f.sampleStars(kinds, args)
	}
	_, err := f.Append(nil, args)
	return err
}

// sampleStars gives widths and precisions that are not known a value: they are no None.
func (f *Format) sampleStars(kinds []ArgKind, args []Arg) {
	next := 0
	for i := range f.parts {
		p := &f.parts[i]
		for _, star := range []bool{p.starWidth, p.starPrec} {
			if star {
				if kinds[next] == Unknown {
					args[next] = samples[Int]
				}
				next++
			}
		}
		if p.verb != 0 {
			next++
		}
	}
}

// Verbs gives the verb of each argument, * for a width or a precision.
func (f *Format) Verbs() (out []byte) {
	for i := range f.parts {
		p := &f.parts[i]
		if p.starWidth {
			out = append(out, '*')
		}
		if p.starPrec {
			out = append(out, '*')
		}
		if p.verb != 0 {
			out = append(out, p.verb)
		}
	}
	return out
}
