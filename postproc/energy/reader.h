/* What a reader of one kind of power file provides, and what it builds a recording with. */
#ifndef LITIFUT_POSTPROC_ENERGY_READER_H
#define LITIFUT_POSTPROC_ENERGY_READER_H

#include "postproc/energy/power.h"

struct energy_input {
	const char *path;
	const uint8_t *bytes;
	size_t size;
	const struct energy_power_options *options; /* never NULL */
	bool mapped;                                /* its pages can be read again from the file */
};

struct energy_builder {
	struct energy_power *power;
	const char *path;
	struct litifut_error *error;
	size_t capacity, run_capacity, change_capacity;
	enum litifut_status status; /* the first failure; nothing is taken after it */

	/* clock of the samples */
	bool uniform;         /* the rate is given, times are only compared with it */
	double origin;        /* of the times below: large ones would be added up with errors */
	double quantum;       /* steps of the time column, seconds; 0: fine */
	double expected;      /* start of the next sample */
	unsigned block_count; /* samples of the block that corrects the clock next */
	double late[2];       /* how late the times of its halves are, added up */
	double fit_time;      /* sums over runs: their length and their samples */
	double fit_count;
	double last_time;

	/* where times are not equidistant: bins that keep the energy */
	double bin_start;
	float held[ENERGY_CHANNELS]; /* the last values */
	double bin_energy[ENERGY_CHANNELS];
	double longest; /* a longer time without a value is a hole */
	uint16_t levels;
	bool levels_known;

	size_t passed; /* bytes of the input whose memory has been given back */
};

struct energy_reader {
	const char *name;
	/* Is it one of its kind? Looks at the first bytes, and at options. */
	bool (*probe)(const struct energy_input *input);
	enum litifut_status (*read)(const struct energy_input *input,
				    struct energy_builder *builder);
};

extern const struct energy_reader energy_reader_ppk2;
extern const struct energy_reader energy_reader_sigrok;
extern const struct energy_reader energy_reader_dlog;
extern const struct energy_reader energy_reader_jls;
extern const struct energy_reader energy_reader_saleae;
extern const struct energy_reader energy_reader_energytrace;
extern const struct energy_reader energy_reader_raw;
extern const struct energy_reader energy_reader_csv;

/* In the order in which they are asked; NULL-terminated. */
extern const struct energy_reader *const energy_readers[];

/* Sets the error of the builder and returns the status. */
enum litifut_status energy_builder_fail(struct energy_builder *builder, enum litifut_status status,
					const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Samples that follow each other at `interval` from `start` on. */
void energy_builder_uniform(struct energy_builder *builder, unsigned channels, double start,
			    double interval);

/* Samples with a time each. `times`: of the first `count` of them, from which the rate, the
 * step of the time column and whether they are equidistant are found. */
enum litifut_status energy_builder_timed(struct energy_builder *builder, unsigned channels,
					 const double *times, size_t count);

/* One sample; `time` is looked at after energy_builder_timed() only. False: stop. */
bool energy_builder_sample(struct energy_builder *builder, double time, const float *watts);

/* Samples that are not there, after energy_builder_uniform(). A new run starts at `time`. */
bool energy_builder_hole(struct energy_builder *builder, uint64_t samples);
bool energy_builder_jump(struct energy_builder *builder, double time);

/* The levels in the sample that is given next. `both`: pins that have had both. */
bool energy_builder_levels(struct energy_builder *builder, uint16_t levels, uint16_t both);

/* The supply of a channel of which the file has only a current, as --volts says. 0: it does not,
 * which is a failure. */
double energy_builder_volts(struct energy_builder *builder,
			    const struct energy_power_options *options, unsigned channel);

/* What lies before `at` was read: its memory is given back, a large piece at a time, so that a file
 * is never in memory as a whole. */
#define ENERGY_PIECE (16u << 20)
void energy_builder_give_back(struct energy_builder *builder, const struct energy_input *input,
			      size_t at);

static inline void energy_builder_passed(struct energy_builder *builder,
					 const struct energy_input *input, size_t at)
{
	if (at - builder->passed >= ENERGY_PIECE)
		energy_builder_give_back(builder, input, at);
}

/* A change of the pins at a known time. */
bool energy_builder_pins(struct energy_builder *builder, double time, double uncertainty,
			 uint16_t levels);

/* Room for `count` more samples in one go. */
bool energy_builder_reserve(struct energy_builder *builder, size_t count);

enum litifut_status energy_builder_finish(struct energy_builder *builder);

/* What a column or a channel holds. */
enum energy_role {
	ENERGY_ROLE_NONE,
	ENERGY_ROLE_TIME,
	ENERGY_ROLE_CURRENT,
	ENERGY_ROLE_VOLTAGE,
	ENERGY_ROLE_POWER,
	ENERGY_ROLE_ENERGY, /* added up since the start */
	ENERGY_ROLE_PIN,
	ENERGY_ROLE_PINS /* several levels, one character each */
};

struct energy_column {
	enum energy_role role;
	double scale; /* to SI units */
	char name[32];
	char unit[8];
};

/* By the name in a header: "Timestamp(ms)", "Current [uA]", "main_mA", "D0". */
void energy_column_by_name(struct energy_column *column, const char *name, size_t length);

/* By what the user said, `number` from 1 on. False: the user did not speak of it. */
bool energy_column_by_option(struct energy_column *column, const char *columns, size_t number,
			     const char *name);

/* Does the text "ROLE=COLUMN[:UNIT],..." make sense? */
enum litifut_status energy_columns_check(const char *columns, struct litifut_error *error);

#endif
