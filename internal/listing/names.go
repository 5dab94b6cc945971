package listing

import "errors"

// The hint `did you mean` of lists.

func didYouMean(name string) string {
	if name == "" {
		return ""
	}
	return "did you mean " + name + "?"
}

// orAll is the pattern for a field that was left empty.
func orAll(field string) string {
	if field == "" {
		return "*"
	}
	return field
}

var errNoPrograms = errors.New("programs cannot be looked at here")
