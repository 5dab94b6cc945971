// Calls inner from code of which no table says where its frames begin: keeps keeps the frame pointer, loses does not.
__attribute__((noinline)) void inner(void) { __asm__ volatile(""); }
void keeps(void);
void loses(void);

#ifdef __x86_64__
__asm__(".text\n.globl keeps, loses\n.type keeps, @function\n.type loses, @function\n"
	"keeps:\n\tpush %rbp\n\tmov %rsp, %rbp\n\tsub $64, %rsp\n\tcall inner\n\tleave\n\tret\n.size keeps, .-keeps\n"
	"loses:\n\tpush %rbp\n\tmov $8, %ebp\n\tcall inner\n\tpop %rbp\n\tret\n.size loses, .-loses\n");
#else
__asm__(".text\n.globl keeps, loses\n.type keeps, @function\n.type loses, @function\n"
	"keeps:\n\tstp x29, x30, [sp, -16]!\n\tmov x29, sp\n\tsub sp, sp, 64\n\tbl inner\n\tadd sp, sp, 64\n"
	"\tldp x29, x30, [sp], 16\n\tret\n.size keeps, .-keeps\n"
	"loses:\n\tstp x29, x30, [sp, -16]!\n\tmov x29, 8\n\tbl inner\n\tldp x29, x30, [sp], 16\n\tret\n"
	".size loses, .-loses\n");
#endif

int main(void)
{
	for (int i = 0; i < 10; i++) {
		keeps();
		loses();
	}
	return 0;
}
