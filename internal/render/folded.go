package render

import "strings"

// appendTableFolded renders `root;…;leaf 12` for each row, the other elements
// of the key in front of the stack. Rows without a number are left out:
// flame graphs have no place for them.
func appendTableFolded(dst []byte, t *Table, rows []Row) []byte {
	for _, r := range rows {
		if len(r.Values) == 0 || !isNumber(r.Values[0]) {
			continue
		}
		dst = append(dst, folded(r.Key)...)
		dst = append(dst, ' ')
		dst = appendValue(dst, r.Values[0])
		dst = append(dst, '\n')
	}
	return dst
}

// foldedEscapes keeps the separators of the format out of names.
var foldedEscapes = strings.NewReplacer(";", ":", "\n", " ")

func folded(key []Value) string {
	var plain, frames []string
	for _, v := range key {
		stack, ok := v.(Stack)
		if !ok {
			plain = append(plain, foldedEscapes.Replace(plainText(v)))
			continue
		}
		for i := len(stack) - 1; i >= 0; i-- {
			name, _, _ := strings.Cut(stack[i], "+0x") // flame graphs count by function
			frames = append(frames, foldedEscapes.Replace(plainText(name)))
		}
	}
	return strings.Join(append(plain, frames...), ";")
}
