#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "common/posix/fd.hpp"
#include "common/rpc/project_methods.hpp"
#include "tests/catch.hpp"
#include "tests/integration/sandbox.hpp"

/// The setting `network` with the real bubblewrap and the real squid: agents, and the project's commands behind their
/// wall, reach the places of a list, and nothing else.
namespace orange::tests {
namespace {

namespace fs = std::filesystem;

/// A server of HTTP on the loopback that has nothing, and knows what it was asked for.
class AskedServer {
  public:
    AskedServer() {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        auto* generic = reinterpret_cast<sockaddr*>(&address);
        REQUIRE(::bind(listener_.get(), generic, size) == 0);
        REQUIRE(::listen(listener_.get(), 64) == 0);
        REQUIRE(::getsockname(listener_.get(), generic, &size) == 0);
        port = std::to_string(ntohs(address.sin_port));
        // squid takes the last address that /etc/hosts has for localhost, which may be this one.
        sockaddr_in6 six{};
        six.sin6_family = AF_INET6;
        six.sin6_port = address.sin_port;
        six.sin6_addr = in6addr_loopback;
        (void)::bind(listener_of_six_.get(), reinterpret_cast<sockaddr*>(&six), sizeof six);
        (void)::listen(listener_of_six_.get(), 64);
        for (const int listener : {listener_.get(), listener_of_six_.get()}) {
            servers_.emplace_back([this, listener] { serve(listener); });
        }
    }
    ~AskedServer() {
        for (const int listener : {listener_.get(), listener_of_six_.get()}) ::shutdown(listener, SHUT_RDWR);
        for (auto& each : servers_) each.join();
    }
    AskedServer(const AskedServer&) = delete;

    bool was_asked_for(const std::string& path) {
        const std::lock_guard lock(mutex_);
        return std::ranges::any_of(asked_,
                                   [&](const std::string& line) { return line.find(path) != std::string::npos; });
    }
    bool was_asked() {
        const std::lock_guard lock(mutex_);
        return !asked_.empty();
    }

    std::string port;

  private:
    void serve(int listener) {
        for (;;) {
            const UniqueFd client(::accept(listener, nullptr, nullptr));
            if (!client) return;
            std::string head;
            char piece[4096];
            while (head.find("\r\n\r\n") == std::string::npos) {
                const auto got = ::read(client.get(), piece, sizeof piece);
                if (got <= 0) break;
                head.append(piece, static_cast<std::size_t>(got));
            }
            {
                const std::lock_guard lock(mutex_);
                asked_.push_back(head.substr(0, head.find("\r\n")));
            }
            const std::string answer = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
            (void)!::write(client.get(), answer.data(), answer.size());
        }
    }

    UniqueFd listener_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    UniqueFd listener_of_six_{::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    std::mutex mutex_;
    std::vector<std::string> asked_;
    std::vector<std::thread> servers_;
};

/// Asks for one path in each of several ways. localhost is no name for a proxy, unless NO_PROXY is missing.
constexpr const char* k_caller = R"sh(#!/bin/sh
ask() { timeout 20 git ls-remote "$1" >>asked.log 2>&1; }
unset no_proxy NO_PROXY
ask "http://localhost:$PORT/listed"
ask "http://127.0.0.1:$PORT/literal"
ask "http://localhost:$OTHER/other"
ask "http://0x7f.1:$OTHER/spelled"
for name in http_proxy https_proxy HTTP_PROXY HTTPS_PROXY all_proxy ALL_PROXY; do unset "$name"; done
ask "http://localhost:$PORT/direct"
ask "http://127.0.0.1:$PORT/direct"
orange task show >/dev/null && echo called >>asked.log
printf '%s\n' asked.log asked >>.gitignore
: >asked
sleep 600
)sh";

void set_network(Sandbox& orange, const Json& network) {
    rpc::ProjectUpdate update;
    update.name = "shop";
    update.settings["network"] = network;
    orange.call(update);
}

rpc::TaskCreate call_for(const std::string& summary, const std::string& harness, const std::string& executor) {
    rpc::TaskCreate create;
    create.project = "shop";
    create.summary = summary;
    create.harness = harness;
    create.review_harness = "demo";
    create.executor = executor;
    return create;
}

void define_caller(Sandbox& orange, const AskedServer& listed, const AskedServer& other) {
    fs::create_directories(orange.home() / "harnesses");
    write_file(orange.home() / "harnesses/caller.yml",
               "name: caller\nprogram: ./caller\nargv: {full: [--, \"{prompt}\"]}\nenv: {PORT: '" + listed.port +
                   "', OTHER: '" + other.port + "', HTTPS_PROXY: http://127.0.0.1:9}\n");
    write_file(orange.home() / "harnesses/caller", k_caller);
    fs::permissions(orange.home() / "harnesses/caller", fs::perms::owner_all);
}

}  // namespace

TEST_CASE("An agent in bwrap reaches the places of its project's list, and nothing else", "[user-namespaces]") {
    AskedServer listed, other;
    Sandbox orange;
    orange.add_project("shop", 4);
    define_caller(orange, listed, other);
    const auto ask = [&] {
        const auto id = orange.call(call_for("Ask", "caller", "bwrap")).task.fields.id.value;
        orange.eventually("it has asked", [&] { return fs::exists(orange.worktree(id) / "asked"); });
        CHECK_THAT(read_file(orange.worktree(id) / "asked.log"), Holds("called"));
        return id;
    };
    SECTION("a list, with the address that its name resolves to") {
        set_network(orange, {"localhost:" + listed.port, "127.0.0.1:" + listed.port, "[::1]:9"});
        const auto id = ask();
        CHECK(listed.was_asked_for("/listed"));
        CHECK(listed.was_asked_for("/literal"));
        CHECK_FALSE(listed.was_asked_for("/direct"));
        CHECK_FALSE(other.was_asked());
        CHECK_THAT(read_file(orange.folder(id) / "network.log"), Holds("localhost:" + other.port));
        const auto shown = orange.orange({"task", "show", id}, orange.root()).out;
        CHECK_THAT(shown, Holds("localhost:" + listed.port));
    }
    SECTION("a list, without it: a name that resolves to this machine is refused") {
        set_network(orange, "localhost:" + listed.port);
        const auto id = ask();
        CHECK_FALSE(listed.was_asked());
        CHECK_FALSE(other.was_asked());
        CHECK_THAT(read_file(orange.folder(id) / "network.log"), Holds("localhost:" + listed.port));
    }
    SECTION("none") {
        set_network(orange, "none");
        ask();
        CHECK_FALSE(listed.was_asked());
        CHECK_FALSE(other.was_asked());
    }
    SECTION("full: the attempts are real ones") {
        ask();
        CHECK(listed.was_asked_for("/direct"));
        CHECK(other.was_asked_for("/spelled"));
    }
}

TEST_CASE("A whole life and the project's checks behind a list reach its places only", "[user-namespaces]") {
    AskedServer listed, other;
    Sandbox orange;
    orange.add_project("shop");
    rpc::ProjectUpdate update;
    update.name = "shop";
    update.settings["checks"] = Json::array({{"sh", "-c",
                                              "unset no_proxy NO_PROXY; git ls-remote http://localhost:" + listed.port +
                                                  "/check; git ls-remote http://localhost:" + other.port +
                                                  "/check; env -u http_proxy -u all_proxy -u ALL_PROXY git ls-remote "
                                                  "http://localhost:" +
                                                  listed.port + "/direct; true"}});
    orange.call(update);
    set_network(orange, {"localhost:" + listed.port, "127.0.0.1", "[::1]"});
    const auto id = orange.call(call_for("Walled", "demo", "bwrap")).task.fields.id.value;
    orange.wait_for_status(id, "reviewing");
    CHECK(listed.was_asked_for("/check"));
    CHECK_FALSE(listed.was_asked_for("/direct"));
    CHECK_FALSE(other.was_asked());
    rpc::TaskMerge merge;
    merge.id = id;
    orange.call(merge);
    CHECK(orange.status(id) == "done");
    for (const auto& each : fs::directory_iterator(orange.home() / "r")) {
        INFO(each.path());
        CHECK_FALSE(each.path().filename().string().starts_with("proxy-"));
    }
}

TEST_CASE("A limited network is refused where nothing would enforce it, and nothing is tried there") {
    Sandbox orange;
    const auto repo = orange.add_project("shop");
    const auto refused = [&](const std::vector<std::string>& words) {
        const auto ran = orange.orange(words, repo);
        CHECK(ran.status != 0);
        return ran.err;
    };
    CHECK_THAT(refused({"project", "update", "shop", "--set", "network=http://example.org"}), Tells("example.org"));
    set_network(orange, "none");
    CHECK_THAT(refused({"task", "create", "Here", "--executor", "local"}), Tells("executor=bwrap"));
    rpc::TaskList list;
    list.all = true;
    CHECK(orange.call(list).tasks.empty());

    // The network of a project counts when an agent starts.
    set_network(orange, "full");
    const auto id = orange.create("shop", "Later", true);
    set_network(orange, "none");
    CHECK_THAT(refused({"task", "spawn", id}), Tells("executor=bwrap"));
    CHECK(orange.run_of(id, "worker").is_null());
}

TEST_CASE(
    "A task with an executor that cannot take the network away does not start, and is told of a definition that can") {
    Sandbox orange;
    const auto repo = orange.add_project("shop");
    fs::create_directories(orange.home() / "executors");
    const auto file = orange.home() / "executors/open.yml";
    write_file(file, "name: open\nrun: [env, \"{inner}\"]\n");
    auto create = call_for("Open", "demo", "open");
    create.no_spawn = true;
    const auto id = orange.call(create).task.fields.id.value;
    set_network(orange, "none");
    const auto refused = orange.orange({"task", "spawn", id}, repo);
    CHECK(refused.status != 0);
    CHECK_THAT(refused.err, Tells("executor=bwrap"));
    write_file(file, "name: open\nrun: [env, \"{network}\", \"{inner}\"]\nwithout_network: [A=1]\n");
    CHECK_THAT(orange.orange({"task", "respawn", id}, repo).err, Tells("orange task update --executor open"));
    CHECK(orange.run_of(id, "worker").is_null());
}

}  // namespace orange::tests
