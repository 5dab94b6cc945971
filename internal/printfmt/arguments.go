package printfmt

import (
	"fmt"
	"strings"
)

// Arguments of a format that cannot be computed are passed by.

// NotShown is the text of an argument that cannot be computed here.
const NotShown = "<not shown>"

// arguments reads those behind the text of a format. What cannot be computed is missing, unless a field of the record
// stands in no other argument: then that is the error.
func (p *parser) arguments() (args []node, err error) {
	shown, lost := map[string]bool{}, map[string]error{}
	var why error
	for p.take(",") {
		from := p.rest
		x, err := p.choice()
		if next := p.peek(); err == nil && next.kind != end && (next.kind != sign || next.text != ",") {
			err = fmt.Errorf("got %q, want an argument's end", next.text)
		}
		if err != nil {
			p.rest = from
			p.skip()
			why = err
			x = func(Fields) (Value, error) { return Missing(NotShown), nil }
		}
		for _, field := range fieldsIn(from[:len(from)-len(p.rest)]) {
			if err == nil {
				shown[field] = true
			} else {
				lost[field] = err
			}
		}
		args = append(args, x)
	}
	for field, err := range lost {
		if !shown[field] {
			return nil, err
		}
	}
	if len(shown) == 0 && why != nil {
		return nil, why
	}
	return args, nil
}

// skip goes to where an argument ends, whatever it is.
func (p *parser) skip() {
	depth := 0
	for p.peek().kind != end {
		if t := p.peek(); t.kind == sign {
			switch {
			case strings.Contains("([{", t.text):
				depth++
			case strings.Contains(")]}", t.text):
				depth--
			case t.text == "," && depth <= 0:
				return
			}
		}
		p.next()
	}
}

// fieldsIn are the fields of the record that an argument names: REC->NAME, or __get_str(NAME) and its like.
func fieldsIn(argument []token) (fields []string) {
	for i := range argument {
		if i+2 >= len(argument) || argument[i].kind != name || argument[i+2].kind != name {
			continue
		}
		word, mark := argument[i].text, argument[i+1].text
		if word == "REC" && mark == "->" || strings.HasPrefix(word, "__get_") && mark == "(" {
			fields = append(fields, argument[i+2].text)
		}
	}
	return fields
}
