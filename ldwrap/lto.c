/* The graph of calls that GCC leaves in each object takes 15 to 35 bytes for each call of the
 * program, before it is packed: packed, 2 to 16. All else that is left grows with debug
 * information, types and the like. LLVM's bitcode is one file, in which the functions are not
 * looked for. */
#include "ldwrap/lto.h"

#include <stdbool.h>
#include <string.h>

#define GRAPH ".gnu.lto_.symbol_nodes"
#define GRAPH_PER_CALL 12
#define TEXT_PER_GRAPH 8
#define BITCODE_PER_CALL 100
/* Of what does not say how long it is unpacked. */
#define PACKED_TIMES 3

/* The size in the head of a frame of zstd (RFC 8878, 3.1.1.1). */
static uint64_t zstd_size(const uint8_t *bytes, size_t size)
{
	static const uint8_t id_bytes[] = {0, 1, 2, 4};
	const uint8_t head = bytes[4];
	const bool whole = head & 0x20;
	const size_t at = 5 + !whole + id_bytes[head & 3];
	const size_t length = head >> 6 ? 1u << (head >> 6) : whole;
	uint64_t value = 0;

	if (!length || size < at + length)
		return (uint64_t)size * PACKED_TIMES;
	for (size_t i = length; i-- > 0;)
		value = value << 8 | bytes[at + i];
	return length == 2 ? value + 256 : value;
}

static uint64_t unpacked_size(const uint8_t *bytes, size_t size)
{
	static const uint8_t zstd[] = {0x28, 0xb5, 0x2f, 0xfd};

	if (size > sizeof(zstd) && !memcmp(bytes, zstd, sizeof(zstd)))
		return zstd_size(bytes, size);
	/* zlib, of a compiler without zstd */
	if (size > 2 && bytes[0] == 0x78 && (bytes[0] << 8 | bytes[1]) % 31 == 0)
		return (uint64_t)size * PACKED_TIMES;
	return size;
}

void lto_add_section(struct lto_guess *guess, const char *name, const uint8_t *bytes, size_t size)
{
	/* what is damaged may say anything: nothing packs a graph this well */
	const uint64_t most = (uint64_t)size * 64;
	uint64_t graph;

	if (strncmp(name, GRAPH, strlen(GRAPH)) != 0)
		return;
	graph = unpacked_size(bytes, size);
	if (graph > most)
		graph = most;
	guess->calls += (size_t)(graph / GRAPH_PER_CALL);
	guess->text += (size_t)(graph * TEXT_PER_GRAPH);
}

void lto_add_bitcode(struct lto_guess *guess, size_t size)
{
	guess->calls += size / BITCODE_PER_CALL;
	guess->text += size;
}
