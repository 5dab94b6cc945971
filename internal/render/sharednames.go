package render

import (
	"crypto/sha256"
	"slices"
)

// Functions and files of the same short name in one table are told apart by longer names.
//
// A function can have the name of one in another file, and a file that of one in another folder. Frames are shown in
// short, without the folder, in JSON and CSV without the file. Where rows would be shown alike for that, they have what
// tells them apart:
//
//	f;main                 f (liba.so);main (prog)          as JSON has it, if the other f is of libb.so
//	f (libx.so)            f (/opt/a/libx.so)               as text has it, if the other is of /opt/b/libx.so

// apart gives rows of which no two are shown alike for being short.
func apart(rows []Row) []Row {
	if !slices.ContainsFunc(rows, func(r Row) bool { return slices.ContainsFunc(r.Key, hasFrames) }) {
		return rows
	}
	byFile := func(f Frame) Frame { f.Label = f.Text; return f }
	byFolder := func(f Frame) Frame { f.Label, f.Text = f.Whole, f.Whole; return f }
	return spelledApart(spelledApart(rows, byFile), byFolder)
}

func hasFrames(v Value) bool {
	switch v := v.(type) {
	case Stack, Frame:
		return true
	case Tuple:
		return slices.ContainsFunc(v, hasFrames)
	case Object:
		return slices.ContainsFunc(v, func(f Field) bool { return hasFrames(f.Value) })
	}
	return false
}

// spelledApart spells the frames of those rows out which are shown alike otherwise, and not then.
func spelledApart(rows []Row, spell func(Frame) Frame) []Row {
	first, differ := map[keySum]keySum{}, map[keySum]bool{}
	var text []byte
	sumOf := func(key []Value) keySum {
		text = appendShown(text[:0], key)
		return sha256.Sum256(text)
	}
	for _, r := range rows {
		short, long := sumOf(r.Key), sumOf(spelled(r.Key, spell))
		if other, ok := first[short]; ok && other != long {
			differ[short] = true
		}
		first[short] = long
	}
	if len(differ) == 0 {
		return rows
	}
	rows = slices.Clone(rows)
	for i, r := range rows {
		if differ[sumOf(r.Key)] {
			rows[i].Key = spelled(r.Key, spell)
		}
	}
	return rows
}

// A keySum stands for a key as it is shown: the texts of many stacks are long.
type keySum [sha256.Size]byte

// appendShown appends a key as it is shown, with why stacks are short.
func appendShown(dst []byte, key []Value) []byte {
	dst = appendList(dst, key)
	for _, v := range key {
		if s, ok := v.(Stack); ok {
			dst = append(append(dst, '\n'), s.Short...)
		}
	}
	return dst
}

// spelled is a key with frames as spell gives them.
func spelled(key []Value, spell func(Frame) Frame) []Value {
	out := slices.Clone(key)
	for i, v := range out {
		out[i] = spelledValue(v, spell)
	}
	return out
}

func spelledValue(v Value, spell func(Frame) Frame) Value {
	switch v := v.(type) {
	case Frame:
		return spell(v)
	case Stack:
		v.Frames = slices.Clone(v.Frames)
		for i, f := range v.Frames {
			other := spell(*f)
			v.Frames[i] = &other
		}
		return v
	case Tuple:
		return Tuple(spelled(v, spell))
	case Object:
		out := slices.Clone(v)
		for i, f := range out {
			out[i].Value = spelledValue(f.Value, spell)
		}
		return out
	}
	return v
}
