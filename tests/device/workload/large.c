/* A program with more code than a branch reaches on MIPS, on a library of that kind:
 * on the device the two stand in different regions of 256 MB. */
#include <stdio.h>

int large_program(int rounds);
int large_library(int rounds);

int main(void)
{
	printf("%d %d\n", large_program(2), large_library(2));
	return 0;
}
