package printfmt

import (
	"errors"
	"fmt"
	"strings"
)

// The kernel's functions for formats: `__print_flags`, `__print_symbolic`.

// A member is { value, "name" } in the lists of __print_flags and __print_symbolic.
type member struct {
	val  node
	name string
}

// helper is a call of one of the kernel's functions for formats (include/trace/stages/stage3_trace_output.h).
func (p *parser) helper(fn string) (node, error) {
	switch fn {
	case "__get_str", "__get_rel_str", "__get_sockaddr", "__get_rel_sockaddr", "__get_dynamic_array",
		"__get_rel_dynamic_array", "__get_dynamic_array_len", "__get_rel_dynamic_array_len", "__get_bitmask",
		"__get_rel_bitmask", "__get_cpumask", "__get_rel_cpumask":
		field := p.next().text
		if err := p.want(")"); err != nil {
			return nil, fmt.Errorf("helper %s", fn)
		}
		return p.ofField(fn, fieldNode(field))
	case "__print_hex", "__print_hex_str", "__print_array":
		return p.list(fn)
	case "sizeof":
		return p.sizeOf()
	case "__builtin_expect":
		x, err := p.choice()
		if err == nil && p.take(",") {
			_, err = p.choice()
		}
		return x, errors.Join(err, p.want(")"))
	case "__print_flags", "__print_flags_u64":
		return p.names(true)
	case "__print_symbolic", "__print_symbolic_u64":
		return p.names(false)
	}
	return nil, fmt.Errorf("helper %s", fn)
}

// names reads (value, {1, "A"}, {2, "B"}), for flags with the text between them as the second argument.
func (p *parser) names(flags bool) (node, error) {
	x, err := p.choice()
	if err != nil {
		return nil, err
	}
	between := ""
	if flags {
		if err := p.want(","); err != nil {
			return nil, err
		}
		between = p.next().text
	}
	list, err := p.members()
	if err != nil {
		return nil, err
	}
	return func(f Fields) (Value, error) {
		v, err := x(f)
		if err != nil {
			return v, err
		}
		if v.kind == isMissing {
			return v, nil
		}
		if v.kind != isInt {
			return v, errors.New("names of what is no number")
		}
		if flags {
			return flagNames(f, v.n, between, list)
		}
		return symbol(f, v.n, list)
	}, nil
}

func (p *parser) members() ([]member, error) {
	var list []member
	for p.take(",") {
		if err := p.want("{"); err != nil {
			return nil, err
		}
		x, err := p.choice()
		if err != nil {
			return nil, err
		}
		if err := p.want(","); err != nil {
			return nil, err
		}
		if p.peek().kind == text {
			list = append(list, member{x, p.text()})
		} else if _, err := p.choice(); err != nil { // a null pointer, which ends a list
			return nil, err
		}
		if err := p.want("}"); err != nil {
			return nil, err
		}
	}
	return list, p.want(")")
}

// flagNames is trace_print_flags_seq of kernel/trace/trace_output.c: each mask that is set whole, the rest in hex.
func flagNames(f Fields, flags uint64, between string, list []member) (Value, error) {
	var out []string
	for _, m := range list {
		mask, err := m.val(f)
		if err != nil {
			return mask, err
		}
		if flags&mask.n == mask.n && flags != 0 {
			out = append(out, m.name)
			flags &^= mask.n
		}
	}
	if flags != 0 {
		out = append(out, fmt.Sprintf("0x%x", flags))
	}
	return String(strings.Join(out, between)), nil
}

func symbol(f Fields, n uint64, list []member) (Value, error) {
	for _, m := range list {
		v, err := m.val(f)
		if err != nil {
			return v, err
		}
		if v.n == n {
			return String(m.name), nil
		}
	}
	return String(fmt.Sprintf("0x%x", n)), nil
}
