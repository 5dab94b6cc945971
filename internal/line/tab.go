package line

import "strings"

// What Tab adds to a line, or offers in columns.

// A Completion says what could stand at the cursor.
type Completion struct {
	From int // where the words begin in the text before the cursor
	// Words are those that could stand there. They extend what is typed.
	Words []string
	// Shown are words that only say what there is: they extend nothing.
	Shown []string
}

// added is what Tab adds to a text, else what is offered: what all words have
// in common is added, and if that is nothing new, the words are shown.
func (c Completion) added(before string) (text string, offers []string) {
	have := before[min(c.From, len(before)):]
	common := commonPrefix(c.Words)
	switch {
	case len(c.Words) == 0 && len(c.Shown) == 0:
		return "", nil
	case len(common) > len(have) && strings.HasPrefix(common, have):
		return common[len(have):], nil
	case len(c.Words) == 1:
		return "", nil
	}
	return "", append(lastParts(c.Words), lastParts(c.Shown)...)
}

// lastParts are words without the fields or folders that all of them begin
// with.
func lastParts(words []string) []string {
	from := strings.LastIndexAny(commonPrefix(words), ":/") + 1
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w[from:]
	}
	return out
}

func commonPrefix(words []string) string {
	if len(words) == 0 {
		return ""
	}
	out := words[0]
	for _, w := range words[1:] {
		for !strings.HasPrefix(w, out) {
			out = out[:len(out)-1]
		}
	}
	return strings.ToValidUTF8(out, "")
}
