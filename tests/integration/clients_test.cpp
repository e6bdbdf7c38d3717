#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>

#include "common/config/socket_address.hpp"
#include "tests/catch.hpp"
#include "tests/integration/sandbox.hpp"

/// Clients in numbers, and clients that are slow, endless or gone: the others notice nothing.
namespace orange::tests {
namespace {

namespace fs = std::filesystem;

/// A raw connection.
class Wire {
  public:
    explicit Wire(const fs::path& socket) : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        auto address = SocketAddress::in_folder(socket);
        if (!address || ::connect(fd_, address->get(), address->size()) != 0) throw std::runtime_error("no connection");
    }
    ~Wire() {
        if (fd_ >= 0) ::close(fd_);
    }
    Wire(Wire&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Wire(const Wire&) = delete;
    Wire& operator=(const Wire&) = delete;
    Wire& operator=(Wire&&) = delete;

    /// How much was taken.
    std::size_t send(std::string_view bytes) const {
        std::size_t sent = 0;
        while (sent < bytes.size()) {
            const auto n = ::send(fd_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
            if (n <= 0) break;
            sent += static_cast<std::size_t>(n);
        }
        return sent;
    }
    /// Up to the first line's end, or what came before the other end closed.
    std::string line() const {
        std::string text;
        char byte = 0;
        while (::read(fd_, &byte, 1) == 1 && byte != '\n') text += byte;
        return text;
    }

  private:
    int fd_;
};

std::size_t descriptors_of(pid_t pid) {
    const fs::directory_iterator all("/proc/" + std::to_string(pid) + "/fd");
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

void allow_descriptors(rlim_t count) {
    rlimit limit{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &limit) == 0);
    REQUIRE(limit.rlim_max >= count);
    limit.rlim_cur = std::max(limit.rlim_cur, count);
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &limit) == 0);
}

const std::string k_ping = R"({"jsonrpc":"2.0","id":1,"method":"daemon.ping"})";

}  // namespace

TEST_CASE("Thousands of clients that only sit there cost little, keep nobody out, and leave nothing") {
    constexpr std::size_t k_clients = 3000;
    allow_descriptors(k_clients + 200);
    Sandbox orange("poll_interval: 3600\n");
    orange.add_project("shop");
    const auto id = orange.create("shop", "first", true);
    const auto before = orange.call(rpc::DaemonStatus{});
    const auto descriptors = descriptors_of(orange.daemon_pid());
    {
        std::vector<Wire> sitting;
        for (std::size_t n = 0; n < k_clients; ++n) {
            sitting.emplace_back(orange.home() / "orange.sock");
            if (n % 2 == 0) sitting.back().send(std::string_view(k_ping).substr(0, n % k_ping.size()));
        }
        const auto all = before.connections + static_cast<std::int64_t>(k_clients);
        orange.eventually("all are connected", [&] { return orange.call(rpc::DaemonStatus{}).connections >= all; });
        const auto during = orange.call(rpc::DaemonStatus{});
        CHECK(during.memory_kib - before.memory_kib < static_cast<std::int64_t>(k_clients) * 24);
        for (int n = 0; n < 20; ++n) CHECK(orange.status(id) == "pending");
        CHECK(orange.orange({"task", "list"}).status == 0);
        CHECK(sitting.back().send(k_ping + "\n") > 0);
        CHECK(Json::parse(sitting.back().line()).at("result").at("pid") == orange.daemon_pid());
    }
    orange.eventually("all are forgotten",
                      [&] { return orange.call(rpc::DaemonStatus{}).connections <= before.connections; });
    orange.eventually("no descriptor is left", [&] { return descriptors_of(orange.daemon_pid()) <= descriptors; });
}

TEST_CASE("A request that comes a byte at a time is answered, and keeps nobody waiting") {
    Sandbox orange("poll_interval: 3600\n");
    const Wire slow(orange.home() / "orange.sock");
    for (const char byte : k_ping) {
        REQUIRE(slow.send({&byte, 1}) == 1);
        CHECK(orange.call(rpc::DaemonPing{}).pid == orange.daemon_pid());
    }
    slow.send("\n");
    CHECK(Json::parse(slow.line()).at("id") == 1);
}

TEST_CASE("What a program reads of a list is whole, a terminal's rows are cut") {
    Sandbox orange("poll_interval: 3600\n");
    orange.add_project("shop");
    const std::string summary = "Round the total of every invoice to full cents, half up, and say so in the footer";
    orange.create("shop", summary, true);
    const auto command = program("orange").string() + " task list";
    CHECK_THAT(orange.run({"env", "-u", "COLUMNS", "sh", "-c", command}), Holds(summary));
    CHECK_THAT(orange.run({"env", "COLUMNS=80", "sh", "-c", command}), !Holds(summary) && Holds("Round the"));
    CHECK_THAT(orange.on_terminal(command, orange.root(), {}).out, !Holds(summary) && Holds("Round the"));
}

TEST_CASE("A line without end costs the daemon no more than its limit, and is told so") {
    Sandbox orange("poll_interval: 3600\n");
    const auto before = orange.call(rpc::DaemonStatus{}).memory_kib;
    const Wire endless(orange.home() / "orange.sock");
    const std::string part(1 << 20, 'x');
    std::size_t sent = 0;
    for (int n = 0; n < 100; ++n) {
        const auto now = endless.send(part);
        sent += now;
        if (now < part.size()) break;
    }
    CHECK(sent < std::size_t{8} << 20);
    const auto reply = endless.line();
    // It may have been closed under what was still coming, which takes the reply with it.
    if (!reply.empty()) CHECK(Json::parse(reply).at("error").at("code") == -32600);
    CHECK(orange.call(rpc::DaemonStatus{}).memory_kib - before < 32 << 10);
}

TEST_CASE("A client that goes anywhere in its request has done it once, or not at all") {
    Sandbox orange("poll_interval: 3600\n");
    orange.add_project("shop");
    const auto id = orange.create("shop", "old", true);
    const std::string request =
        R"({"jsonrpc":"2.0","id":1,"method":"task.update","params":{"id":")" + id + R"(","summary":"new"}})" + "\n";
    for (std::size_t n = 0; n < request.size(); ++n) Wire(orange.home() / "orange.sock").send(request.substr(0, n));
    orange.eventually("they are forgotten", [&] { return orange.call(rpc::DaemonStatus{}).connections <= 1; });
    CHECK(orange.fields(id).at("summary") == "old");
    CHECK(orange.history(id, "summary.changed").empty());
    // With its last byte it is whole, and is carried out, whoever waits for the answer.
    Wire(orange.home() / "orange.sock").send(request);
    orange.eventually("it is done", [&] { return orange.fields(id).at("summary") == "new"; });
    CHECK(orange.history(id, "summary.changed").size() == 1);
}

}  // namespace orange::tests
