/* A sensor node that sends, forwards and receives bundles: a header of 19 fields, each a number of
 * variable length, and a payload. One section for each file. */
#ifndef NODE_H
#define NODE_H

#include <stdbool.h>
#include <stdint.h>

#define PAYLOAD_BYTES 80
#define FRAME_BYTES 160

#include "fields.h"

/* The tasks that begin have node 1, those that answer node 2. */
#if defined(TASK_receive) || defined(TASK_answer)
#define OWN_NODE 2
#define PEER_NODE 1
#else
#define OWN_NODE 1
#define PEER_NODE 2
#endif

/* board.c: USART0 prints, USART1 is the link to the other node. */
void board_start(void);
void board_end(void);
void line_put(uint8_t byte);
bool line_has_come(void);     /* is there a byte for line_get()? */
bool line_get(uint8_t *byte); /* false: nothing came for some time */
void line_wait(void);         /* sleeps until something has come, or the second ends */
void sleep_a_second(void);
uint16_t board_seconds(void);
uint16_t read_sensor(void);

/* memory.c: blocks that move when others are given back. All zero: an empty one. */
struct memory {
	uint8_t *bytes;
	uint8_t size;
	struct memory *next;
};

bool memory_take(struct memory *memory, uint8_t size);
bool memory_resize(struct memory *memory, uint8_t size);
/* Moves what is behind `at` by so many bytes, for which the block has grown. */
void memory_make_gap(struct memory *memory, uint8_t at, uint8_t bytes);
void memory_give_back(struct memory *memory);
bool memory_is_empty(const struct memory *memory);

/* number.c: numbers of 7 bits a byte; the last one has bit 7 clear. */
uint8_t number_bytes(uint32_t number);
void number_write(uint8_t *bytes, uint32_t number);
bool number_read(const uint8_t *bytes, uint8_t size, uint8_t *at, uint32_t *number);

/* bundle.c */
enum bundle_flag {
	BUNDLE_FRAGMENT = 1,
	BUNDLE_ADMINISTRATIVE = 2,
	BUNDLE_CUSTODY = 8,
	BUNDLE_REPORT_DELETION = 0x40000
};

struct bundle {
	uint32_t fields[FIELDS];
	uint8_t payload[PAYLOAD_BYTES];
};

void bundle_make(struct bundle *bundle, uint16_t node, uint8_t service, uint32_t flags);
bool bundle_is_fragment(const struct bundle *bundle);
bool bundle_is_administrative(const struct bundle *bundle);
bool bundle_asks_custody(const struct bundle *bundle);
bool bundle_asks_report(const struct bundle *bundle);
bool bundle_is_for_us(const struct bundle *bundle);
bool bundle_is_expired(const struct bundle *bundle);
uint8_t bundle_priority(const struct bundle *bundle);
bool bundle_is_acceptable(const struct bundle *bundle);

/* encode.c: the bytes of a bundle. */
struct encoder {
	struct memory *memory;
	uint8_t at;
};

struct decoder {
	const uint8_t *bytes;
	uint8_t size, at;
};

bool encoder_append(struct encoder *encoder, uint32_t number);
bool decoder_take(struct decoder *decoder, uint32_t *number);
bool bundle_encode(struct bundle *bundle, struct memory *memory);
bool bundle_decode(const uint8_t *bytes, uint8_t size, struct bundle *bundle);

/* fields.c */
uint8_t header_bytes(const struct bundle *bundle);
bool header_append(struct encoder *encoder, const struct bundle *bundle);
bool header_take(struct decoder *decoder, struct bundle *bundle);
bool header_is_good(const struct bundle *bundle);

/* frame.c: frames with a checksum, which the other node confirms. */
enum frame_type { FRAME_BUNDLE = 1, FRAME_BEACON = 2 };

struct frame {
	uint8_t type, sequence, node, used;
	uint8_t bytes[FRAME_BYTES];
};

bool link_send(enum frame_type type, const uint8_t *bytes, uint8_t size);
bool link_receive(struct frame *frame);

/* store.c: bundles that wait until a neighbour has them. */
struct slot {
	struct memory memory;
	uint16_t destination;
	uint32_t flags;
	uint32_t dies; /* time */
	uint8_t failures;
	uint16_t next_try; /* in seconds of the board */
};

struct slot *store_put(struct bundle *bundle);
struct slot *store_next(void); /* NULL: none is due */
void store_sent(struct slot *slot);
void store_failed(struct slot *slot);
uint8_t store_count(void);
void store_expire(void);

/* seen.c: bundles that have come already. */
bool seen_before(const struct bundle *bundle);

/* neighbour.c */
struct neighbour {
	uint16_t node; /* 0: none */
	uint16_t heard;
	uint8_t quality;
};

void neighbour_heard(uint16_t node);
void neighbour_was_reached(struct neighbour *neighbour, bool reached);
struct neighbour *route_to(uint16_t node); /* NULL: there is no neighbour */
void neighbours_expire(void);

/* custody.c */
void custody_accept(struct bundle *bundle);
uint16_t custody_wait(const struct slot *slot);
bool custody_ends(const struct slot *slot);

/* report.c */
void report_deletion(const struct slot *slot);
void report_take(const struct bundle *bundle);

/* endpoint.c */
typedef void endpoint_handler(const struct bundle *bundle);
bool endpoint_register(uint8_t service, endpoint_handler *handler);
bool endpoint_deliver(const struct bundle *bundle);

/* event.c: what is to be done next, and what at some time. */
typedef void event_handler(void);
bool event_post(event_handler *handler);
void events_run(void);
bool timer_start(event_handler *handler, uint8_t seconds); /* again and again */
void timers_run(void);

/* statistics.c */
enum statistic {
	SENT,
	RETRIED,
	FAILED,
	RECEIVED,
	REPEATED,
	REFUSED,
	DELIVERED,
	EXPIRED,
	STATISTICS
};
void statistics_count(enum statistic which);
uint16_t statistics_value(enum statistic which);

/* beacon.c */
bool beacon_send(void);
void beacon_take(const struct frame *frame);
bool discover(void);

/* agent.c: the node as a whole. */
uint32_t node_time(void);
void agent_start(void);
bool agent_send(struct bundle *bundle);
void agent_work(void);
bool agent_listen(void); /* false: nothing came for some seconds */

/* tasks.c */
uint32_t task_fibonacci(void);
uint16_t task_crc(void);
uint16_t task_sample(uint16_t count);
uint16_t task_send(uint16_t count, bool answered);
uint16_t task_receive(uint16_t count, bool answers);

#endif
