/* What can be asked of the node by radio, and its report, which goes to the base by the tree. */
#include "system.h"

#define PARAMETERS 4
#define REPORT_TICKS 230
#define REPORT_BYTES 10

enum command {
	COMMAND_SET = 1, /* parameter, value */
	COMMAND_GET,     /* parameter */
	COMMAND_COUNTS,
	COMMAND_RECORD, /* how many before the newest one */
	COMMAND_CLEAR
};

static uint8_t parameters[PARAMETERS] = {25, 1, 0, 0};
static uint8_t asked, asked_value;
static unsigned commands, unknown, answers;

static void put16(uint8_t *bytes, unsigned value)
{
	bytes[0] = (uint8_t)(value >> 8);
	bytes[1] = (uint8_t)value;
}

static void answer(const uint8_t *bytes, unsigned count)
{
	if (route_send(node_address(), bytes, count, 0) == SUCCESS)
		answers++;
}

static void set(unsigned number, uint8_t value)
{
	if (number >= PARAMETERS)
		return;
	parameters[number] = value;
	if (number == 0 && value >= 8)
		sensors_period(value);
}

static void answer_counts(void)
{
	const struct mac_counts *mac = mac_counts();
	uint8_t bytes[REPORT_BYTES] = {COMMAND_COUNTS};

	put16(bytes + 1, mac->sent);
	put16(bytes + 3, mac->heard);
	put16(bytes + 5, mac->damaged);
	put16(bytes + 7, mac->backoffs);
	bytes[9] = (uint8_t)mac->given_up;
	answer(bytes, sizeof(bytes));
}

static void answer_record(unsigned back)
{
	struct record record;
	uint8_t bytes[REPORT_BYTES] = {COMMAND_RECORD};

	if (!store_read(back, &record))
		return;
	put16(bytes + 1, record.number);
	bytes[3] = record.kind;
	for (unsigned i = 0; i < record.length && i < sizeof(bytes) - 4; i++)
		bytes[4 + i] = record.bytes[i];
	answer(bytes, sizeof(bytes));
}

static void command_task(void)
{
	uint8_t bytes[3] = {asked, parameters[asked_value % PARAMETERS], asked_value};

	switch (asked) {
	case COMMAND_SET:
		set(asked_value >> 6, asked_value & 63);
		break;
	case COMMAND_GET:
		answer(bytes, sizeof(bytes));
		break;
	case COMMAND_COUNTS:
		answer_counts();
		break;
	case COMMAND_RECORD:
		answer_record(asked_value & 3);
		break;
	case COMMAND_CLEAR:
		parameters[2] = parameters[3] = 0;
		break;
	default:
		unknown++;
	}
}

/* Interrupt: the command waits in two bytes. */
void shell_heard_command(const struct frame *frame)
{
	if (frame->length < 3)
		return;
	commands++;
	asked = frame->bytes[0];
	asked_value = (uint8_t)(frame->bytes[1] << 6 | (frame->bytes[2] & 63));
	post_later(command_task);
}

static void report_task(void)
{
	const struct route_counts *route = route_counts();
	uint8_t bytes[REPORT_BYTES] = {0};

	put16(bytes + 1, sensor_value(SENSOR_LIGHT));
	put16(bytes + 3, sensor_value(SENSOR_WARMTH));
	bytes[5] = (uint8_t)(energy_share(PART_RADIO) / 10u);
	bytes[6] = (uint8_t)(tasks_most() << 4 | (tasks_refused() & 15));
	bytes[7] = (uint8_t)(route->forwarded + route->dropped + route->arrived);
	bytes[8] = (uint8_t)(sensor_alarms() << 4 | (store_lost() & 15));
	bytes[9] = (uint8_t)(store_count() + store_erased() + timers_late());
	store_add(RECORD_REPORT, bytes, sizeof(bytes));
	answer(bytes, sizeof(bytes));
}

static void report_due(void)
{
	post_later(report_task);
}

void shell_init(void)
{
	timer_start(report_due, 110 + node_random(20), REPORT_TICKS);
}
