// A server and its clients in one process: threads, exceptions across the border
// between program and library, regular expressions.
#include <httplib.h>

#include <iostream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace
{

struct Refused : std::runtime_error {
	using std::runtime_error::runtime_error;
};

void answer(const httplib::Request &request, httplib::Response &response)
{
	int number = std::stoi(request.matches[1].str()); // throws when too large
	if (number % 3 == 0)
		throw Refused("number " + std::to_string(number));
	response.set_content(std::to_string(number * 2), "text/plain");
}

void explain(const httplib::Request &, httplib::Response &response, std::exception_ptr error)
{
	try {
		std::rethrow_exception(error);
	} catch (const Refused &refused) {
		response.status = 403;
		response.set_content(refused.what(), "text/plain");
	} catch (const std::out_of_range &) {
		response.status = 400;
		response.set_content("too large", "text/plain");
	}
}

} // namespace

int main()
{
	httplib::Server server;
	server.new_task_queue = [] { return new httplib::ThreadPool(3); };
	server.Get(R"(/double/(\d+))", answer);
	server.set_exception_handler(explain);
	int port = server.bind_to_any_port("127.0.0.1");
	std::thread serving([&] { server.listen_after_bind(); });
	while (!server.is_running())
		std::this_thread::yield();

	std::vector<std::string> said(4);
	std::vector<std::thread> clients;
	for (unsigned i = 0; i < said.size(); i++)
		clients.emplace_back([&, i] {
			httplib::Client client("127.0.0.1", port);
			for (unsigned n = i; n < 12; n += 4) {
				auto result = client.Get("/double/" + std::to_string(n));
				said[i] += result ? std::to_string(result->status) + " " + result->body + "\n"
						  : "no answer\n";
			}
			auto result = client.Get("/double/99999999999999");
			said[i] += result ? result->body + "\n" : "no answer\n";
		});
	for (auto &client : clients)
		client.join();
	server.stop();
	serving.join();
	for (const auto &text : said)
		std::cout << text;
	std::cout << "finished\n";
}
