/* The rig: a board with a power analyser and a tracer, simulated, whose true energies are
 * known. The AVR runs one instruction at a time; a power model gives the current of each; a
 * shunt integrates it into samples by a clock that drifts and wanders, with noise, steps and
 * lost samples. Three runs of the same program make up a case:
 *
 *   rig truth  FIRMWARE          energy of each function without any tracer, to stdout
 *   rig plain  FIRMWARE -p CSV   what the analyser sees of that run
 *   rig traced FIRMWARE -p CSV -e EVENTS   the same with hooks at calls and returns
 *
 * and with the real recorder, which is in a firmware that LITIFUT has linked:
 *
 *   rig recorded FIRMWARE -p CSV -u SERIAL   what is sent, and what the analyser sees
 *
 * Truth is taken by program counter and stack pointer; what reads the recording shares no
 * code with it. Longer than 500 lines, because the case is one
 * program: model, analyser and tracer. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <simavr/avr_extint.h>
#include <simavr/avr_uart.h>
#include <simavr/sim_avr.h>
#include <simavr/sim_elf.h>

#define HERTZ 16000000.0
#define VOLTS 3.3
#define PORTB_ADDRESS 0x25
#define PIN 3         /* of it, that the analyser sees when the real recorder runs */
#define TICK_CYCLES 8 /* of the tracer's clock, which has 16 bits */

static const char *const names[] = {"main",       "work",        "sense",    "adc_read",
				    "filter",     "mac",         "compress", "crc8",
				    "radio_send", "flash_write", "nap",      "wait_ms"};
#define FUNCTIONS (sizeof(names) / sizeof(names[0]))
#define OUTSIDE FUNCTIONS

/* Bits of port B that start them; MORE and LAST do nothing unless -s phases says so. */
enum { RADIO, FLASH, MORE, LAST, PERIPHERALS };
static const unsigned start_bits[PERIPHERALS] = {0, 1, 4, 5};
#define HOLD 6 /* bit of port B: a current while it is set (-s hold) */

/* States of a peripheral after its start: a current for some time each. */
static struct phase {
	double milliamperes, seconds;
} phases[PERIPHERALS][4] = {[RADIO] = {{6, 150e-6}, {17, 360e-6}, {12, 900e-6}, {0, 0}},
			    [FLASH] = {{6, 3e-3}, {0, 0}, {0, 0}, {0, 0}}};

static struct settings {
	double rate, noise, correlation, ripple, step, lost, drift, wander, gain, lead, tau;
	double delay; /* seconds by which the analyser sees pins later than currents */
	double hold;
	double mark_milliamperes; /* of what the pin of the marks feeds */
	double supplies;          /* 2: that of the peripherals is measured apart */
	double model;             /* of the board: what its instructions draw */
	double transfer;          /* microseconds for each 512 events; 0: the wire needs no time */
	unsigned enter_before, enter_after, exit_before, exit_after; /* cycles of a hook */
	double hook_milliamperes, mark_every, mark_length;
	const char *power, *events, *skip;
	uint64_t seed;
} settings = {.rate = 100e3,
	      .noise = 0.15,
	      .step = 0.012,
	      .drift = 35e-6,
	      .gain = 1,
	      .lead = 0.0203,
	      .enter_before = 30,
	      .enter_after = 24,
	      .exit_before = 32,
	      .exit_after = 22,
	      .hook_milliamperes = 9.2,
	      .mark_every = 0.1,
	      .mark_length = 200e-6,
	      .seed = 1};

static uint64_t random_state;

static double uniform(void)
{
	random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
	return (double)(random_state >> 11) / 9007199254740992.0;
}

static double normal(void)
{
	return sqrt(-2 * log(1 - uniform())) * cos(2 * M_PI * uniform());
}

/* ---- the analyser ---- */

static struct analyser {
	FILE *file;
	double time;         /* its own clock, seconds */
	double interval;     /* seconds a sample */
	double charge;       /* mA s of the sample, */
	double other;        /* and of the peripherals' supply */
	double frequency;    /* its seconds a device second */
	double until_change; /* of the frequency, device seconds */
	uint64_t number;
	double colour, smeared;
	bool pin, pin_before; /* before it changed last, */
	double pin_changed;   /* at this time */
} analyser;

static void set_pin(bool high)
{
	if (high == analyser.pin)
		return;
	analyser.pin_before = analyser.pin;
	analyser.pin = high;
	analyser.pin_changed = analyser.time;
}

static bool seen_pin(void)
{
	return analyser.time < analyser.pin_changed + settings.delay ? analyser.pin_before
								     : analyser.pin;
}

static void sample_ends(void)
{
	struct analyser *a = &analyser;
	double current = a->charge / a->interval * settings.gain;

	if (settings.tau > 0) {
		a->smeared += (current - a->smeared) * (1 - exp(-a->interval / settings.tau));
		current = a->smeared;
	}
	a->colour = settings.correlation * a->colour +
		    sqrt(1 - settings.correlation * settings.correlation) * normal();
	current += settings.noise * a->colour +
		   settings.ripple * sin(2 * M_PI * (double)a->number / 37.3);
	if (settings.step > 0)
		current = round(current / settings.step) * settings.step;
	if (a->file && !(settings.lost > 0 && uniform() < settings.lost)) {
		fprintf(a->file, "%.*f,%.3f,", settings.rate > 1e5 ? 5 : 2,
			(double)a->number * a->interval * 1e3, current * 1e3);
		if (settings.supplies > 1)
			fprintf(a->file, "%.3f,",
				(a->other / a->interval + settings.noise * normal()) * 1e3);
		fprintf(a->file, "%d0000000\n", seen_pin());
	}
	a->number++;
	a->charge = a->other = 0;
}

/* For so many seconds of the device's clock the processor has drawn one current and the peripherals
 * another one. */
static void draw(double milliamperes, double peripherals, double seconds)
{
	struct analyser *a = &analyser;

	while (seconds > 0) {
		if (a->until_change <= 0) {
			a->frequency += settings.wander * sqrt(1e-3) * normal();
			a->until_change = 1e-3;
		}
		double length = seconds < a->until_change ? seconds : a->until_change;
		double end = (double)(a->number + 1) * a->interval;
		if (a->time + length * a->frequency >= end)
			length = (end - a->time) / a->frequency;
		if (settings.supplies > 1)
			a->other += peripherals * length * a->frequency;
		else
			a->charge += peripherals * length * a->frequency;
		a->charge += milliamperes * length * a->frequency;
		a->time += length * a->frequency;
		a->until_change -= length;
		seconds -= length;
		if (a->time >= end - 1e-12) {
			a->time = end;
			sample_ends();
		}
	}
}

/* ---- the board ---- */

static struct board {
	avr_t *avr;
	uint32_t entry[FUNCTIONS], size[FUNCTIONS];
	bool traced[FUNCTIONS];
	unsigned stack[256], pointer[256], depth;
	bool tail[256];
	uint8_t port;
	struct {
		bool on;
		unsigned phase, cause;
		double left;
	} device[PERIPHERALS];
	double device_seconds;
	/* truth: joules */
	double self[FUNCTIONS + 1], later[FUNCTIONS + 1], seconds[FUNCTIONS + 1];
	uint64_t calls[FUNCTIONS];
	uint64_t started[PERIPHERALS];
} board;

static struct tracer {
	bool on;
	FILE *file;
	double next_mark, mark_left;
	unsigned in_buffer;
	uint64_t events;
	FILE *serial; /* of the real one, which is in the firmware */
} tracer;

/* A number from 0 to 1 that depends on both arguments only. */
static double drawn(uint64_t which, uint64_t what)
{
	uint64_t x = (which << 32 ^ what) + 0x9e3779b97f4a7c15ull;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return (double)((x ^ x >> 31) >> 11) / 9007199254740992.0;
}

/* What an instruction does: multiplies; loads or stores; branches, jumps, calls; ports; others. */
static unsigned kind_of(uint16_t opcode)
{
	if ((opcode & 0xfc00) == 0x9c00 || (opcode & 0xff00) == 0x0200 ||
	    (opcode & 0xff00) == 0x0300)
		return 0;
	if ((opcode & 0xd000) == 0x8000 || (opcode & 0xfc00) == 0x9000)
		return 1;
	if ((opcode & 0xf000) == 0xf000 || (opcode & 0xe000) == 0xc000)
		return 2;
	if ((opcode & 0xf000) == 0xb000 || (opcode & 0xfc00) == 0x9800)
		return 3;
	return 4;
}

/* An instruction without its constants: truth is taken from another link of the program, in which
 * variables have other addresses. */
static unsigned form_of(uint16_t opcode)
{
	const unsigned first = opcode >> 12;

	if ((first >= 3 && first <= 7) || (first >= 0xc && first <= 0xe))
		return first << 4;
	return (first == 0xf && opcode < 0xf800 ? opcode & 0xfc00u : opcode) >> 8;
}

/* mA of an instruction: of the board that all was tried on, of two others, and of any other number
 * of a board that is drawn: 6 to 14 mA for a kind, a tenth more or less for instructions within it.
 */
static double current_of(uint16_t opcode)
{
	static const double boards[][5] = {{12.0, 10.4, 8.1, 7.2, 9.0},
					   {9.3, 13.1, 6.9, 8.8, 7.7},
					   {7.0, 7.9, 11.2, 6.1, 8.4}};
	const unsigned board_number = (unsigned)settings.model, kind = kind_of(opcode);

	if (board_number < 3)
		return boards[board_number][kind];
	return (6 + 8 * drawn(board_number, kind)) *
	       (0.9 + 0.2 * drawn(board_number, 16 + form_of(opcode)));
}

/* Peripherals draw beside the processor: in pieces in which none of them changes. */
static void pass(double milliamperes, double seconds, unsigned function)
{
	while (seconds > 0) {
		double length = seconds, current = 0;
		for (unsigned i = 0; i < PERIPHERALS; i++) {
			if (board.device[i].on && board.device[i].left < length)
				length = board.device[i].left;
		}
		if (tracer.mark_left > 0 && tracer.mark_left < length)
			length = tracer.mark_left;
		for (unsigned i = 0; i < PERIPHERALS; i++) {
			if (!board.device[i].on)
				continue;
			double extra = phases[i][board.device[i].phase].milliamperes;
			current += extra;
			board.later[board.device[i].cause] += extra * 1e-3 * VOLTS * length;
			board.device[i].left -= length;
			if (board.device[i].left <= 1e-12) {
				board.device[i].phase++;
				board.device[i].left = phases[i][board.device[i].phase].seconds;
				board.device[i].on = board.device[i].left > 0;
			}
		}
		board.self[function] += milliamperes * 1e-3 * VOLTS * length;
		board.seconds[function] += length;
		board.device_seconds += length;
		draw(milliamperes, current, length);
		if (tracer.mark_left > 0) {
			tracer.mark_left -= length;
			if (tracer.mark_left <= 1e-12) {
				tracer.mark_left = 0;
				set_pin(false);
			}
		}
		seconds -= length;
	}
}

static unsigned top(void)
{
	return board.depth ? board.stack[board.depth - 1] : (unsigned)OUTSIDE;
}

static double adc_current(void)
{
	return (board.port & 4 ? 1.2 : 0) + (board.port >> HOLD & 1 ? settings.hold : 0) +
	       (analyser.pin ? settings.mark_milliamperes : 0);
}

static void start_devices(uint8_t port)
{
	uint8_t rising = (uint8_t)(port & ~board.port);

	for (unsigned i = 0; i < PERIPHERALS; i++) {
		if (!(rising >> start_bits[i] & 1))
			continue;
		board.device[i].on = true;
		board.device[i].phase = 0;
		board.device[i].left = phases[i][0].seconds;
		board.device[i].cause = top();
		board.started[i]++;
	}
	board.port = port;
	if (tracer.serial)
		set_pin(port >> PIN & 1);
}

static void take_byte(struct avr_irq_t *irq, uint32_t value, void *parameter)
{
	(void)irq;
	(void)parameter;
	fputc((int)value, tracer.serial);
}

/* ---- the tracer ---- */

static unsigned ticks(void)
{
	return (unsigned)(board.avr->cycle / TICK_CYCLES) & 0xffff;
}

/* The processor does something else for some cycles. */
static void spend(unsigned cycles, double milliamperes)
{
	board.avr->cycle += cycles;
	pass(milliamperes + adc_current(), cycles / HERTZ, OUTSIDE);
}

static void mark(void)
{
	if (tracer.file)
		fprintf(tracer.file, "pin %u\n", ticks());
	set_pin(true);
	tracer.mark_left = settings.mark_length;
}

static void hook(unsigned before, unsigned after, const char *text, const char *name)
{
	spend(before, settings.hook_milliamperes);
	fprintf(tracer.file, text, ticks(), name);
	tracer.events++;
	if (settings.mark_every > 0 && board.device_seconds >= tracer.next_mark &&
	    tracer.mark_left <= 0) {
		/* two pulses at the start tell where the run begins */
		bool first = tracer.next_mark == 0;
		mark();
		tracer.next_mark = first ? board.device_seconds + 4 * settings.mark_length
					 : tracer.next_mark + settings.mark_every;
	}
	if (settings.transfer > 0 && ++tracer.in_buffer == 512) {
		tracer.in_buffer = 0;
		fprintf(tracer.file, "transfer %u\n", ticks());
		for (unsigned i = 0; i < 100; i++)
			spend((unsigned)(settings.transfer * 1e-6 * HERTZ / 100), 11.5);
		fprintf(tracer.file, "transferred %u\n", ticks());
	}
	spend(after, settings.hook_milliamperes);
}

/* ---- the run ---- */

static unsigned function_at(uint32_t pc)
{
	for (unsigned i = 0; i < FUNCTIONS; i++) {
		if (board.entry[i] == pc)
			return i;
	}
	return FUNCTIONS;
}

static unsigned stack_pointer(void)
{
	return board.avr->data[R_SPL] | (unsigned)board.avr->data[R_SPH] << 8;
}

/* Is the function that has made a tail call a traced one? Then the callee's return is its own. */
static bool is_open(void)
{
	return board.depth > 1 && board.traced[board.stack[board.depth - 2]];
}

static void after_instruction(uint16_t opcode)
{
	unsigned pointer = stack_pointer();
	bool is_call =
		(opcode & 0xfe0e) == 0x940e || (opcode & 0xf000) == 0xd000 || opcode == 0x9509;
	bool is_jump = (opcode & 0xfe0e) == 0x940c || (opcode & 0xf000) == 0xc000;
	unsigned jumped = is_jump ? function_at(board.avr->pc) : (unsigned)FUNCTIONS;
	unsigned callee = is_call ? function_at(board.avr->pc) : (unsigned)FUNCTIONS;

	if (callee < FUNCTIONS && board.depth < 255) {
		board.stack[board.depth] = callee;
		board.pointer[board.depth] = pointer;
		board.tail[board.depth++] = false;
		board.calls[callee]++;
		if (tracer.on && board.traced[callee])
			hook(settings.enter_before, settings.enter_after, "enter %u 0 %s\n",
			     names[callee]);
		else if (!tracer.on && !tracer.serial &&
			 !callee) /* main: the untraced run has a start as well */
			mark();
	} else if (jumped < FUNCTIONS && board.depth && board.depth < 255 && jumped != top()) {
		/* its caller is on the stack no more, but ends with it */
		board.stack[board.depth] = jumped;
		board.pointer[board.depth] = board.pointer[board.depth - 1];
		board.tail[board.depth++] = true;
		board.calls[jumped]++;
		if (tracer.on && board.traced[jumped])
			hook(settings.enter_before, settings.enter_after,
			     is_open() ? "tail %u 0 %s\n" : "enter %u 0 %s\n", names[jumped]);
	} else if (opcode == 0x9508 && board.depth && pointer > board.pointer[board.depth - 1]) {
		bool traced = false;
		do
			traced |= board.traced[board.stack[--board.depth]];
		while (board.tail[board.depth] && board.depth);
		if (tracer.on && traced)
			hook(settings.exit_before, settings.exit_after, "leave %u 0\n", "");
	}
}

static int run(uint16_t done_address)
{
	avr_t *avr = board.avr;

	draw(0.5, 0, settings.lead); /* the analyser has begun before the board is fed */
	while (!avr->data[done_address]) {
		uint32_t pc = avr->pc;
		uint64_t before = avr->cycle;
		uint16_t opcode = (uint16_t)(avr->flash[pc] | avr->flash[pc + 1] << 8);
		int state = avr_run(avr);
		if (state == cpu_Done || state == cpu_Crashed) {
			fprintf(stderr, "rig: the firmware has crashed\n");
			return 1;
		}
		/* before what this instruction switches */
		pass(current_of(opcode) + adc_current(), (double)(avr->cycle - before) / HERTZ,
		     top());
		if (avr->data[PORTB_ADDRESS] != board.port)
			start_devices(avr->data[PORTB_ADDRESS]);
		after_instruction(opcode);
		if (board.device_seconds > 100) {
			fprintf(stderr, "rig: the firmware does not end\n");
			return 1;
		}
	}
	for (int i = 0; i < 3 && !tracer.serial; i++) { /* three pulses tell where it ends */
		mark();
		for (int k = 0; k < 10; k++)
			spend((unsigned)(0.2 * settings.mark_length * HERTZ), 0.5);
	}
	pass(0.5, 0.02, OUTSIDE);
	return 0;
}

static void print_truth(void)
{
	printf("function\tcalls\tself_j\tself_s\tlater_j\n");
	for (unsigned i = 0; i <= FUNCTIONS; i++)
		printf("%s\t%llu\t%.12g\t%.9g\t%.12g\n", i < FUNCTIONS ? names[i] : "(outside)",
		       i < FUNCTIONS ? (unsigned long long)board.calls[i] : 0, board.self[i],
		       board.seconds[i], board.later[i]);
}

static bool is_in(const char *list, const char *name)
{
	size_t length = strlen(name);

	for (const char *at = list; at && (at = strstr(at, name)); at++) {
		if ((at == list || at[-1] == ',') && (!at[length] || at[length] == ','))
			return true;
	}
	return false;
}

static const struct {
	const char *name;
	double *value;
} numbers[] = {{"rate", &settings.rate},
	       {"noise", &settings.noise},
	       {"correlation", &settings.correlation},
	       {"ripple", &settings.ripple},
	       {"step", &settings.step},
	       {"lost", &settings.lost},
	       {"drift", &settings.drift},
	       {"wander", &settings.wander},
	       {"gain", &settings.gain},
	       {"delay", &settings.delay},
	       {"lead", &settings.lead},
	       {"tau", &settings.tau},
	       {"model", &settings.model},
	       {"hold", &settings.hold},
	       {"supplies", &settings.supplies},
	       {"mark-current", &settings.mark_milliamperes},
	       {"transfer", &settings.transfer},
	       {"mark-every", &settings.mark_every},
	       {"mark-length", &settings.mark_length},
	       {"hook-current", &settings.hook_milliamperes}};

/* phasesN=MILLIAMPERES:MICROSECONDS,...: what peripheral N does from its start on */
static int set_phases(const char *text)
{
	unsigned number = (unsigned)(*text - '0'), count = 0;
	int length = 0;

	if (number >= PERIPHERALS || text[1] != '=')
		return 1;
	memset(phases[number], 0, sizeof(phases[number]));
	for (text += 2; count < 3; text += length + 1) {
		struct phase *phase = &phases[number][count++];
		if (sscanf(text, "%lf:%lf%n", &phase->milliamperes, &phase->seconds, &length) != 2)
			return 1;
		phase->seconds *= 1e-6;
		if (text[length] != ',')
			return text[length] != 0;
	}
	return 1;
}

static int set(const char *text)
{
	const char *equals = strchr(text, '=');

	for (size_t i = 0; equals && i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		if (strlen(numbers[i].name) == (size_t)(equals - text) &&
		    !strncmp(numbers[i].name, text, (size_t)(equals - text))) {
			*numbers[i].value = atof(equals + 1);
			return 0;
		}
	}
	if (equals && !strncmp(text, "seed=", 5))
		settings.seed = strtoull(equals + 1, NULL, 10);
	else if (!strncmp(text, "phases", 6))
		return set_phases(text + 6);
	else if (equals && !strncmp(text, "skip=", 5))
		settings.skip = equals + 1; /* functions that are not traced */
	else
		return 1;
	return 0;
}

int main(int count, char **arguments)
{
	int option;
	elf_firmware_t firmware = {0};
	uint16_t done_address = 0;
	uint32_t text_end = 0;

	while ((option = getopt(count, arguments, "p:e:s:u:")) != -1) {
		if (option == 'u') {
			tracer.serial = fopen(optarg, "we");
			if (!tracer.serial) {
				perror(optarg);
				return 1;
			}
		} else if (option == 'p') {
			settings.power = optarg;
		} else if (option == 'e') {
			settings.events = optarg;
		} else if (option != 's' || set(optarg)) {
			fprintf(stderr, "rig: what is -s %s?\n", optarg);
			return 2;
		}
	}
	if (count - optind != 2) {
		fprintf(stderr, "usage: rig [-p POWER] [-e EVENTS] [-u SERIAL] [-s NAME=VALUE]... "
				"truth|plain|traced|recorded FIRMWARE\n");
		return 2;
	}
	tracer.on = !strcmp(arguments[optind], "traced");
	if (elf_read_firmware(arguments[optind + 1], &firmware)) {
		fprintf(stderr, "rig: %s can't be read\n", arguments[optind + 1]);
		return 1;
	}
	board.avr = avr_make_mcu_by_name("atmega1284p");
	if (!board.avr)
		return 1;
	firmware.frequency = (uint32_t)HERTZ;
	avr_init(board.avr);
	avr_load_firmware(board.avr, &firmware);
	board.avr->frequency = (uint32_t)HERTZ;
	board.avr->run_cycle_limit = 1;
	board.avr->log = LOG_ERROR;
	if (tracer.serial)
		avr_irq_register_notify(
			avr_io_getirq(board.avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_OUTPUT),
			take_byte, NULL);
	/* simavr would look at a low pin again after each instruction, which takes half of its
	 * time; the firmware does not use these interrupts */
	for (uint8_t i = 0; i < 3; i++)
		avr_extint_set_strict_lvl_trig(board.avr, i, 0);
	uint32_t uart = 0; /* does not print */
	avr_ioctl(board.avr, AVR_IOCTL_UART_SET_FLAGS('0'), &uart);
	for (uint32_t i = 0; i < firmware.symbolcount; i++) {
		const avr_symbol_t *symbol = firmware.symbol[i];
		for (unsigned k = 0; k < FUNCTIONS; k++) {
			if (!strcmp(symbol->symbol, names[k]))
				board.entry[k] = symbol->addr;
		}
		if (!strcmp(symbol->symbol, "done"))
			done_address = (uint16_t)(symbol->addr & 0xffff);
		if (symbol->addr > text_end)
			text_end = symbol->addr;
	}
	for (unsigned k = 0; k < FUNCTIONS; k++)
		board.traced[k] = !is_in(settings.skip, names[k]);
	random_state = settings.seed * 7919 + 17;
	analyser.interval = 1 / settings.rate;
	analyser.frequency = 1 + settings.drift;
	if (settings.power) {
		analyser.file = fopen(settings.power, "we");
		if (!analyser.file) {
			perror(settings.power);
			return 1;
		}
		fprintf(analyser.file, "Timestamp(ms),Current(uA),%sD0-D7\n",
			settings.supplies > 1 ? "Radio(uA)," : "");
	}
	if (tracer.on) {
		tracer.file = fopen(settings.events ? settings.events : "/dev/null", "we");
		if (!tracer.file) {
			perror(settings.events);
			return 1;
		}
		fprintf(tracer.file, "litifut-events 1\nhz %.0f\nbits 16\n", HERTZ / TICK_CYCLES);
	}
	int failed = run(done_address);
	if (analyser.file && fclose(analyser.file))
		failed = 1;
	if (tracer.file && fclose(tracer.file))
		failed = 1;
	if (tracer.serial && fclose(tracer.serial))
		failed = 1;
	if (!failed && !strcmp(arguments[optind], "truth"))
		print_truth();
	return failed;
}
