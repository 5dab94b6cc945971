package infer

// Sets of what a user half takes of the event (captures), united where a variable is one of several values.

func oneCapture(c capture) *captures {
	return &captures{one: c, leads: needsKernel(c.v), points: c.v.typ().Leads()}
}

// united are the captures of x and y.
func united(x, y *captures) *captures {
	switch {
	case y == nil || x == y:
		return x
	case x == nil:
		return y
	}
	return &captures{x: x, y: y, leads: x.leads || y.leads, points: x.points || y.points}
}

// lead reports whether one of them has fields that only the kernel half can read.
func (c *captures) lead() bool { return c != nil && c.leads }

// point reports whether one of them is a pointer, whose elements only the kernel half can read.
func (c *captures) point() bool { return c != nil && c.points }

// each calls f for the captures in parts that are not in seen, and notes these.
func (c *captures) each(seen map[*captures]bool, f func(capture)) {
	for todo := []*captures{c}; len(todo) > 0; {
		c := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		switch {
		case c == nil || seen[c]:
		case c.x == nil:
			seen[c] = true
			f(c.one)
		default:
			seen[c] = true
			todo = append(todo, c.y, c.x)
		}
	}
}

// has adds the sites of all captures to a set.
func (c *captures) has(sites map[copySite]bool) {
	c.each(map[*captures]bool{}, func(one capture) { sites[copySite{one.half, one.site}] = true })
}

// within reports whether all captures of c are among those of d.
func (c *captures) within(d *captures) bool {
	if c == d || c == nil {
		return true
	}
	mine, theirs := map[copySite]bool{}, map[copySite]bool{}
	c.has(mine)
	d.has(theirs)
	for at := range mine {
		if !theirs[at] {
			return false
		}
	}
	return true
}

// sent reports whether fields of the record have all captures of c. What is known
// of parts is in seen and unsent.
func (c *captures) sent(seen, unsent map[*captures]bool) bool {
	for todo := []*captures{c}; len(todo) > 0; {
		c := todo[len(todo)-1]
		switch {
		case c == nil || seen[c]:
		case c.x == nil:
			seen[c] = true
			_, ok := c.one.half.Slots[c.one.site]
			unsent[c] = !ok && !c.one.there
		case !seen[c.x] || !seen[c.y]:
			todo = append(todo, c.y, c.x)
			continue
		default:
			seen[c] = true
			unsent[c] = unsent[c.x] || unsent[c.y]
		}
		todo = todo[:len(todo)-1]
	}
	return !unsent[c]
}
