/* Compresses by zlib, and takes it apart again. In place of main.c of examples/firmware. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <zlib.h>

#include "board.h"

static uint8_t plain[100000], packed[110000], again[100000];

void SysTick_Handler(void)
{
}

int main(void)
{
	uint32_t seed = 1;

	board_start_ticks(1000000);
	for (size_t i = 0; i < sizeof(plain); i++) {
		seed = seed * 1103515245u + 12345u;
		plain[i] = (uint8_t)(i > 300 && seed >> 28 ? plain[i - (seed >> 20 & 255) - 1]
							   : "abcdefgh"[seed >> 16 & 7]);
	}
	for (int level = 1; level <= 9; level += 4) {
		uLongf packed_bytes = sizeof(packed), again_bytes = sizeof(again);
		int done = compress2(packed, &packed_bytes, plain, sizeof(plain), level);
		int undone = uncompress(again, &again_bytes, packed, packed_bytes);

		printf("level %d: %d %d, %lu bytes, %s\n", level, done, undone, packed_bytes,
		       memcmp(plain, again, sizeof(plain)) ? "others" : "the same");
	}
	board_stop_ticks();
	return 0;
}
