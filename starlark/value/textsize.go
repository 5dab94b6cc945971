package value

import "go.starlark.net/starlark"

// A textSize is how long the text of values becomes, as far as it has been counted. A tuple that has a tuple twice, and
// so on, is small and has a text without bound: so the room for it is asked for while it is counted, and the script is
// asked whether it may go on.
type textSize struct {
	th *starlark.Thread
	// bytes were counted. asked is how many there was room for when that was asked last.
	bytes, asked uint64
	// values were counted.
	values uint64
	// within are the lists and dicts around the value: one that is in itself is not written again.
	within []starlark.Value
}

const (
	// textCopies is how often a text is there while it is made: in a buffer in its old and its new size, and as a
	// string.
	textCopies = 3
	// valuesBetween is how many values are counted before it is asked again whether the script may go on.
	valuesBetween = 1 << 14
	// ofValue is a value in a text that is no string, or what stands around one that is.
	ofValue = 8
)

// CheckTextOf refuses to write values for whose text there is no room, or once the script is to end: of lists, and what
// else has values.
func CheckTextOf(th *starlark.Thread, list ...starlark.Value) error {
	for _, v := range list {
		switch v.(type) {
		case starlark.Tuple, *starlark.List, *starlark.Dict, *starlark.Set:
			return checkTextOfAll(th, list)
		}
	}
	return nil // as most of what is printed
}

func checkTextOfAll(th *starlark.Thread, list []starlark.Value) error {
	size := textSize{th: th}
	for _, v := range list {
		if err := size.add(v); err != nil {
			return err
		}
	}
	return CheckRoom(th, textCopies*size.bytes)
}

func (s *textSize) add(v starlark.Value) error {
	if s.values++; s.values%valuesBetween == 0 {
		if err := s.check(); err != nil {
			return err
		}
	}
	s.bytes += ofValue
	switch v := v.(type) {
	case starlark.String:
		s.bytes += uint64(len(v))
	case Bytes:
		s.bytes += uint64(len(v))
	case starlark.Tuple:
		for _, elem := range v {
			if err := s.add(elem); err != nil {
				return err
			}
		}
	case *starlark.List:
		return s.inside(v, func() (err error) {
			for i := 0; i < v.Len() && err == nil; i++ {
				err = s.add(v.Index(i))
			}
			return err
		})
	case *starlark.Dict:
		return s.inside(v, func() (err error) {
			for key, elem := range v.Entries() {
				if err = s.add(key); err == nil {
					err = s.add(elem)
				}
				if err != nil {
					break
				}
			}
			return err
		})
	case *starlark.Set:
		for elem := range v.Elements() {
			if err := s.add(elem); err != nil {
				return err
			}
		}
	}
	return nil
}

// inside counts what is in a list or dict, unless that is in itself.
func (s *textSize) inside(v starlark.Value, count func() error) error {
	for _, outer := range s.within {
		if outer == v {
			return nil
		}
	}
	s.within = append(s.within, v)
	err := count()
	s.within = s.within[:len(s.within)-1]
	return err
}

// check asks whether the script may go on, and for room whenever as much again has been counted.
func (s *textSize) check() error {
	if err := checkGoing(s.th); err != nil {
		return err
	}
	if s.bytes < 2*s.asked {
		return nil
	}
	s.asked = s.bytes
	return CheckRoom(s.th, textCopies*s.bytes)
}

// goingKey is where a thread has what SetGoing was given.
const goingKey = "going"

// SetGoing says what builtins ask that take long: it gives an error once the script is to end.
func SetGoing(th *starlark.Thread, going func() error) { th.SetLocal(goingKey, going) }

func checkGoing(th *starlark.Thread) error {
	if going, ok := th.Local(goingKey).(func() error); ok {
		return going()
	}
	return nil
}
