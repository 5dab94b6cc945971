// Package rustclosure says how a function of Rust gets what it captures.
//
// A closure gets it as its first parameter. rustc hides this one from debug information where it
// tells of the captured variables themselves. So the parameters that it does tell are one place further on:
//
//	let a = 5;
//	let f = |q: i32| q + a;    // told: q, and the variable a. Passed: the address of {&a}, then q
//
// The address is passed where the closure can be called again. One that gives away what it captured (FnOnce) gets it by
// value.
package rustclosure

import (
	"debug/dwarf"
	"strings"

	"github.com/startrace/startrace/internal/dwarfinfo"
)

// How a function of Rust gets what it captures.

// An Environment is what debug information tells of the parameter that has what a function captures.
type Environment uint8

const (
	// Told: it is among the parameters, there is none, or it is the only one.
	Told Environment = iota
	// Address: it is not told, and is passed by its address.
	Address
	// Unknown: it is not told, and nobody knows how it is passed.
	Unknown
)

// Of says how the function of an entry gets what it captures: by its address, if all captured variables are where an
// address in the frame leads.
func Of(data *dwarfinfo.Data, e *dwarfinfo.Entry) Environment {
	name, _ := dwarfinfo.Attribute(data.Origins(e), dwarf.AttrName).(string)
	if !strings.HasPrefix(name, "{") {
		return Told
	}
	first, told, captured, others := true, false, 0, 0
	err := data.EachChild(e, func(v *dwarfinfo.Entry) (bool, error) {
		switch {
		case v.Tag == dwarf.TagFormalParameter:
			told = told || first && isEnvironment(data, v)
			first = false
		case v.Tag == dwarf.TagVariable && leadsOn(v):
			captured++
		case v.Tag == dwarf.TagVariable:
			others++
		}
		return true, nil
	})
	switch {
	case told, first:
		return Told
	case err != nil || captured == 0 || others > 0 || !strings.HasPrefix(name, "{closure#"):
		return Unknown
	}
	return Address
}

// isEnvironment reports whether a parameter is what a function captures, or its address: its type is {closure_env#N},
// {async_block_env#N} or the like.
func isEnvironment(data *dwarfinfo.Data, p *dwarfinfo.Entry) bool {
	chain := data.Origins(p)
	for range 2 {
		of, ok := dwarfinfo.Attribute(chain, dwarf.AttrType).(dwarf.Offset)
		if !ok {
			return false
		}
		t, err := data.Entry(of)
		if err != nil || t == nil {
			return false
		}
		name, _ := t.Val(dwarf.AttrName).(string)
		if t.Tag != dwarf.TagPointerType {
			return strings.HasPrefix(name, "{") && strings.Contains(name, "_env#")
		}
		chain = []*dwarfinfo.Entry{t}
	}
	return false
}

// leadsOn reports whether a variable is where an address leads that the frame has.
func leadsOn(v *dwarfinfo.Entry) bool {
	const fbreg, deref, more = 0x91, 0x06, 0x80
	place, _ := v.Val(dwarf.AttrLocation).([]byte)
	if len(place) == 0 || place[0] != fbreg {
		return false
	}
	at := 1
	for at < len(place) && place[at]&more != 0 {
		at++
	}
	return at+1 < len(place) && place[at+1] == deref
}
