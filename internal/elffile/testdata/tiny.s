# tiny.elf is made on amd64 by
#	as -o tiny.o tiny.s && ld -z max-page-size=16 -z noseparate-code --build-id=0x0011223344 -o tiny.elf tiny.o
	.globl	entry, _start
	.type	entry, @function
entry:	mov	$7, %eax
	ret
	.size	entry, . - entry
	.type	_start, @function
_start:	call	entry
	hlt
	.size	_start, . - _start
