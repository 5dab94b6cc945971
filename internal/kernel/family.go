package kernel

import (
	"fmt"
	"strings"

	"github.com/startrace/startrace/internal/naming"
)

// The families of names(), and the message about one that is not there.

// OwnFamilies are the families of names() that are neither an enum nor the beginning of constants' names.
var OwnFamilies = []string{"mode", "tcp_state"}

// NameFamily says why names() knows no family of that name; nil: it does.
func (f *Facts) NameFamily(family string) error {
	for _, own := range OwnFamilies {
		if family == own {
			return nil
		}
	}
	if len(Constants(family)) > 0 {
		return nil
	}
	b, err := f.BTF()
	if err != nil {
		return fmt.Errorf("no constants begin with %q, and of enums nothing is known: %w", family, err)
	}
	name := strings.TrimPrefix(family, "enum ")
	if len(b.Enumerators(name)) > 0 {
		return nil
	}
	if list, err := InModules(f).Enumerators(name); err != nil {
		return err
	} else if len(list) > 0 {
		return nil
	}
	return fmt.Errorf("the kernel has no enum %s, and no constants begin so%s", name, orNear(nearFamily(name, b)))
}

// nearFamily is the family that was probably meant. The case of letters is often what is wrong: constants have large
// ones, enums small ones, and the names of an enum's values mostly begin with its own.
func nearFamily(name string, b *BTF) string {
	if upper := strings.ReplaceAll(strings.ToUpper(name), "0", "O"); len(Constants(upper)) > 0 ||
		len(b.Enumerators(upper)) > 0 {
		return upper
	}
	enums := append(b.Names(KindEnum), OwnFamilies...)
	if at := naming.Suggest(name, enums); at != "" {
		return at
	}
	seen := map[string]bool{}
	var prefixes []string
	for _, c := range Constants("") {
		prefix, _, found := strings.Cut(c.Name, "_")
		if found && !seen[prefix] {
			seen[prefix] = true
			prefixes = append(prefixes, prefix+"_")
		}
	}
	if at := naming.Suggest(strings.ToUpper(name), prefixes); at != "" {
		return at
	}
	return naming.Suggest(strings.ToLower(strings.TrimRight(name, "_")), enums)
}
