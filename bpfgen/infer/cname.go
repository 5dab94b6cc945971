package infer

import "strings"

// intNames are the names that BTF may have for an integer type as C spells it: compilers write the words in an order of
// their own, gcc "long unsigned int", clang "unsigned long".
func intNames(spelled string) []string {
	count := map[string]int{}
	for _, word := range strings.Fields(spelled) {
		switch word {
		case "long", "short", "signed", "unsigned", "int", "char":
			count[word]++
		default:
			return []string{spelled}
		}
	}
	if count["char"] > 0 {
		return []string{spelled}
	}
	width := strings.TrimSpace(strings.Repeat("long ", count["long"]) + strings.Repeat("short ", count["short"]))
	sign := ""
	if count["unsigned"] > 0 {
		sign = "unsigned"
	}
	gcc := strings.Join(strings.Fields(width+" "+sign+" int"), " ")
	clang := strings.Join(strings.Fields(sign+" "+width), " ")
	return []string{gcc, clang}
}
