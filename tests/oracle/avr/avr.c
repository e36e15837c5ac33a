/* Runs firmware in simavr, one instruction after another, and reports what was executed.
 *
 *   avr [OPTIONS] MCU ELF
 *     -s FILE      addresses of call instructions, one a line, in hex
 *     -o FILE      gets for each of these: ADDRESS EXECUTED JUMPED, how often what follows the
 *                  instruction was not executed next; then `cycles N'
 *     -r FILE      gets these, one a line, in the order in which they were executed
 *     -u FILE      gets what USART0 sends
 *     -m FILE      gets the memory at the end
 *     -c CYCLES    ends after so many, if the firmware does not (it does by an endless loop with
 *                  interrupts off)
 *     -e ADDRESS   ends when this instruction is about to be executed
 *     -f HERTZ     of the CPU: 8000000
 *     -t FUNCTIONS addresses of functions, one a line, in hex; for each of these prints ADDRESS
 *                  CALLS LEAST MOST SUM, in cycles from its first instruction to behind its return
 *     -n ELF       what another node runs, whose USART1 is joined to that of the first; all that is
 *                  reported is of the first
 *     -j CYCLES    that node starts so much later
 *     -l N[:SEED]  one of N bytes between the two is lost, which ones SEED says
 *     -p FILE      gets the cycle and the value of each change of port B
 *     -d FILE      what is written to an AT45DB161 at the SPI, selected by PB4 (dataflash.h)
 *     -g PORT      waits there for a debugger at the end, and lets it read the memory
 *     -k FILE      lines CALL CALLEE RETURN, in hex: from the call or jump to its callee, whatever
 * is in between must keep all registers, SREG and the stack pointer; and from the end of the callee
 * to RETURN, if that is more than 1 (1: no check); counts them. A CALLEE behind it: all of it
 *
 * Slightly over 500 lines: all that is looked at is looked at between two instructions, in one
 * loop. */
#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <simavr/avr_ioport.h>
#include <simavr/avr_uart.h>
#include <simavr/sim_avr.h>
#include <simavr/sim_elf.h>
#include <simavr/sim_gdb.h>

#include "tests/oracle/avr/dataflash.h"

#define FLASH_BYTES (256u * 1024)

/* A call that has not reached its callee yet; or, of a callee that ends, where it is to return to.
 */
struct pending {
	uint32_t callee;
	uint32_t back; /* 0: what the callee returns to is not checked */
	unsigned stack;
	uint8_t registers[32], sreg[8];
};

static uint32_t callees[FLASH_BYTES / 2]; /* of calls that are checked, and 1 */
static uint32_t returns[FLASH_BYTES / 2]; /* of the same, 0: not checked */
static struct called {
	uint32_t back;
	unsigned stack;   /* behind the return */
	unsigned address; /* that the callee finds on the stack: longjmp() returns elsewhere */
} called[256];
static unsigned called_count;
static struct pending pending[64];
static unsigned pending_count;
static unsigned long long kept, spoiled;
static uint64_t executed[FLASH_BYTES / 2];
static uint64_t jumps[FLASH_BYTES / 2]; /* of branches and skip instructions */
static bool is_site[FLASH_BYTES / 2];   /* with -r */
static FILE *order;
static FILE *serial;

static void take_byte(struct avr_irq_t *irq, uint32_t value, void *parameter)
{
	(void)irq;
	(void)parameter;
	fputc((int)value, serial);
}

static FILE *edges;

static void take_port(struct avr_irq_t *irq, uint32_t value, void *parameter)
{
	const avr_t *avr = parameter;

	if (value != irq->value)
		fprintf(edges, "%llu %u\n", (unsigned long long)avr->cycle, (unsigned)value);
}

static FILE *open_file(const char *path, const char *mode)
{
	FILE *file = fopen(path, mode);

	if (!file) {
		perror(path);
		exit(2);
	}
	return file;
}

/* A function whose calls are timed. */
static struct timed {
	uint32_t address;
	uint64_t calls, least, most, sum;
} timed[64];
static unsigned timed_count;
static uint8_t timed_at[FLASH_BYTES / 2]; /* its number, and 1 */
static struct open_call {
	unsigned function, stack;
	uint64_t start;
} open_calls[256];
static unsigned open_count;

static void read_timed(const char *path)
{
	FILE *list = open_file(path, "r");
	unsigned address;

	while (timed_count < 64 && fscanf(list, "%x", &address) == 1 && address < FLASH_BYTES) {
		timed[timed_count] = (struct timed){.address = address, .least = UINT64_MAX};
		timed_at[address / 2] = (uint8_t)++timed_count;
	}
	fclose(list);
}

/* After an instruction: `jumped' says that it was a call or a jump. */
static void follow_calls(const avr_t *avr, bool jumped)
{
	unsigned stack = avr->data[R_SPL] | (unsigned)avr->data[R_SPH] << 8;
	unsigned function = avr->pc < FLASH_BYTES ? timed_at[avr->pc / 2] : 0;

	while (open_count && stack > open_calls[open_count - 1].stack) {
		const struct open_call *call = &open_calls[--open_count];
		struct timed *of = &timed[call->function];
		uint64_t cycles = avr->cycle - call->start;

		of->calls++;
		of->sum += cycles;
		if (cycles < of->least)
			of->least = cycles;
		if (cycles > of->most)
			of->most = cycles;
	}
	if (function && jumped && open_count < 256)
		open_calls[open_count++] = (struct open_call){function - 1, stack, avr->cycle};
}

static void read_callees(const char *path)
{
	FILE *list = open_file(path, "r");
	unsigned call, callee, back;

	while (fscanf(list, "%x %x %x", &call, &callee, &back) == 3)
		if (call < FLASH_BYTES) {
			callees[call / 2] = callee + 1;
			returns[call / 2] = back;
		}
	fclose(list);
}

static unsigned stack_pointer(const avr_t *avr)
{
	return avr->data[R_SPL] | (unsigned)avr->data[R_SPH] << 8;
}

/* Is the code at `to' behind a call of so many bytes, or behind it and up to two words of 4 bytes
 * that stand there? */
static bool is_behind(uint32_t pc, unsigned bytes, unsigned to)
{
	return to == pc + bytes || to == pc + bytes + 4 || to == pc + bytes + 8;
}

/* The next instruction is a call or a jump. An interrupt may come at once. */
static void begin_call(const avr_t *avr, uint32_t pc)
{
	struct pending *call = &pending[pending_count];
	unsigned opcode = avr->flash[pc] | (unsigned)avr->flash[pc + 1] << 8;
	/* not where a call is checked as a whole: then it has returned */
	bool pushes = ((opcode & 0xfe0e) == 0x940e && !is_behind(pc, 4, callees[pc / 2] - 1)) ||
		      (opcode >> 12 == 0xd && !is_behind(pc, 2, callees[pc / 2] - 1)) ||
		      returns[pc / 2];

	if (pending_count == sizeof(pending) / sizeof(*pending))
		return;
	pending_count++;
	call->callee = callees[pc / 2] - 1;
	call->stack = stack_pointer(avr) - (pushes ? avr->address_size : 0);
	memcpy(call->registers, avr->data, sizeof(call->registers));
	memcpy(call->sreg, avr->sreg, sizeof(call->sreg));
	call->back = returns[pc / 2];
}

/* The lower bytes of what a ret would return to. */
static unsigned top_of_stack(const avr_t *avr)
{
	unsigned stack = stack_pointer(avr) + avr->address_size;

	return avr->data[stack] | (unsigned)avr->data[stack - 1] << 8;
}

/* The next instruction is a ret. */
static void begin_return(const avr_t *avr)
{
	struct pending *end = &pending[pending_count];
	unsigned stack = stack_pointer(avr) + avr->address_size;

	while (called_count && called[called_count - 1].stack < stack)
		called_count--; /* by longjmp() */
	if (!called_count || called[called_count - 1].stack != stack ||
	    called[called_count - 1].address != top_of_stack(avr) ||
	    pending_count == sizeof(pending) / sizeof(*pending))
		return;
	pending_count++;
	end->callee = called[--called_count].back;
	end->back = 0;
	end->stack = stack;
	memcpy(end->registers, avr->data, sizeof(end->registers));
	memcpy(end->sreg, avr->sreg, sizeof(end->sreg));
}

/* After the instruction of 2 bytes at `pc', which does not change the stack: an interrupt may have
 * come since. */
static bool has_jumped(const avr_t *avr, uint32_t pc, unsigned stack)
{
	const unsigned next = stack_pointer(avr) == stack ? avr->pc / 2 : top_of_stack(avr);

	return ((pc + 2) / 2 & 0xffff) != (next & 0xffff);
}

static void check_callee(const avr_t *avr)
{
	const struct pending *call = &pending[pending_count - 1];

	if (!pending_count || avr->pc != call->callee)
		return;
	/* a stub may call the handler of an interrupt, or jump there */
	if (stack_pointer(avr) != call->stack &&
	    !(call->back == 1 && stack_pointer(avr) == call->stack + avr->address_size))
		return;
	pending_count--;
	if (call->back > 1 && called_count < 256)
		called[called_count++] = (struct called){
			call->back, call->stack + avr->address_size, top_of_stack(avr)};
	if (memcmp(call->registers, avr->data, sizeof(call->registers)) ||
	    memcmp(call->sreg, avr->sreg, sizeof(call->sreg)))
		spoiled++;
	else
		kept++;
}

/* A CPU that sleeps is as fast as any other here. */
static void do_not_wait(avr_t *avr, avr_cycle_count_t cycles)
{
	(void)avr;
	(void)cycles;
}

/* What else is given, simavr runs as an empty flash, or crashes itself. */
static void check_file(const char *path)
{
	unsigned char head[20] = {0};
	FILE *file = fopen(path, "rb");
	const size_t size = file ? fread(head, 1, sizeof(head), file) : 0;

	if (!file) {
		fprintf(stderr, "avr: %s: %s\n", path, strerror(errno));
		exit(1);
	}
	fclose(file);
	if (size < sizeof(head) || memcmp(head, ELFMAG, SELFMAG) != 0) {
		fprintf(stderr,
			"avr: %s is not an ELF file: give the one that the linker has written, not "
			"what objcopy has made of it (hex, bin)\n",
			path);
		exit(1);
	}
	if (head[EI_CLASS] != ELFCLASS32 || head[18] != EM_AVR || head[19]) {
		fprintf(stderr, "avr: %s is not a program for AVR\n", path);
		exit(1);
	}
}

static avr_t *load(const char *mcu, const char *path, uint32_t hertz)
{
	elf_firmware_t firmware = {0};
	avr_t *avr;

	check_file(path);
	if (elf_read_firmware(path, &firmware)) {
		fprintf(stderr, "avr: %s can't be read\n", path);
		exit(1);
	}
	avr = avr_make_mcu_by_name(mcu);
	if (!avr)
		exit(1);
	avr_init(avr);
	firmware.frequency = hertz;
	avr_load_firmware(avr, &firmware);
	avr->frequency = hertz;
	avr->run_cycle_limit = 1; /* so that timers are exact */
	avr->log = LOG_ERROR;
	avr->sleep = do_not_wait;
	for (char port = '0'; port < '2'; port++) {
		uint32_t flags = 0;

		avr_ioctl(avr, AVR_IOCTL_UART_GET_FLAGS(port), &flags);
		flags &= ~(uint32_t)(AVR_UART_FLAG_STDIO | AVR_UART_FLAG_POLL_SLEEP);
		avr_ioctl(avr, AVR_IOCTL_UART_SET_FLAGS(port), &flags);
	}
	return avr;
}

/* So that a node that sleeps does not get ahead of the other. */
#define TOGETHER_CYCLES 100

static avr_cycle_count_t wake(avr_t *avr, avr_cycle_count_t when, void *parameter)
{
	(void)avr;
	(void)parameter;
	return when + TOGETHER_CYCLES;
}

static uint64_t loss_state;
static uint32_t lost_of; /* one byte of so many is lost; 0: none */

static void carry(struct avr_irq_t *irq, uint32_t value, void *parameter)
{
	(void)irq;
	loss_state = loss_state * 6364136223846793005u + 1442695040888963407u;
	if (!lost_of || (loss_state >> 33) % lost_of)
		avr_raise_irq(parameter, value);
}

static void join(avr_t *from, avr_t *to)
{
	avr_irq_register_notify(avr_io_getirq(from, AVR_IOCTL_UART_GETIRQ('1'), UART_IRQ_OUTPUT),
				carry,
				avr_io_getirq(to, AVR_IOCTL_UART_GETIRQ('1'), UART_IRQ_INPUT));
	avr_cycle_timer_register(from, TOGETHER_CYCLES, wake, NULL);
}

/* N[:SEED] */
static void read_losses(const char *text)
{
	char *end;

	lost_of = (uint32_t)strtoul(text, &end, 0);
	loss_state = *end == ':' ? strtoull(end + 1, NULL, 0) : 0;
}

/* rjmp to itself, which no interrupt ends */
static bool has_ended(const avr_t *avr, uint32_t before)
{
	return avr->state == cpu_Running && avr->pc == before && !avr->sreg[S_I] &&
	       avr->flash[before] == 0xff && avr->flash[before + 1] == 0xcf;
}

static void read_sites(const char *path)
{
	FILE *list = open_file(path, "r");
	unsigned address;

	while (fscanf(list, "%x", &address) == 1)
		if (address < FLASH_BYTES)
			is_site[address / 2] = true;
	fclose(list);
}

static void write_executed(const char *sites, const char *path, uint64_t cycles)
{
	FILE *list = open_file(sites, "r");
	FILE *out = open_file(path, "w");
	unsigned address;

	while (fscanf(list, "%x", &address) == 1)
		fprintf(out, "%x %llu %llu\n", address,
			address < FLASH_BYTES ? (unsigned long long)executed[address / 2] : 0,
			address < FLASH_BYTES ? (unsigned long long)jumps[address / 2] : 0);
	fprintf(out, "cycles %llu\n", (unsigned long long)cycles);
	fclose(list);
	fclose(out);
}

/* A debugger that comes when the program has ended, by simavr's server of gdb's remote protocol.
 * Until it lets the program go on, or is gone. */
static void serve_memory(avr_t *avr, int port)
{
	avr->gdb_port = port;
	avr->state = cpu_Stopped;
	if (avr_gdb_init(avr)) {
		fprintf(stderr, "avr: port %d can't be listened at\n", port);
		return;
	}
	while (avr->state == cpu_Stopped)
		avr_gdb_processor(avr, 10000);
}

int main(int count, char **arguments)
{
	const char *sites = NULL, *out = NULL, *memory = NULL;
	uint64_t limit = 400000000;
	uint32_t hertz = 8000000, end = UINT32_MAX;
	const char *peer_path = NULL;
	avr_t *avr, *peer;
	bool peer_runs = true;
	uint32_t awake_from = UINT32_MAX;
	uint64_t awake = 0, awake_start = 0; /* cycles in which the CPU did not sleep */
	FILE *dataflash = NULL;
	uint64_t peer_starts = 0;
	int option, port = 0, state = cpu_Running;

	while ((option = getopt(count, arguments, "s:o:r:u:m:c:e:f:k:n:t:j:l:p:d:g:a:")) != -1) {
		switch (option) {
		case 's':
			sites = optarg;
			break;
		case 'o':
			out = optarg;
			break;
		case 'r':
			order = open_file(optarg, "w");
			break;
		case 'k':
			read_callees(optarg);
			break;
		case 'u':
			serial = open_file(optarg, "w");
			break;
		case 'm':
			memory = optarg;
			break;
		case 'c':
			limit = strtoull(optarg, NULL, 0);
			break;
		case 'e':
			end = (uint32_t)strtoul(optarg, NULL, 16);
			break;
		case 't':
			read_timed(optarg);
			break;
		case 'n':
			peer_path = optarg;
			break;
		case 'j':
			peer_starts = strtoull(optarg, NULL, 0);
			break;
		case 'l':
			read_losses(optarg);
			break;
		case 'p':
			edges = open_file(optarg, "w");
			break;
		case 'g':
			port = (int)strtol(optarg, NULL, 10);
			break;
		case 'd':
			dataflash = open_file(optarg, "w");
			break;
		case 'a':
			awake_from = (uint32_t)strtoul(optarg, NULL, 16);
			break;
		case 'f':
			hertz = (uint32_t)strtoul(optarg, NULL, 0);
			break;
		default:
			optind = count;
			break;
		}
		if (optind == count)
			break;
	}
	if (count - optind != 2 || !sites != !out) {
		fputs("usage: avr [-s SITES -o EXECUTED [-r ORDER]] [-u SERIAL] [-m MEMORY] [-c "
		      "CYCLES] "
		      "[-e ADDRESS] [-f HERTZ] [-k CALLEES] [-n ELF] [-t FUNCTIONS] [-j CYCLES] "
		      "[-l N[:SEED]] [-p EDGES] [-d PAGES] [-g PORT] [-a ADDRESS] MCU ELF\n"
		      "-a prints how many cycles the CPU was awake, of how many, from the first "
		      "time at ADDRESS on.\n"
		      "Exit status: 0 if the firmware has ended, by an endless loop with "
		      "interrupts off; 1 if it can't\n"
		      "be read or has crashed; 2 for wrong arguments; 3 if it ran for CYCLES "
		      "(400000000 without -c)\n"
		      "and has not ended: all files are written then, too; 4 if a call of "
		      "CALLEES has changed registers.\n",
		      stderr);
		return 2;
	}
	if (order && sites)
		read_sites(sites);
	avr = load(arguments[optind], arguments[optind + 1], hertz);
	peer = peer_path ? load(arguments[optind], peer_path, hertz) : NULL;
	if (peer) {
		join(avr, peer);
		join(peer, avr);
	}
	if (serial) {
		avr_irq_t *irq = avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_OUTPUT);

		if (irq)
			avr_irq_register_notify(irq, take_byte, NULL);
	}
	if (edges)
		avr_irq_register_notify(
			avr_io_getirq(avr, AVR_IOCTL_IOPORT_GETIRQ('B'), IOPORT_IRQ_PIN_ALL),
			take_port, avr);
	if (dataflash)
		dataflash_connect(avr, 'B', 4, dataflash);
	while (avr->cycle < limit && avr->pc != end) {
		uint32_t pc = avr->pc;
		unsigned stack = stack_pointer(avr);
		bool running = avr->state == cpu_Running;

		while (peer && peer_runs && peer->cycle + peer_starts < avr->cycle) {
			uint32_t before = peer->pc;

			avr_run(peer);
			peer_runs = peer->state != cpu_Done && peer->state != cpu_Crashed &&
				    !has_ended(peer, before);
		}
		if (running && pc < FLASH_BYTES && callees[pc / 2])
			begin_call(avr, pc);
		if (running && called_count && pc < FLASH_BYTES && avr->flash[pc] == 0x08 &&
		    avr->flash[pc + 1] == 0x95)
			begin_return(avr);
		const avr_cycle_count_t before = avr->cycle;

		if (pc == awake_from && !awake_start)
			awake_start = before;
		state = avr_run(avr);
		awake += running && awake_start ? avr->cycle - before : 0;
		if (running && pc < FLASH_BYTES) {
			executed[pc / 2]++;
			jumps[pc / 2] += has_jumped(avr, pc, stack);
			if (is_site[pc / 2])
				fprintf(order, "%x\n", pc);
			check_callee(avr);
			unsigned word = avr->flash[pc] | (unsigned)avr->flash[pc + 1] << 8;

			follow_calls(avr, (word & 0xfe0c) == 0x940c || word >> 13 == 6 ||
						  (word & 0xfeef) == 0x9409);
		}
		if (spoiled)
			break;
		if (state == cpu_Done || state == cpu_Crashed)
			break;
		if (running && has_ended(avr, pc))
			break;
	}
	if (serial)
		fclose(serial);
	if (order)
		fclose(order);
	if (edges)
		fclose(edges);
	if (dataflash)
		fclose(dataflash);
	if (memory) {
		FILE *file = open_file(memory, "w");

		fwrite(avr->data, 1, avr->ramend + 1u, file);
		fclose(file);
	}
	if (port)
		serve_memory(avr, port);
	if (sites)
		write_executed(sites, out, avr->cycle);
	for (unsigned i = 0; i < timed_count; i++)
		printf("%x %llu %llu %llu %llu\n", timed[i].address,
		       (unsigned long long)timed[i].calls, (unsigned long long)timed[i].least,
		       (unsigned long long)timed[i].most, (unsigned long long)timed[i].sum);
	if (awake_start)
		printf("awake %llu of %llu\n", (unsigned long long)awake,
		       (unsigned long long)(avr->cycle - awake_start));
	if (kept || spoiled || pending_count)
		printf("kept %llu, spoiled %llu, under way %u\n", kept, spoiled, pending_count);
	if (state == cpu_Crashed) {
		fprintf(stderr, "avr: the firmware has crashed at 0x%x\n", avr->pc);
		return 1;
	}
	if (avr->cycle >= limit) {
		fprintf(stderr, "avr: the firmware has not ended after %llu cycles\n",
			(unsigned long long)limit);
		return 3;
	}
	return spoiled ? 4 : 0;
}
