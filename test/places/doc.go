// Package places has programs of C that tell where their arguments and results are: functions of random signatures are
// called, and what they have in registers and on the stack at the first instruction is printed, beside the bytes of
// each argument. Tests compare that with where we look for them, by debug information or by BTF.
package places
