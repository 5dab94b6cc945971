package location

// The numbers of the operations DW_OP_….

// An opcode is an operation of an expression (DWARF 5, 7.7.1). The table of delve's package op lacks those that came
// with DWARF 5, and what gcc and clang wrote in their place before.
type opcode uint8

// The operations. Between opLit0 and opLit31 lie those of the numbers in between, and so on.
const (
	opAddr            opcode = 0x03
	opDeref           opcode = 0x06
	opConst1u         opcode = 0x08
	opConst1s         opcode = 0x09
	opConst2u         opcode = 0x0a
	opConst2s         opcode = 0x0b
	opConst4u         opcode = 0x0c
	opConst4s         opcode = 0x0d
	opConst8u         opcode = 0x0e
	opConst8s         opcode = 0x0f
	opConstu          opcode = 0x10
	opConsts          opcode = 0x11
	opDup             opcode = 0x12
	opDrop            opcode = 0x13
	opOver            opcode = 0x14
	opPick            opcode = 0x15
	opSwap            opcode = 0x16
	opRot             opcode = 0x17
	opAbs             opcode = 0x19
	opAnd             opcode = 0x1a
	opDiv             opcode = 0x1b
	opMinus           opcode = 0x1c
	opMod             opcode = 0x1d
	opMul             opcode = 0x1e
	opNeg             opcode = 0x1f
	opNot             opcode = 0x20
	opOr              opcode = 0x21
	opPlus            opcode = 0x22
	opPlusUconst      opcode = 0x23
	opShl             opcode = 0x24
	opShr             opcode = 0x25
	opShra            opcode = 0x26
	opXor             opcode = 0x27
	opBra             opcode = 0x28
	opEq              opcode = 0x29
	opGe              opcode = 0x2a
	opGt              opcode = 0x2b
	opLe              opcode = 0x2c
	opLt              opcode = 0x2d
	opNe              opcode = 0x2e
	opSkip            opcode = 0x2f
	opLit0            opcode = 0x30
	opLit31           opcode = 0x4f
	opReg0            opcode = 0x50
	opReg31           opcode = 0x6f
	opBreg0           opcode = 0x70
	opBreg31          opcode = 0x8f
	opRegx            opcode = 0x90
	opFbreg           opcode = 0x91
	opBregx           opcode = 0x92
	opPiece           opcode = 0x93
	opDerefSize       opcode = 0x94
	opNop             opcode = 0x96
	opFormTLSAddress  opcode = 0x9b
	opCallFrameCFA    opcode = 0x9c
	opImplicitValue   opcode = 0x9e
	opStackValue      opcode = 0x9f
	opImplicitPointer opcode = 0xa0
	opAddrx           opcode = 0xa1
	opConstx          opcode = 0xa2
	opEntryValue      opcode = 0xa3
	opConstType       opcode = 0xa4
	opRegvalType      opcode = 0xa5
	opDerefType       opcode = 0xa6
	opConvert         opcode = 0xa8
	opReinterpret     opcode = 0xa9

	opGNUPushTLSAddress  opcode = 0xe0
	opGNUUninit          opcode = 0xf0
	opGNUImplicitPointer opcode = 0xf2
	opGNUEntryValue      opcode = 0xf3
	opGNUConstType       opcode = 0xf4
	opGNURegvalType      opcode = 0xf5
	opGNUDerefType       opcode = 0xf6
	opGNUConvert         opcode = 0xf7
	opGNUReinterpret     opcode = 0xf9
	opGNUParameterRef    opcode = 0xfa
	opGNUAddrIndex       opcode = 0xfb
	opGNUConstIndex      opcode = 0xfc
	opGNUVariableValue   opcode = 0xfd
)
