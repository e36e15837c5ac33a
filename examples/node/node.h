/* A sensor node that sends bundles: a header of 19 fields, each a number of variable length, and
 * a payload. */
#ifndef NODE_H
#define NODE_H

#include <stdbool.h>
#include <stdint.h>

#define FIELDS 19
#define PAYLOAD_BYTES 80
#define FRAME_BYTES 160

/* board.c: USART0 prints, USART1 is the link to the other node. */
void board_start(void);
void board_end(void);
void link_put(uint8_t byte);
bool link_get(uint8_t *byte); /* false: nothing came for some time */
void link_wait(void);         /* sleeps until something has come, or the second ends */
void sleep_a_second(void);
uint16_t read_sensor(void);

/* bundle.c */
struct buffer {
	uint8_t *bytes;
	uint8_t used, room;
};

struct bundle {
	uint32_t fields[FIELDS];
	uint8_t payload[PAYLOAD_BYTES];
};

bool buffer_append(struct buffer *buffer, uint8_t byte);
void buffer_free(struct buffer *buffer);
bool number_append(struct buffer *buffer, uint32_t number);
bool number_take(const struct buffer *buffer, uint8_t *at, uint32_t *number);
void bundle_make(struct bundle *bundle, uint16_t number);
bool bundle_encode(const struct bundle *bundle, struct buffer *buffer);
bool bundle_decode(const struct buffer *buffer, struct bundle *bundle);

/* fields.c */
bool header_append(struct buffer *buffer, const struct bundle *bundle);
bool header_take(const struct buffer *buffer, uint8_t *at, struct bundle *bundle);

/* link.c: frames with a checksum, which the other node confirms. */
uint16_t crc16(uint16_t crc, uint8_t byte);
bool link_send(const struct buffer *buffer, uint8_t sequence);
bool link_receive(struct buffer *buffer, uint8_t *sequence);

/* tasks.c */
uint32_t task_fibonacci(void);
uint16_t task_crc(void);
uint16_t task_sample(uint16_t count);
uint16_t task_send(uint16_t count, bool answered);
uint16_t task_receive(uint16_t count, bool answers);

#endif
