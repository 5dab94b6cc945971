package sourcename

import "strings"

// Types in names of g++ spelled as the linker's names are.
//
// g++ spells types in names otherwise than names of the linker are shown:
//
//	twice<long unsigned int, const char*>    twice<unsigned long, char const*>

// spelled is a name of the source with its types as names of the linker are shown.
func spelled(name string) string {
	if !strings.Contains(name, "<") || strings.HasPrefix(name, "operator<") {
		return name
	}
	return constBehind(numbers.Replace(name))
}

// numbers spells the types of numbers. The longer ones come first.
var numbers = strings.NewReplacer("long long unsigned int", "unsigned long long", "long unsigned int", "unsigned long",
	"short unsigned int", "unsigned short", "long long int", "long long", "long int", "long", "short int", "short")

// constBehind puts const behind the type that it is of.
func constBehind(name string) string {
	for _, before := range []string{"<", ", ", "("} {
		for {
			at := strings.Index(name, before+"const ")
			if at < 0 {
				break
			}
			at += len(before)
			rest := name[at+len("const "):]
			end := typeEnd(rest)
			name = name[:at] + rest[:end] + " const" + rest[end:]
		}
	}
	return name
}

// typeEnd is where a type ends that stands in front: at its pointer, or where the next one begins.
func typeEnd(text string) int {
	depth := 0
	for i, c := range text {
		switch {
		case c == '<' || c == '(':
			depth++
		case depth > 0 && (c == '>' || c == ')'):
			depth--
		case depth == 0 && strings.ContainsRune("*&,>)", c):
			return len(strings.TrimRight(text[:i], " "))
		}
	}
	return len(text)
}
