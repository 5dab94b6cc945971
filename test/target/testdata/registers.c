// Calls moved, whose frame begins at a register that is neither the stack pointer nor the frame pointer, as in
// functions that align their stack by hand. It makes a system call there.
long moved(void);

#ifdef __x86_64__
__asm__(".text\n.globl moved\n.type moved, @function\nmoved:\n\t.cfi_startproc\n"
	"\tmov %rsp, %rsi\n\t.cfi_def_cfa %rsi, 8\n\tsub $64, %rsp\n\tand $-64, %rsp\n"
	"\tmov $110, %eax\n\tsyscall\n" // getppid
	"\tmov %rsi, %rsp\n\t.cfi_def_cfa %rsp, 8\n\tret\n\t.cfi_endproc\n.size moved, .-moved\n");
#else
__asm__(".text\n.globl moved\n.type moved, @function\nmoved:\n\t.cfi_startproc\n"
	"\tmov x9, sp\n\t.cfi_def_cfa x9, 0\n\tsub sp, sp, 64\n"
	"\tmov x8, 173\n\tsvc 0\n" // getppid
	"\tmov sp, x9\n\t.cfi_def_cfa sp, 0\n\tret\n\t.cfi_endproc\n.size moved, .-moved\n");
#endif

__attribute__((noinline)) static long calls(long i)
{
	return moved() + i;
}

int main(void)
{
	volatile long sum = 0;

	for (int i = 0; i < 10; i++)
		sum += calls(i);
	return 0;
}
