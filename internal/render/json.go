package render

import (
	"fmt"
	"math"
	"math/big"
	"strconv"

	"github.com/startrace/startrace/internal/escape"
)

// Tables, rows and values as JSON (--format json): keys, histograms, units, lists that were cut.

// appendTableJSON renders one object on a line for each row:
//
//	{"type":"count","name":"n","key":["bash",41],"value":5}
//	{"type":"group","name":"files","key":{"pid":1,"comm":"init"},"values":{"reads":3}}
//	{"type":"count","name":"n","time":86400000000000,"value":5,"percent":12.5}
func appendTableJSON(dst []byte, t *Table, rows []Row, o Options) ([]byte, error) {
	share := t.shares(o)
	for _, r := range rows {
		dst = append(dst, `{"type":`...)
		dst = escape.AppendJSON(dst, t.Kind)
		dst = append(dst, `,"name":`...)
		dst = escape.AppendJSON(dst, t.Name)
		if t.Time != 0 {
			dst = append(dst, `,"time":`...)
			dst = strconv.AppendInt(dst, t.Time, 10)
		}
		if t.Keyed {
			dst = append(dst, `,"key":`...)
			by := t.By
			if len(by) == 0 {
				by = r.Names
			}
			dst = appendKeyJSON(dst, by, r.Key)
		}
		dst = appendValuesJSON(dst, t, r)
		if o.Percent {
			dst = appendJSON(append(dst, `,"percent":`...), share(r))
		}
		dst = append(dst, "}\n"...)
	}
	return dst, nil
}

func appendKeyJSON(dst []byte, by []string, key []Value) []byte {
	if len(by) == 0 || len(by) != len(key) {
		return appendJSON(dst, Tuple(key))
	}
	o := make(Object, len(key))
	for i, v := range key {
		o[i] = Field{by[i], v}
	}
	return appendJSON(dst, o)
}

// appendValuesJSON renders the value of an aggregation, or those of a group
// with the names of its members, and their units where there are any.
func appendValuesJSON(dst []byte, t *Table, r Row) []byte {
	if len(t.Columns) == 1 && t.Columns[0].Name == "" {
		if unit := t.Columns[0].Unit; unit != "" {
			dst = append(dst, `,"unit":`...)
			dst = escape.AppendJSON(dst, unit)
		}
		dst = append(dst, `,"value":`...)
		return appendJSON(dst, r.Values[0])
	}
	values, units := Object{}, Object{}
	for i, c := range t.Columns {
		values = append(values, Field{c.Name, r.Values[i]})
		if c.Unit != "" {
			units = append(units, Field{c.Name, c.Unit})
		}
	}
	if len(units) > 0 {
		dst = append(dst, `,"units":`...)
		dst = appendJSON(dst, units)
	}
	dst = append(dst, `,"values":`...)
	return appendJSON(dst, values)
}

// appendJSON renders a value. What JSON has no number for (inf, nan) is a
// string; FAULT is {"fault":true}, so that no string can be taken for it.
func appendJSON(dst []byte, v Value) []byte {
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...)
	case bool:
		return strconv.AppendBool(dst, v)
	case int64:
		return strconv.AppendInt(dst, v, 10)
	case uint64:
		return strconv.AppendUint(dst, v, 10)
	case *big.Int:
		return v.Append(dst, 10)
	case float64:
		return appendJSONFloat(dst, v)
	case string:
		return escape.AppendJSON(dst, v)
	case []byte:
		return append(appendJSONInts(append(dst, '['), v), ']')
	case CutBytes:
		dst = appendJSONInts(append(dst, '['), v)
		return append(append(dst, more(len(v))...), ']')
	case Fault:
		return append(dst, `{"fault":true}`...)
	}
	return appendCompositeJSON(dst, v)
}

func appendCompositeJSON(dst []byte, v Value) []byte {
	switch v := v.(type) {
	case Stack:
		labels := v.labels()
		frames := make(Tuple, len(labels))
		for i, label := range labels {
			frames[i] = label
		}
		return appendJSON(dst, frames)
	case Frame:
		return escape.AppendJSON(dst, v.Text)
	case Tuple:
		dst = append(dst, '[')
		for i, e := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendJSON(dst, e)
		}
		return append(dst, ']')
	case Object:
		dst = append(dst, '{')
		for i, f := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = escape.AppendJSON(dst, f.Name)
			dst = append(dst, ':')
			dst = appendJSON(dst, f.Value)
		}
		return append(dst, '}')
	case *Stats:
		return appendJSON(dst, v.object())
	case Quantiles:
		return appendJSON(dst, v.object())
	case *Hist:
		return appendJSON(dst, v.tuple())
	}
	return escape.AppendJSON(dst, fmt.Sprint(v))
}

func (s *Stats) object() Object {
	o := make(Object, len(statsNames))
	for i, name := range statsNames {
		o[i] = Field{name, s.at(i)}
	}
	return o
}

func (q Quantiles) object() Object {
	o := make(Object, len(q))
	for i, x := range q {
		o[i] = Field{x.name(), x.Value}
	}
	return o
}

// tuple gives the buckets as objects; an open end is null.
func (h *Hist) tuple() Tuple {
	out := Tuple{}
	for _, b := range h.filled() {
		from, to := b.value(b.Lo), b.value(b.Hi)
		if b.Below {
			from = nil
		}
		if b.Above {
			to = nil
		}
		out = append(out, Object{{"from", from}, {"to", to}, {"count", b.Count}})
	}
	return out
}

// value is a bound of the bucket.
func (b Bucket) value(bound int64) Value {
	if b.Unsigned {
		return uint64(bound)
	}
	return bound
}

func appendJSONFloat(dst []byte, f float64) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return escape.AppendJSON(dst, string(appendWhole(nil, f)))
	}
	return appendWhole(dst, f)
}

// appendJSONInts renders bytes as json.encode does, as the ints of a list: a text of
// them could be another's.
func appendJSONInts(dst, b []byte) []byte {
	for i, c := range b {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendInt(dst, int64(c), 10)
	}
	return dst
}

// more is the last element of a list of n elements that was cut.
func more(n int) string {
	if n == 0 {
		return `"` + cutMark + `"`
	}
	return `,"` + cutMark + `"`
}
