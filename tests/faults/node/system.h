/* The parts of the node's system among themselves. Interrupt handlers call the ..._interrupt
 * functions; all else of the system runs in these, in timers, or in tasks of the lower queue. */
#ifndef SYSTEM_H
#define SYSTEM_H

#include "node.h"

/* When a part has its next interrupt; one that has passed does not come again. */
struct interrupts {
	unsigned timers, channel, adc, store;
};
extern struct interrupts interrupts;

#define NEVER (~0u)

/* ---- tasks.c */

/* As post(), for work of the system: it runs when no other task waits. */
enum result post_later(void (*task)(void));

/* Runs a task, if one waits. */
bool tasks_run_next(void);
bool tasks_are_there(void);
unsigned tasks_most(void); /* that have waited at once */
unsigned tasks_refused(void);

/* ---- timers.c */

bool timer_stop(void (*fired)(void));
void timers_interrupt(void);
unsigned timers_late(void); /* how many have fired behind their time */

/* ---- channel.c: the radio's hardware, and what is around the node */

#define FRAME_BYTES 24
#define EVERYBODY 255

enum frame_kind { FRAME_BEACON = 1, FRAME_DATA, FRAME_ACK, FRAME_COMMAND, FRAME_MESSAGE };

struct frame {
	uint8_t kind;
	uint8_t from, to;
	uint8_t sequence;
	uint8_t length;
	uint8_t bytes[FRAME_BYTES];
	uint16_t crc; /* over all before it */
};

void channel_init(void);
bool channel_is_free(void);
bool channel_put(const struct frame *frame); /* mac_sent() is called when it has been sent */
void channel_interrupt(void);

/* ---- crc.c */

uint16_t crc_of(const uint8_t *bytes, unsigned count, uint16_t from);
uint16_t crc_of_frame(const struct frame *frame);

/* ---- mac.c: frames, one after the other, with acknowledgements */

struct outgoing {
	struct frame frame;
	void (*done)(struct outgoing *outgoing, bool heard); /* heard: it was acknowledged */
	bool queued;
	uint8_t tries;
};

struct mac_counts {
	uint16_t sent, acknowledged, given_up, refused, backoffs;
	uint16_t heard, damaged, repeated, acks;
};

enum result mac_send(struct outgoing *outgoing);
void mac_sent(void);
void mac_heard(const struct frame *frame);
const struct mac_counts *mac_counts(void);

/* ---- route.c: the way to the base station */

#define BASE 0
#define OWN_ADDRESS 5
#define FARTHEST 15

struct route_counts {
	uint16_t beacons, arrived, forwarded, dropped, loops, changes;
};

void route_init(void);
void route_heard_beacon(const struct frame *frame);
void route_heard_data(const struct frame *frame);
void route_link(uint8_t to, bool heard); /* whether a frame to it was acknowledged */
enum result route_send(uint8_t origin, const uint8_t *bytes, unsigned count, uint8_t hops);
uint8_t route_parent(void);
uint8_t route_distance(void);
const struct route_counts *route_counts(void);

/* ---- radio.c: messages of the application */

void radio_heard_frame(const struct frame *frame);

/* ---- store.c: the flash memory, and a log in it */

#define RECORD_BYTES 12

enum record_kind { RECORD_SAMPLE = 1, RECORD_REPORT, RECORD_START };

struct record {
	uint8_t kind;
	uint8_t length;
	uint16_t number;
	uint8_t bytes[RECORD_BYTES];
	uint16_t crc;
};

void store_init(void);
enum result store_add(enum record_kind kind, const uint8_t *bytes, unsigned count);
bool store_read(unsigned back, struct record *record); /* 0: the newest one */
void store_interrupt(void);
unsigned store_count(void);
unsigned store_erased(void);
unsigned store_lost(void);

/* ---- sensors.c */

enum { SENSOR_LIGHT, SENSOR_WARMTH, SENSOR_COUNT };

void adc_interrupt(void);
void sensors_init(void);
void sensors_period(unsigned ticks);
unsigned sensor_value(unsigned sensor);
unsigned sensor_alarms(void);

/* ---- energy.c */

enum part { PART_CPU, PART_RADIO, PART_FLASH, PART_ADC, PART_COUNT };

void energy_set(enum part part, unsigned level);
unsigned energy_used(enum part part);
unsigned energy_share(enum part part); /* in a thousandth of all */

/* ---- shell.c: commands that come by radio, and the report of the node */

void shell_init(void);
void shell_heard_command(const struct frame *frame);

#endif
