// A process that ends with files open, of which one is mapped, too: leaves MAPPED OPEN.
#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>

int main(int argc, char **argv)
{
	int mapped, opened;

	if (argc != 3)
		return 2;
	mapped = open(argv[1], O_RDWR | O_CREAT, 0600);
	opened = open(argv[2], O_RDONLY | O_CREAT, 0600);
	if (mapped < 0 || opened < 0)
		return 1;
	return mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, mapped, 0) == MAP_FAILED;
}
