package render

import (
	"cmp"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/startrace/startrace/internal/escape"
	"github.com/startrace/startrace/internal/format"
)

// One value as text: a tuple, a record, stats (count= mean=), quantiles (p50 p99), None.

// appendValue writes a value on one line of text, its strings escaped. The fields of a record stand beside each other.
func appendValue(dst []byte, v Value) []byte {
	if fields, ok := v.(Object); ok {
		return appendFields(dst, fields, " ")
	}
	return appendPart(dst, v)
}

// appendPart writes a value that is a part of a text. A record in another one, or in a list, stands in parentheses, so
// that a reader sees where it ends.
func appendPart(dst []byte, v Value) []byte {
	switch v := v.(type) {
	case nil:
		return append(dst, "None"...)
	case bool:
		if v {
			return append(dst, "True"...)
		}
		return append(dst, "False"...)
	case int64:
		return strconv.AppendInt(dst, v, 10)
	case uint64:
		return strconv.AppendUint(dst, v, 10)
	case *big.Int:
		return v.Append(dst, 10)
	case float64:
		return appendFloat(dst, v)
	case string:
		return escape.Append(dst, v, escape.OneLine)
	case []byte:
		return escape.Append(dst, string(v), escape.OneLine)
	case CutBytes:
		return escape.Append(dst, v.marked(), escape.OneLine)
	case Fault:
		return append(dst, cmp.Or(v.Text, format.FaultText)...)
	}
	return appendComposite(dst, v)
}

func appendComposite(dst []byte, v Value) []byte {
	switch v := v.(type) {
	case Stack:
		for i, label := range v.labels() {
			if i > 0 {
				dst = append(dst, ';')
			}
			dst = escape.Append(dst, label, escape.OneLine)
		}
		return dst
	case Frame:
		return escape.Append(dst, v.Text, escape.OneLine)
	case Tuple:
		dst = append(dst, '(')
		dst = appendList(dst, v)
		return append(dst, ')')
	case Object:
		dst = append(dst, '(')
		dst = appendFields(dst, v, ", ")
		return append(dst, ')')
	case *Stats:
		return appendStats(dst, v)
	case Quantiles:
		return appendQuantiles(dst, v)
	case *Hist:
		dst = strconv.AppendUint(dst, v.Count(), 10)
		return append(dst, " values"...)
	}
	return append(dst, '?')
}

// appendFields writes name=value of each field. A float is whole, as in print: it is one of the script or of a program.
func appendFields(dst []byte, fields Object, between string) []byte {
	for i, f := range fields {
		if i > 0 {
			dst = append(dst, between...)
		}
		dst = escape.Append(dst, f.Name, escape.OneLine)
		dst = append(dst, '=')
		dst = appendKey(dst, f.Value)
	}
	return dst
}

func appendList(dst []byte, values []Value) []byte {
	for i, v := range values {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = appendKey(dst, v)
	}
	return dst
}

// appendKey writes a part of a key, or of a tuple. A float is whole there, since what is near it can be another key.
func appendKey(dst []byte, v Value) []byte {
	if f, ok := v.(float64); ok {
		return format.AppendFloat(dst, f)
	}
	return appendPart(dst, v)
}

func appendStats(dst []byte, s *Stats) []byte {
	for i, name := range statsNames {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = append(dst, name...)
		dst = append(dst, ' ')
		dst = appendValue(dst, s.at(i))
	}
	return dst
}

var statsNames = [...]string{"count", "mean", "lowest", "highest", "total"}

// at gives the value that statsNames[i] names.
func (s *Stats) at(i int) Value {
	return [...]Value{s.Count, s.Mean, s.Lowest, s.Highest, s.Total}[i]
}

func appendQuantiles(dst []byte, q Quantiles) []byte {
	for i, x := range q {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = append(dst, x.name()...)
		dst = append(dst, ' ')
		dst = appendValue(dst, x.Value)
	}
	return dst
}

// name gives p50, p99, p99.9.
func (q Quantile) name() string {
	return "p" + strconv.FormatFloat(q.Q*100, 'g', 6, 64)
}

func plainText(v Value) string { return string(appendValue(nil, v)) }

// appendTitle renders `slowprocs[grep, 41356] (ms):`, with a share `slowprocs[grep, 41356] (ms, 12.5%):`.
func appendTitle(dst []byte, t *Table, c Column, key []Value, share string) []byte {
	start := len(dst)
	dst = append(dst, t.Name...)
	if c.Name != "" {
		if t.Name != "" {
			dst = append(dst, '.')
		}
		dst = append(dst, c.Name...)
	}
	if len(key) > 0 {
		dst = append(dst, '[')
		dst = appendList(dst, key)
		dst = append(dst, ']')
	}
	if beside := slices.DeleteFunc([]string{c.Unit, share}, func(s string) bool { return s == "" }); len(beside) > 0 {
		if len(dst) > start {
			dst = append(dst, ' ')
		}
		dst = append(append(append(dst, '('), strings.Join(beside, ", ")...), ')')
	}
	if len(dst) == start {
		return dst
	}
	return append(dst, ":\n"...)
}
