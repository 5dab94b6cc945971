package elffile

import (
	"regexp"
	"strings"
	"sync"
)

// Thunks of C++ virtual functions, which move the pointer to the object, known by their names.

// A Thunk is what C++ calls for a virtual function through a base class that does not lie where the object begins: it
// moves the pointer to the object, and goes on in the function. Of is the function's name for the linker.
type Thunk struct {
	Function
	Of string
}

// Thunks gives those of a file.
func Thunks(f *File) (out []Thunk) {
	for _, fn := range f.table().list {
		if !strings.HasPrefix(fn.Name, "_ZT") || fn.Part() {
			continue
		}
		if of := thunkName().FindStringSubmatch(fn.Name); of != nil {
			out = append(out, Thunk{fn, "_Z" + of[1]})
		}
	}
	return out
}

// thunkName is how such a name begins: with how far the pointer is moved (Itanium C++ ABI, 5.1.4).
var thunkName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^_ZT(?:h` + thunkMove + `_|v` + thunkMove + "_" + thunkMove + `_)(.+)$`)
})

// thunkMove is a distance, of which n is the sign.
const thunkMove = `n?\d+`
