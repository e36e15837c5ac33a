/* Prints, reads, sorts: the C library's own calls, of which ROUNDS make many. In place of main.c of
 * examples/firmware, or by itself. */
#include <stdio.h>
#include <stdlib.h>

void SysTick_Handler(void);

void SysTick_Handler(void)
{
}

static int compare(const void *left, const void *right)
{
	return *(const int *)left - *(const int *)right;
}

int main(void)
{
	static int values[200];
	unsigned seed = 1, hash = 0;
	char text[128];

	for (unsigned i = 0; i < 200; i++) {
		seed = seed * 1103515245u + 12345u;
		values[i] = (int)(seed >> 16 & 1023);
	}
	qsort(values, 200, sizeof(*values), compare);
	for (int i = 0; i < ROUNDS; i++) {
		const double ratio = i * 1.37 / (1 + i % 7);
		int left = snprintf(text, sizeof(text), "%d %s %8.3f %g %x %-10s|", i, "word",
				    ratio, ratio * 1e9, i * 77u, "x");

		hash += (unsigned)strtod(text + 10, NULL);
		while (left--)
			hash = hash * 31 + (unsigned char)text[left];
	}
	printf("%d %d %u\n", values[0], values[199], hash);
	return 0;
}
