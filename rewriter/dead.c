#include "rewriter/dead.h"

/* So many instructions on all ways together. */
#define STEPS 600

uint32_t litifut_dead_lose(struct litifut_dead *dead, uint32_t open)
{
	dead->alive |= open;
	return 0;
}

uint32_t litifut_dead_use(struct litifut_dead *dead, uint32_t open, uint32_t reads, uint32_t writes)
{
	dead->alive |= open & reads;
	dead->written |= open & writes;
	return open & ~(reads | writes);
}

void litifut_dead_add(struct litifut_dead *dead, uint32_t address, uint32_t open)
{
	for (unsigned i = 0; i < dead->count; i++)
		if (dead->ways[i].address == address) {
			if (open & ~dead->ways[i].open) {
				dead->ways[i].open |= open;
				dead->todo[i] = true;
			}
			return;
		}
	if (dead->count == LITIFUT_DEAD_WAYS) {
		litifut_dead_lose(dead, open);
		return;
	}
	dead->ways[dead->count] = (struct litifut_dead_place){address, open, 0};
	dead->todo[dead->count++] = true;
}

static void follow(struct litifut_dead *dead, struct litifut_dead_place place)
{
	while (place.open & ~dead->alive)
		if (dead->steps++ >= STEPS || !dead->step(dead, &place))
			place.open = litifut_dead_lose(dead, place.open);
}

uint32_t litifut_dead_find(struct litifut_dead *dead, uint32_t address, uint32_t most,
			   uint32_t link)
{
	uint32_t found;

	litifut_dead_add(dead, address, most);
	for (bool again = true; again && dead->alive != most;) {
		again = false;
		for (unsigned i = 0; i < dead->count; i++)
			if (dead->todo[i]) {
				dead->todo[i] = false;
				again = true;
				follow(dead, dead->ways[i]);
			}
	}
	found = most & ~dead->alive;
	return dead->written & link ? found : found & ~link;
}
