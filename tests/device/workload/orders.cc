// Orders for shapes, worked off by child processes with two threads each: the
// first program on the library, in C++, with exceptions. What it prints
// depends on its argument only.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "shapes.h"

namespace
{
struct Order {
	virtual ~Order() = default;
	virtual int price(int area) const = 0;
};

struct Cheap : Order {
	int price(int area) const override { return area * 2; }
};

struct Fine : Order {
	int price(int area) const override
	{
		if (area > 9000)
			throw std::out_of_range("too large: " + std::to_string(area));
		return area * 5 + 1;
	}
};

struct Book {
	std::map<int, int> prices;
	std::vector<std::string> refused;
	std::unique_ptr<Order> order;

	explicit Book(bool fine)
	{
		if (fine)
			order = std::make_unique<Fine>();
		else
			order = std::make_unique<Cheap>();
	}
};

int enter(int area, void *data)
{
	auto *book = static_cast<Book *>(data);
	try {
		book->prices[area % 16] += book->order->price(area);
	} catch (const std::out_of_range &error) {
		book->refused.push_back(error.what());
	}
	return 1;
}

int work(int number, int amount)
{
	Book cheap(false), fine(true);
	std::thread other(
		[&] { shape_visit(static_cast<unsigned>(number), amount, enter, &cheap); });
	shape_visit(static_cast<unsigned>(number) + 7, amount, enter, &fine);
	other.join();
	int sum = 0;
	for (const Book *book : {&cheap, &fine})
		for (const auto &entry : book->prices)
			sum += entry.second + entry.first;
	return sum % 200 + static_cast<int>(fine.refused.size() % 50);
}
} // namespace

int main(int argc, char **argv)
{
	int amount = argc > 1 ? std::atoi(argv[1]) : 100;

	for (int number = 0; number < 2; number++) {
		pid_t child = fork();
		int status = 0;

		if (child < 0)
			return 1;
		if (child == 0)
			exit(work(number, amount));
		if (waitpid(child, &status, 0) != child)
			return 1;
		std::printf("order %d: %d\n", number,
			    WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
		std::fflush(stdout);
	}
	std::printf("own work: %d\n", work(3, amount));
	return 0;
}
