/* Factorial calls itself from one place: factorial N. */
#include <stdlib.h>

__attribute__((noinline)) int factorial(int n)
{
	__asm__ volatile("");
	return n <= 1 ? 1 : n * factorial(n - 1);
}

int main(int argc, char **argv)
{
	return argc < 2 || factorial(atoi(argv[1])) < 1;
}
