#include "daemon/app/service.hpp"

#include <sys/socket.h>
#include <sys/un.h>

#include <cstdlib>
#include <cstring>

#include "common/posix/fd.hpp"
#include "daemon/process/environment.hpp"
#include "tests/catch.hpp"
#include "tests/support/os_fixture.hpp"

using namespace orange;
using namespace orange::test;

namespace {

const std::filesystem::path k_source = ORANGE_SOURCE_DIR;

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
        text.replace(at, from.size(), to);
    }
    return text;
}

bool has_line(const std::string& text, const std::string& line) {
    return ("\n" + text + "\n").find("\n" + line + "\n") != std::string::npos;
}

}  // namespace

TEST_CASE("a service manager that asked is told the state, by path or abstract name, and nobody else is") {
    TempDir dir;
    const UniqueFd manager(::socket(AF_UNIX, SOCK_DGRAM, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    auto name = (dir / "notify").string();
    const bool abstract = GENERATE(false, true);
    if (abstract) name = "@" + name;
    std::memcpy(address.sun_path, name.data(), name.size());
    if (abstract) address.sun_path[0] = '\0';
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    REQUIRE(::bind(manager.get(), reinterpret_cast<const sockaddr*>(&address), size) == 0);

    ::setenv("NOTIFY_SOCKET", name.c_str(), 1);
    CHECK(scrubbed_environment().count("NOTIFY_SOCKET") == 0);  // children cannot speak for the daemon
    tell_service_manager("READY=1");
    ::unsetenv("NOTIFY_SOCKET");
    tell_service_manager("nobody asked");
    ::setenv("NOTIFY_SOCKET", (dir / "gone").c_str(), 1);
    tell_service_manager("nobody listens");
    ::unsetenv("NOTIFY_SOCKET");

    char text[64];
    const auto length = ::recv(manager.get(), text, sizeof text, MSG_DONTWAIT);
    REQUIRE(length > 0);
    CHECK(std::string(text, static_cast<std::size_t>(length)) == "READY=1");
    CHECK(::recv(manager.get(), text, sizeof text, MSG_DONTWAIT) < 0);
}

TEST_CASE("the unit keeps agents alive, starts again after crashes only, and stays stopped when told to end") {
    const auto unit = read_file(k_source / "systemd/oranged.service");
    for (const char* line :
         {"[Unit]", "[Service]", "[Install]", "Type=notify", "ExecStart=/usr/local/bin/oranged", "KillMode=process",
          "Restart=on-failure", "RestartPreventExitStatus=75", "WantedBy=default.target", "StartLimitIntervalSec=60",
          // A person's restarts count: five within a minute must not be the last ones.
          "StartLimitBurst=30"}) {
        INFO(line);
        CHECK(has_line(unit, line));
    }
    // What CMake puts the installed path in place of: once, or it would miss one.
    CHECK(replaced(unit, "/usr/local/bin/oranged", "").size() + std::strlen("/usr/local/bin/oranged") == unit.size());
}

TEST_CASE("systemd finds nothing wrong with the unit, where systemd is installed") {
    const auto program = find_program("systemd-analyze", "/usr/bin:/bin:/usr/local/bin");
    if (program.empty()) {
        WARN("systemd-analyze is not installed: only the unit's text was looked at");
        return;
    }
    TempDir dir;
    const auto oranged = std::filesystem::path(ORANGE_BINARY_DIR) / "bin/oranged";
    REQUIRE(std::filesystem::exists(oranged));  // verify looks for it
    const auto verify = [&](const std::string& text) {
        write_file(dir / "oranged.service", replaced(text, "/usr/local/bin/oranged", oranged.string()));
        Command command;
        command.argv = {program, "verify", "--man=no", "--user", (dir / "oranged.service").string()};
        command.env = scrubbed_environment();
        (*command.env)["XDG_RUNTIME_DIR"] = dir.path.string();
        (*command.env)["HOME"] = dir.path.string();
        asio::io_context io;
        PosixProcessRunner runner;
        auto done = run(io, runner.run(std::move(command)));
        REQUIRE(done);
        return std::to_string(done->exit_status) + " " + done->out + done->err;
    };
    const auto unit = read_file(k_source / "systemd/oranged.service");
    const auto said = verify(unit);
    INFO(said);
    CHECK(said.starts_with("0 "));
    CHECK_THAT(said, !Holds("oranged.service"));
    // It would have said so.
    CHECK_THAT(verify(replaced(unit, "KillMode=process", "KillMode=proces")), Tells("oranged.service"));
}

TEST_CASE("the launch agent comes back after a crash only, and leaves agents alone") {
    const auto plist = read_file(k_source / "launchd/sh.orange.oranged.plist");
    const auto squeezed = replaced(replaced(replaced(plist, "\n", ""), " ", ""), "\t", "");
    for (const char* part :
         {"<key>Label</key><string>sh.orange.oranged</string>", "<key>RunAtLoad</key><true/>",
          "<key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>", "<key>AbandonProcessGroup</key><true/>",
          "<key>ProgramArguments</key><array><string>/usr/local/bin/oranged"}) {
        INFO(part);
        CHECK_THAT(squeezed, Tells(part));
    }
    CHECK(plist.find('~') == plist.find("~ nor"));  // launchd expands none
}

TEST_CASE("the watchdog is for the process that systemd named, and an upgrade is seen at the program's file") {
    CHECK_FALSE(has_watchdog());
    ::setenv("WATCHDOG_USEC", "60000000", 1);
    CHECK(has_watchdog());
    ::setenv("WATCHDOG_PID", std::to_string(::getpid()).c_str(), 1);
    CHECK(has_watchdog());
    ::setenv("WATCHDOG_PID", "1", 1);
    CHECK_FALSE(has_watchdog());
    ::unsetenv("WATCHDOG_PID");
    ::unsetenv("WATCHDOG_USEC");
    CHECK(scrubbed_environment().count("WATCHDOG_USEC") == 0);
    CHECK_FALSE(OwnProgram().was_replaced());
}
