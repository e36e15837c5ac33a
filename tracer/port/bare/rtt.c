/* A ring in memory that a debug probe reads while the program runs: SEGGER's Real-Time Transfer,
 * one buffer upwards. The probe looks for the first 16 bytes of the control block. They are put
 * together when the first byte is sent, so that the image in the flash does not have them.
 * The layout is that of J-Link's user guide (UM08001), "RTT control block". */
#include "tracer/sink/frames/frames.h"

#define RTT_BYTES 1024
#define RTT_MODE_MASK 3u
#define RTT_MODE_BLOCK 2u /* which the probe may choose: wait until there is room */

struct rtt_buffer {
	const char *name;
	uint8_t *bytes;
	uint32_t size;
	uint32_t write; /* the program's */
	volatile uint32_t read;
	volatile uint32_t mode;
};

struct rtt_control {
	char id[16];
	uint32_t up_count;
	uint32_t down_count;
	struct rtt_buffer up;
};

volatile struct rtt_control litifut_rtt HIDDEN;
static uint8_t litifut_rtt_bytes[RTT_BYTES];

static void litifut_rtt_begin(void)
{
	static const char end[] = "RTT";
	static const char begin[] = "SEGGER ";

	litifut_rtt.up_count = 1;
	litifut_rtt.up.name = end;
	litifut_rtt.up.bytes = litifut_rtt_bytes;
	litifut_rtt.up.size = RTT_BYTES;
	for (unsigned i = 0; i < sizeof(end); i++)
		litifut_rtt.id[sizeof(begin) - 1 + i] = end[i];
	for (unsigned i = 0; i < sizeof(begin) - 1; i++)
		litifut_rtt.id[i] = begin[i];
}

/* What finds no room is dropped where the probe has not asked to wait: there may be none. The host
 * sees that frames are missing. */
int litifut_putc(uint8_t byte)
{
	uint32_t next;

	if (!litifut_rtt.up_count)
		litifut_rtt_begin();
	next = (litifut_rtt.up.write + 1) % RTT_BYTES;
	if (next == litifut_rtt.up.read)
		return (litifut_rtt.up.mode & RTT_MODE_MASK) != RTT_MODE_BLOCK;
	litifut_rtt_bytes[litifut_rtt.up.write] = byte;
	__asm__ volatile("dmb" ::: "memory"); /* the byte before the number that says so */
	litifut_rtt.up.write = next;
	return 1;
}
