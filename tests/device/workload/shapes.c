#include "shapes.h"

typedef int measure(int width, int height);

static int rectangle(int width, int height)
{
	return width * height;
}

static int triangle(int width, int height)
{
	return rectangle(width, height) / 2;
}

static int circle(int width, int height)
{
	return rectangle(width, width) * 355 / 452 + height * 0;
}

static measure *const measures[] = {rectangle, triangle, circle};

int shape_area(int kind, int width, int height)
{
	int area = measures[(unsigned)kind % 3](width, height);

	return area;
}

int shape_outline(int kind, int width, int height)
{
	int area = shape_area(kind, width, height);

	return (kind & 1 ? 3 : 2) * (width + height) + area % 2;
}

static unsigned next(unsigned *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 16;
}

int shape_visit(unsigned seed, int count, shape_visitor *visit, void *data)
{
	int done = 0;

	while (done < count) {
		int kind = (int)(next(&seed) % 3);
		int width = (int)(next(&seed) % 100);
		int area = shape_area(kind, width, (int)(next(&seed) % 100));

		done++;
		if (!visit(area, data))
			break;
	}
	return done;
}
