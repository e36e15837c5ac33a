#include "tests/unit/frame_sender.h"

void frame_sender_number(struct frame_sender *sender, uint32_t value)
{
	for (; value >= 0x80; value >>= 7)
		sender->frame[sender->frame_used++] = (uint8_t)(value | 0x80);
	sender->frame[sender->frame_used++] = (uint8_t)value;
}

void frame_sender_begin(struct frame_sender *sender, uint8_t type)
{
	sender->frame[0] = type;
	sender->frame[1] = sender->sequence++;
	sender->frame_used = 2;
}

void frame_sender_end(struct frame_sender *sender)
{
	uint32_t crc = 0xffff;
	size_t at = 0;

	for (size_t i = 0; i < sender->frame_used; i++) {
		crc ^= (uint32_t)sender->frame[i] << 8;
		for (int bit = 0; bit < 8; bit++)
			crc = crc & 0x8000 ? crc << 1 ^ 0x1021 : crc << 1;
	}
	sender->frame[sender->frame_used++] = (uint8_t)crc;
	sender->frame[sender->frame_used++] = (uint8_t)(crc >> 8);
	do {
		size_t last = at;

		while (last < sender->frame_used && sender->frame[last])
			last++;
		sender->line[sender->used++] = (uint8_t)(last - at + 1);
		while (at < last)
			sender->line[sender->used++] = sender->frame[at++];
	} while (at++ < sender->frame_used);
	sender->line[sender->used++] = 0;
}
