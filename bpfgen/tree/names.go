package tree

import "fmt"

// The names of operators and statements in the text of trees, as `explain --types` prints them.

var opNames = [...]string{
	OpInvalid: "invalid", OpConst: "const", OpLocal: "local", OpBuiltin: "builtin",
	OpCtx: "ctx", OpLoad: "load", OpStr: "str", OpSpanSlot: "slot",
	OpAdd: "add", OpSub: "sub", OpMul: "mul", OpNeg: "neg", OpFloorDiv: "floordiv",
	OpFloorMod: "floormod", OpAnd: "and", OpOr: "or", OpXor: "xor", OpNot: "not",
	OpShl: "shl", OpShr: "shr", OpAbs: "abs", OpMin: "min", OpMax: "max", OpBswap: "bswap",
	OpEq: "eq", OpNe: "ne", OpLt: "lt", OpLe: "le", OpGt: "gt", OpGe: "ge",
	OpIsNone: "isnone", OpIsFault: "isfault", OpPresent: "present", OpSigned: "signed", OpAssume: "assume",
	OpConvert: "convert", OpLNot: "lnot", OpLAnd: "land", OpLOr: "lor", OpCond: "cond",
	OpChars: "chars", OpStrLen: "strlen", OpByteAt: "byteat", OpStartsWith: "startswith", OpEndsWith: "endswith",
	OpContains: "contains", OpMatches: "matches", OpStrConstGet: "strconstget",
	OpTuple: "tuple", OpRecord: "record", OpElem: "elem",
	OpTableGet: "tableget", OpTableIndex: "tableindex", OpTablePop: "tablepop",
	OpTableHas: "tablehas", OpCellGet: "cellget", OpPath: "path", OpMem: "mem", OpUnreadable: "unreadable",
	OpStrList: "strlist",
	OpJoin:    "join", OpListLen: "listlen", OpSyscallName: "syscallname",
	OpNameText: "nametext", OpStack: "stack", OpSignal: "signal",
	OpUnread: "unread", OpInline: "inline",
}

// String gives the name in the text form.
func (o Op) String() string { return nameOf(opNames[:], int(o)) }

var stmtNames = [...]string{
	SInvalid: "invalid", SAssign: "assign", SDo: "do", SIf: "if", SFor: "for",
	SBreak: "break", SContinue: "continue", SReturn: "return", SCall: "call", SStop: "stop", SSend: "send",
	SCount:    "count",
	STableSet: "tableset", STableUpdate: "tableupdate", STableRemove: "tableremove",
	SCellSet: "cellset", SCellAdd: "celladd", SAggAdd: "aggadd",
	SSpanEnter: "spanenter", SSpanStart: "spanstart", SSpanEnd: "spanend",
}

// String gives the name in the text form.
func (o StmtOp) String() string { return nameOf(stmtNames[:], int(o)) }

func nameOf(names []string, i int) string {
	if i < len(names) && names[i] != "" {
		return names[i]
	}
	return fmt.Sprintf("op(%d)", i)
}
