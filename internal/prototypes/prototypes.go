// Package prototypes knows how the functions of the C library are called, for machines without its debug information:
// as of a function with debug information, their arguments and results have names and types.
//
// The table is C (libc.h), which a compiler compares with the headers of the library (TestAgainstHeaders), and which
// package ctypes reads. What is known of a library is given in the form in which its own debug information would be, so
// that nobody else knows of it.
package prototypes

import (
	_ "embed"
	"runtime"
	"strings"

	"github.com/startrace/startrace/internal/ctypes"
	"github.com/startrace/startrace/internal/kernel"
)

// The functions of the C library (libc.h).

//go:embed libc.h
var libc string

// All are those of the table, in its order.
func All() []ctypes.Prototype {
	list, err := ctypes.Prototypes(libc)
	if err != nil {
		panic("libc.h: " + err.Error()) // it is a part of the program, and a test reads it
	}
	return list
}

// number is an int or a float by the words of C, as "unsigned long"; false where they are another type.
func number(text string) (kernel.Type, bool) {
	is, ok := ctypes.Base(strings.Fields(text), runtime.GOARCH)
	return is, ok && is.Kind != kernel.KindVoid
}

// standsFor is what headers give a name for, on machines of 64 bits; "" where a type is none of these names.
func standsFor(name string) string {
	if of := named[name]; of != "" {
		return of
	}
	return strings.Join(ctypes.OfHeaders(name, runtime.GOARCH), " ")
}

// named are the names that scripts do not have.
var named = map[string]string{
	"off64_t": "long", "useconds_t": "unsigned int", "clockid_t": "int", "clock_t": "long", "in_addr_t": "unsigned int",
	"nfds_t": "unsigned long", "pthread_t": "unsigned long", "pthread_key_t": "unsigned int", "nl_item": "int",
	"iconv_t": "void *",
}
