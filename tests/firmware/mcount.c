/* What `gcc -pg` needs of a firmware, as newlib of Debian has none of it: __gnu_mcount_nc, which
 * each function calls, counts arcs in a table that it searches, and mcount_write() writes a
 * gmon.out by semihosting. Written for comparison with what LITIFUT counts without -pg. Compiled
 * with main.c of examples/firmware. */
#include <stddef.h>
#include <stdint.h>

#define PLAIN __attribute__((no_instrument_function, used, noinline))
#define PLACES 256u /* a power of 2 */

static struct arc {
	uint32_t from, to, count;
} arcs[PLACES];

uint32_t mcount_lost;

PLAIN void mcount_count(uint32_t from, uint32_t to)
{
	uint32_t place = (from >> 1 ^ to >> 3) % PLACES;

	for (unsigned i = 0; i < PLACES; i++, place = (place + 1) % PLACES) {
		struct arc *arc = &arcs[place];

		if (!arc->count) {
			arc->from = from;
			arc->to = to;
		}
		if (arc->from == from && arc->to == to) {
			arc->count++;
			return;
		}
	}
	mcount_lost++;
}

/* The function has pushed lr; r0 to r3 are its arguments. */
__asm__(".syntax unified\n\t.text\n\t.balign 4\n\t.thumb\n\t.thumb_func\n\t.global "
	"__gnu_mcount_nc\n"
	".type __gnu_mcount_nc, %function\n"
	"__gnu_mcount_nc:\n\t"
	"push {r0, r1, r2, r3, lr}\n\t"
	"ldr r0, [sp, #20]\n\t"
	"mov r1, lr\n\t"
	"bl mcount_count\n\t"
	"ldr r0, [sp, #16]\n\t"
	"mov r12, r0\n\t"
	"ldr r0, [sp, #20]\n\t"
	"mov lr, r0\n\t"
	"pop {r0, r1, r2, r3}\n\t"
	"add sp, #8\n\t"
	"bx r12\n");

static PLAIN int host(int what, const void *with)
{
	register int r0 __asm__("r0") = what;
	register const void *r1 __asm__("r1") = with;

	__asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
	return r0;
}

static PLAIN void put(int file, const void *bytes, unsigned size)
{
	const struct {
		int file;
		const void *bytes;
		unsigned size;
	} arguments = {file, bytes, size};

	host(5, &arguments); /* SYS_WRITE */
}

PLAIN void mcount_write(void)
{
	static const struct {
		const char *name;
		int mode;
		unsigned length;
	} name = {"gmon.out", 5, 8}; /* "wb" */
	static const uint8_t header[20] = {'g', 'm', 'o', 'n', 1}, tag = 1;
	const int file = host(1, &name); /* SYS_OPEN */

	put(file, header, sizeof(header));
	for (unsigned i = 0; i < PLACES; i++) {
		const uint32_t words[3] = {arcs[i].from & ~1u, arcs[i].to & ~1u, arcs[i].count};

		if (!arcs[i].count)
			continue;
		put(file, &tag, 1);
		put(file, words, sizeof(words));
	}
	host(2, &file); /* SYS_CLOSE */
}
