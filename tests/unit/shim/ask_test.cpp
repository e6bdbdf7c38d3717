#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <thread>

#include "common/model/json.hpp"
#include "common/posix/fd.hpp"
#include "tests/catch.hpp"
#include "tests/unit/shim/shim_fixture.hpp"

/// The hook with which a program asks, as a real process at a socket that answers as the test wants.
using namespace orange;
using namespace orange::test;

namespace {

struct HookFixture : ShimFixture {
    /// Runs the hook. `reply`: what the daemon sends before it closes the connection; "" is nothing.
    Completed ask(const std::string& request, const std::string& reply) {
        const auto path = (dir / "s").string();
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
        ::unlink(path.c_str());
        UniqueFd listener(::socket(AF_UNIX, SOCK_STREAM, 0));
        REQUIRE(::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
        REQUIRE(::listen(listener.get(), 1) == 0);
        std::thread daemon([&] {
            const UniqueFd fd(::accept(listener.get(), nullptr, nullptr));
            char buffer[4096];
            call.clear();
            while (fd && call.find('\n') == std::string::npos) {
                const auto got = ::read(fd.get(), buffer, sizeof buffer);
                if (got <= 0) return;
                call.append(buffer, static_cast<std::size_t>(got));
            }
            if (fd && !reply.empty()) (void)!::write(fd.get(), reply.data(), reply.size());
        });
        auto done = hook(request, path);
        ::shutdown(listener.get(), SHUT_RDWR);  // the hook may not have called
        daemon.join();
        return done;
    }
    Completed hook(const std::string& request, const std::string& socket) {
        Command hook;
        hook.argv = {ORANGE_BINARY_DIR "/bin/orange-agent", "--ask", (dir / "events").string()};
        hook.env = {{"ORANGE_SOCKET", socket}, {"PATH", tests::tools()}};
        hook.input = request;
        auto done = run(io, runner.run(std::move(hook)));
        REQUIRE(done);
        CHECK(done->exit_status == 0);
        CHECK(done->err.empty());
        return *done;
    }
    std::string events() { return std::filesystem::exists(dir / "events") ? read_file(dir / "events") : ""; }

    std::string call;
};

std::string answer_of(const std::string& text) {
    return Json{{"jsonrpc", "2.0"}, {"id", 1}, {"result", {{"answer", text}}}}.dump() + "\n";
}

constexpr const char* k_request =
    R"({"hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"command":"ls"}})";

}  // namespace

TEST_CASE_METHOD(HookFixture, "A hook prints the answer, and its event has the id of its call") {
    const auto done = ask(k_request, answer_of(R"({"ok":true})"));
    CHECK(done.out == "{\"ok\":true}\n");
    const auto params = Json::parse(call).at("params");
    CHECK(Json::parse(call).at("method") == "permit.ask");
    CHECK(Json::parse(params.at("request").get<std::string>()).at("tool_input").at("command") == "ls");
    CHECK_FALSE(params.value("cut", false));
    CHECK(Json::parse(events()).at("ask") == params.at("key"));
    CHECK(Json::parse(events()).at("tool_input") == "ls");
}

TEST_CASE_METHOD(HookFixture, "Whatever goes wrong, a hook prints nothing and succeeds") {
    CHECK(ask(k_request, "").out.empty());
    CHECK(ask(k_request, R"({"jsonrpc":"2.0","id":1,"error":{"code":-32007,"message":"no"}})"
                         "\n")
              .out.empty());
    CHECK(ask(k_request, answer_of("")).out.empty());
    CHECK(ask(k_request, R"({"jsonrpc":"2.0","id":1,"result":{"answer":"{\"ok\")").out.empty());  // half a line
    CHECK(ask(k_request, "no JSON\n").out.empty());
    CHECK(ask(k_request, R"({"result":true})"
                         "\n")
              .out.empty());
    CHECK(hook(k_request, (dir / "nobody").string()).out.empty());
    CHECK(hook(k_request, "").out.empty());
    CHECK(hook(k_request, "/" + std::string(300, 'x')).out.empty());
    const auto before = events();
    CHECK(hook("", (dir / "nobody").string()).out.empty());
    CHECK(hook("\xff\xfe", (dir / "nobody").string()).out.empty());
    CHECK(hook("[1]", (dir / "nobody").string()).out.empty());
    CHECK(events() == before);  // what is no request is no event
}

TEST_CASE_METHOD(HookFixture, "A request that is too large is cut, and says so") {
    const auto request = [](std::size_t size) {
        return Json{{"tool_name", "Write"}, {"tool_input", {{"file_path", "/x"}, {"content", std::string(size, 'x')}}}}
            .dump();
    };
    const auto room = 64 * 1024 - request(0).size();
    ask(request(room), answer_of("yes"));
    CHECK_FALSE(Json::parse(call).at("params").value("cut", false));
    for (const auto size : {room + 1, std::size_t{10'000'000}}) {
        ask(request(size), answer_of("yes"));
        const auto params = Json::parse(call).at("params");
        CHECK(params.at("cut") == true);
        CHECK(params.at("request").get<std::string>().size() <= 64 * 1024);
        CHECK_THAT(params.at("request").get<std::string>(), Holds("/x"));
    }
    CHECK(events().size() < 4000);
}
