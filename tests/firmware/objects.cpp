// C++ as firmware has it: constructors before main(), virtual functions, templates, and with THROWS
// exceptions. In place of main.c of examples/firmware.
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

extern "C" {
extern void *const __dso_handle;
void *const __dso_handle = nullptr; // which start-up files of GCC have
void SysTick_Handler(void)
{
}
}

struct shape {
	virtual ~shape()
	{
	}
	virtual int area() const = 0;
};

struct square : shape {
	int side;
	explicit square(int side) : side(side)
	{
	}
	int area() const override
	{
		return side * side;
	}
};

struct box : shape {
	int width, height;
	box(int width, int height) : width(width), height(height)
	{
	}
	int area() const override
	{
		return width * height;
	}
};

static struct first {
	first()
	{
		std::puts("constructed");
	}
} object;

#ifdef THROWS
static int __attribute__((noinline)) fail(int depth)
{
	if (!depth)
		throw 42;
	return fail(depth - 1) + 1;
}

static int __attribute__((noinline)) attempt(int depth)
{
	try {
		return fail(depth);
	} catch (int number) {
		return number;
	}
}
#else
static int attempt(int depth)
{
	return depth;
}
#endif

int main()
{
	std::vector<std::unique_ptr<shape>> shapes;
	std::map<std::string, int> names;
	int sum = 0;

	for (int i = 0; i < 40; i++) {
		if (i % 2)
			shapes.emplace_back(new square(i));
		else
			shapes.emplace_back(new box(i, i + 1));
		names[std::to_string(i * 7 % 11)] += i;
	}
	std::sort(shapes.begin(), shapes.end(),
		  [](const auto &left, const auto &right) { return left->area() > right->area(); });
	for (auto &each : shapes)
		sum += each->area();
	for (int i = 3; i < 8; i++)
		sum += attempt(i);
	std::printf("sum %d, %s %d\n", sum, names.begin()->first.c_str(), names.begin()->second);
	return 0;
}
