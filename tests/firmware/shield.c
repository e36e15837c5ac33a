/* Nine tasks, as the largest program of "gprof for microcontrollers" has them: a command line,
 * lights, a file browser, reading and writing files, a touch screen, a display, an accelerometer,
 * sound and the refilling of its buffer, which an interrupt asks for. The devices are memory. A
 * small kernel gives each task a turn, until it waits or the timer comes. In place of main.c of
 * examples/firmware, with startup.c of this folder. FRAMES: how often the display is drawn. */
#include <stdint.h>
#include <stdlib.h>

#include "board.h"
#include "pendsv.h"

#define REGISTER(address) (*(volatile uint32_t *)(uintptr_t)(address))
#define FUNCTION __attribute__((noinline))
#define TASKS 9
#define STACK_WORDS 160
#ifndef FRAMES
#define FRAMES 40
#endif
#ifndef TICK
#define TICK 1499
#endif

static uint32_t stacks[TASKS][STACK_WORDS];
static uint32_t *saved[TASKS];
static unsigned current;
static volatile unsigned ticks, refills_asked;

uint32_t *switch_task(uint32_t *stack)
{
	saved[current] = stack;
	current = current + 1 == TASKS ? 0 : current + 1;
	return saved[current];
}

static FUNCTION void yield(void)
{
	REGISTER(0xe000ed04) = 1u << 28; /* PendSV */
	__asm__ volatile("isb" ::: "memory");
}

static FUNCTION void sleep_until(unsigned time)
{
	while ((int)(ticks - time) < 0)
		yield();
}

/* The sound's buffer is half empty each 4 ticks: interrupt 0 says so. */
void Inner_Handler(void)
{
	refills_asked++;
}

void SysTick_Handler(void)
{
	if (++ticks % 4 == 0)
		REGISTER(0xe000e200) = 1;
	yield();
}

/* Display */
#define WIDTH 96
#define HEIGHT 16
static uint8_t pixels[WIDTH * HEIGHT / 8];
static unsigned cursor_x, cursor_y, left, right;

static FUNCTION void LCD_Start_Rectangle(unsigned x, unsigned y, unsigned width)
{
	cursor_x = left = x;
	cursor_y = y;
	right = x + width;
}

static FUNCTION void LCD_Write_Rectangle_Pixel(int on)
{
	unsigned place = cursor_y * WIDTH + cursor_x;

	if (on)
		pixels[place / 8] |= (uint8_t)(1 << place % 8);
	else
		pixels[place / 8] &= (uint8_t) ~(1 << place % 8);
	if (++cursor_x == right) {
		cursor_x = left;
		cursor_y++;
	}
}

static FUNCTION void LCD_Text_PrintChar(unsigned column, unsigned row, char character)
{
	uint32_t shape = (uint32_t)character * 2654435761u;

	LCD_Start_Rectangle(column * 6, row * 8, 6);
	for (unsigned i = 0; i < 48; i++)
		LCD_Write_Rectangle_Pixel(shape >> i % 32 & 1);
}

static FUNCTION void LCD_Text_PrintStr(unsigned row, const char *text)
{
	for (unsigned column = 0; column < WIDTH / 6 && text[column]; column++)
		LCD_Text_PrintChar(column, row, text[column]);
}

static FUNCTION void print_number(char *text, unsigned number)
{
	for (unsigned i = 4; i--; number /= 10)
		text[i] = (char)('0' + number % 10);
}

/* Files */
#define BLOCKS 16
#define BLOCK 32
static struct {
	char name[8];
	uint8_t first;
	uint16_t bytes;
} directory[3] = {{"log", 0, 0}, {"song", 1, 0}, {"notes", 2, 0}};
static uint8_t next_block[BLOCKS] = {[0 ... BLOCKS - 1] = 0xff};
static uint8_t blocks[BLOCKS][BLOCK];
static uint8_t blocks_used = 3;
static volatile unsigned file_errors, selected, records;

static FUNCTION uint8_t *block_at(unsigned file, unsigned place, int make)
{
	unsigned block = directory[file].first;

	for (; place >= BLOCK; place -= BLOCK) {
		if (next_block[block] == 0xff && (!make || blocks_used == BLOCKS))
			return NULL;
		if (next_block[block] == 0xff)
			next_block[block] = blocks_used++;
		block = next_block[block];
	}
	return blocks[block] + place;
}

static FUNCTION int file_append(unsigned file, uint8_t byte)
{
	uint8_t *place = block_at(file, directory[file].bytes, 1);

	if (place) {
		*place = byte;
		directory[file].bytes++;
	}
	return place != NULL;
}

static FUNCTION uint8_t file_check(unsigned file)
{
	uint8_t sum = 0;

	for (unsigned i = 0; i < directory[file].bytes; i++)
		sum = (uint8_t)(sum + *block_at(file, i, 0));
	return sum;
}

/* Sensors */
static uint32_t noise = 1;

static FUNCTION uint8_t I2C_ReadAddress(unsigned address)
{
	noise = noise * 1103515245u + 12345u + address;
	return (uint8_t)(noise >> 24);
}

static FUNCTION int square_root(unsigned value)
{
	unsigned root = 0;

	for (unsigned bit = 1u << 14; bit; bit >>= 1)
		if ((root + bit) * (root + bit) <= value)
			root += bit;
	return (int)root;
}

static FUNCTION int read_axis(unsigned axis)
{
	return (int8_t)I2C_ReadAddress(2 * axis + 1) + (I2C_ReadAddress(2 * axis + 2) >> 7);
}

static volatile int roll, pitch, touch_x, touch_y;

static FUNCTION void convert_xyz_to_roll_pitch(int x, int y, int z)
{
	roll = 64 * y / (1 + square_root((unsigned)(x * x + z * z)));
	pitch = 64 * x / (1 + square_root((unsigned)(y * y + z * z)));
}

static FUNCTION int median(int a, int b, int c)
{
	if (a > b)
		return median(b, a, c);
	return b <= c ? b : a > c ? a : c;
}

/* Sound */
static volatile unsigned step = 300, volume = 5;
static int16_t sound[64];
static uint16_t phase;

static FUNCTION int16_t Sound_Generate_Next_Sample(void)
{
	int wave;

	phase = (uint16_t)(phase + step);
	wave = phase < 0x8000 ? phase - 0x4000 : 0xc000 - phase;
	return (int16_t)(wave * (int)volume / 16);
}

static volatile unsigned lights;

static FUNCTION void set_light(unsigned number, int on)
{
	lights = on ? lights | 1u << number : lights & ~(1u << number);
}

static FUNCTION int same(const char *left_text, const char *right_text)
{
	while (*left_text && *left_text == *right_text) {
		left_text++;
		right_text++;
	}
	return *left_text == *right_text;
}

static FUNCTION void do_command(const char *line)
{
	if (same(line, "red"))
		set_light(0, 1);
	else if (same(line, "dark"))
		set_light(0, 0);
	else if (same(line, "loud"))
		volume = 12;
	else if (same(line, "quiet"))
		volume = 3;
}

static FUNCTION void command_task(void)
{
	static const char script[] = "red\nloud\ndark\nhelp\nquiet\n";
	char line[8];
	unsigned used = 0;

	for (unsigned at = 0;; at = script[at + 1] ? at + 1 : 0) {
		sleep_until(ticks + 1);
		if (script[at] == '\n') {
			line[used] = 0;
			do_command(line);
			used = 0;
		} else {
			line[used++] = script[at];
		}
	}
}

static FUNCTION void light_task(void)
{
	for (unsigned i = 0;; i++) {
		set_light(1 + i % 2, i & 2);
		sleep_until(ticks + 20);
	}
}

static FUNCTION void browse_task(void)
{
	for (;;) {
		selected = (selected + 1) % 3;
		sleep_until(ticks + 15);
	}
}

static FUNCTION void file_task(void)
{
	uint8_t sum = 0;

	for (;;) {
		for (uint8_t i = 0; i < 8; i++) {
			uint8_t byte = (uint8_t)(records * 5 + i);

			if (file_append(0, byte))
				sum = (uint8_t)(sum + byte);
		}
		file_errors += file_check(0) != sum;
		records++;
		sleep_until(ticks + 5);
	}
}

static FUNCTION void touch_task(void)
{
	for (;;) {
		touch_x = median(read_axis(8), read_axis(8), read_axis(8));
		touch_y = median(read_axis(9), read_axis(9), read_axis(9));
		sleep_until(ticks + 3);
	}
}

static FUNCTION void accelerometer_task(void)
{
	for (;;) {
		int x = read_axis(0), y = read_axis(1), z = read_axis(2);

		convert_xyz_to_roll_pitch(x, y, z);
		sleep_until(ticks + 2);
	}
}

static FUNCTION void sound_task(void)
{
	static const uint16_t notes[] = {300, 337, 378, 401, 450};

	for (unsigned i = 0;; i++) {
		step = notes[i % 5];
		sleep_until(ticks + 30);
	}
}

static FUNCTION void refill_task(void)
{
	for (unsigned refills = 0;; yield()) {
		if (refills == refills_asked)
			continue;
		for (unsigned i = 0; i < 32; i++)
			sound[32 * (refills & 1) + i] = Sound_Generate_Next_Sample();
		refills++;
	}
}

static FUNCTION void display_task(void)
{
	char text[] = "roll 0000 0000";

	for (unsigned frame = 0; frame < FRAMES; frame++) {
		print_number(text + 5, (unsigned)roll & 255);
		print_number(text + 10, (unsigned)pitch & 255);
		LCD_Text_PrintStr(0, text);
		LCD_Text_PrintStr(1, directory[selected].name);
		sleep_until(ticks + 2);
	}
	board_stop_ticks();
	for (const char *out = file_errors || !records ? "wrong\n" : "right\n"; *out; out++)
		board_putc(*out);
	exit(0);
}

int main(void)
{
	static void (*const tasks[TASKS])(void) = {display_task,       command_task, light_task,
						   browse_task,        file_task,    touch_task,
						   accelerometer_task, sound_task,   refill_task};

	for (unsigned i = 1; i < TASKS; i++) {
		uint32_t *top = stacks[i] + STACK_WORDS - 16;

		top[14] = (uint32_t)(uintptr_t)tasks[i] & ~1u;
		top[15] = 1u << 24;
		saved[i] = top;
	}
	REGISTER(0xe000ed20) = 0x00ff0000; /* SHPR3: PendSV is lowest */
	REGISTER(0xe000e100) = 1;
	board_start_ticks(TICK);
	__asm__ volatile("msr psp, %0\n"
			 "movs r0, #2\n"
			 "msr control, r0\n"
			 "isb\n" ::"r"(stacks[0] + STACK_WORDS)
			 : "r0", "memory");
	tasks[0]();
	return 0;
}
