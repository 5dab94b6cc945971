package infer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/startrace/startrace/bpfgen/attrs"
	"github.com/startrace/startrace/bpfgen/refusal"
	"github.com/startrace/startrace/internal/plan"
)

// The message that a container, or an entry of it, has nothing of a name.

// lacking says that a container, or one entry of it, has nothing of a name; "" where it has.
func lacking(c *plan.Container, entry bool, attr string) string {
	names := attrs.OfContainer(c, entry)
	if slices.Contains(names, strings.TrimSuffix(attr, "_")) {
		return ""
	}
	if c.Kind == plan.Group && attr == "add" {
		of := name(c)
		if entry {
			of += "[…]"
		}
		return fmt.Sprintf("group %s has no add: its members do, %s.%s.add(…)", name(c), of, c.Members[0].Name)
	}
	return fmt.Sprintf("%s %s has no %s%s; it has %s", c.Kind, name(c), attr, refusal.Near(attr, names),
		strings.Join(names, ", "))
}
