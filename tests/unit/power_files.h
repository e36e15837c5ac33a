/* Power files of every kind, made in memory, for the tests of their readers. */
#ifndef LITIFUT_TESTS_POWER_FILES_H
#define LITIFUT_TESTS_POWER_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct file_bytes {
	uint8_t *bytes;
	size_t size, capacity;
};

void bytes_add(struct file_bytes *file, const void *bytes, size_t size);
void bytes_text(struct file_bytes *file, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void bytes_integer(struct file_bytes *file, uint64_t value, unsigned size, bool big);
void bytes_float(struct file_bytes *file, float value, bool big);
void bytes_double(struct file_bytes *file, double value);
void bytes_release(struct file_bytes *file);

/* A .ppk2 with `count` samples of 1000, 1001, ... uA and D0 high from the sample `high` on. */
struct file_bytes make_ppk2(size_t count, size_t high);

/* A .sr: 1 MHz, two pins, analog channel "I" of `count` samples 1, 2, 3, ... */
struct file_bytes make_sigrok(size_t count);

/* A .dlog: two channels, V and A each: 3 V and 1, 2, 3... mA, 5 V and 10 mA. */
struct file_bytes make_dlog(size_t count, bool min_max);

/* Saleae: a pin with changes at 1, 2, 3... ms; a shunt's voltage of 1, 2, 3... mV in two
 * waveforms with a hole of 1 s between them (version 1). */
struct file_bytes make_saleae_digital(unsigned version, size_t count);
struct file_bytes make_saleae_analog(unsigned version, size_t count);

/* EnergyTrace: 1 mW from 1 ms to 1 ms + count ms, starting at `nanojoules`. */
struct file_bytes make_energytrace(size_t count, double nanojoules, bool with_state);

#endif
