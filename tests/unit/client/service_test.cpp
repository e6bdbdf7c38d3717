// `orange service` with the real programs, and a stand-in for systemctl that keeps the link of `enable`, starts the
// oranged of the unit and writes down what it was asked.
#include <fstream>
#include <iterator>

#include "common/base/text.hpp"
#include "tests/catch.hpp"
#include "tests/unit/client/fake_daemon.hpp"

using namespace orange;
namespace fs = std::filesystem;

namespace {

constexpr const char* k_systemctl = R"sh(#!/bin/sh
shift
echo "$*" >>"$HOME/asked"
unit=$HOME/.config/systemd/user/oranged.service
wants=$HOME/.config/systemd/user/default.target.wants
[ ! -e "$HOME/no-systemd" ] || exit 1
case $1 in
    enable) mkdir -p "$wants" && ln -sf "$unit" "$wants/oranged.service" ;;
    disable) rm -f "$wants/oranged.service"; "$HOME/orange-client" daemon stop >/dev/null ;;
    is-active) [ -S "$HOME/orange/orange.sock" ] ;;
    start | restart)
        [ ! -e "$HOME/fails" ] || exit 1
        if [ "$1" = restart ]; then "$HOME/orange-client" daemon stop >/dev/null; fi
        [ ! -S "$HOME/orange/orange.sock" ] || exit 0
        program=$(sed -n 's/^ExecStart="\(.*\)"$/\1/p' "$unit")
        setsid "$program" >/dev/null 2>&1 </dev/null &
        i=0
        while [ ! -S "$HOME/orange/orange.sock" ] && [ $i -lt 200 ]; do sleep 0.05; i=$((i + 1)); done
        ;;
esac
)sh";

struct Service {
    Service() {
        fs::create_directories(bin);
        std::ofstream(bin / "systemctl") << k_systemctl;
        fs::permissions(bin / "systemctl", fs::perms::owner_all);
        fs::create_symlink(ORANGE_BINARY_DIR "/bin/orange", home / "orange-client");
        std::ofstream(home / ".profile") << "";
    }
    ~Service() { run({"daemon", "stop"}); }
    test::Ran run(std::vector<std::string> words, std::vector<std::string> more = {}) {
        words.insert(words.begin(), ORANGE_BINARY_DIR "/bin/orange");
        more.insert(more.begin(), {"HOME=" + home.string(), "SHELL=/bin/sh", "ORANGE_SHARE=" ORANGE_SOURCE_DIR,
                                   "PATH=" + bin.string() + ":" + std::string(std::getenv("PATH"))});
        return test::run(words, more, home);
    }
    std::string text(const fs::path& file) const {
        std::ifstream in(file, std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    std::string asked() {
        auto all = text(home / "asked");
        fs::remove(home / "asked");
        return all;
    }
    void put_file(const fs::path& file, const std::string& content) {
        fs::create_directories(file.parent_path());
        std::ofstream(file, std::ios::binary) << content;
    }
    Json status() { return Json::parse(run({"service", "status", "--json"}).out); }
    std::int64_t pid() { return Json::parse(run({"daemon", "status", "--json"}).out).value("pid", std::int64_t{0}); }

    test::TemporaryFolder folder;
    fs::path home = folder.path(), bin = home / "bin", unit = home / ".config/systemd/user/oranged.service";
};

}  // namespace

TEST_CASE("A service replaces the daemon that runs, is started by the next command, and is removed whole") {
    Service service;
    CHECK(service.status()["active"] == false);
    REQUIRE(service.run({"daemon", "start"}).status == 0);
    const auto before = service.pid();
    service.asked();
    const auto done = service.run({"service", "install"});
    INFO(done.err);
    REQUIRE(done.status == 0);
    CHECK(service.asked() == "show-environment\ndaemon-reload\nenable oranged.service\nrestart oranged.service\n");
    const auto text = service.text(service.unit);
    CHECK_THAT(text, Holds("\nExecStart=\"" ORANGE_BINARY_DIR "/bin/oranged\"\n"));
    CHECK_THAT(text, Holds("\nEnvironment=\"PATH=" + service.bin.string() + ":"));
    CHECK_THAT(text, Holds("\nEnvironment=\"ORANGE_HOME=" + (service.home / "orange").string() + "\"\n"));
    CHECK(service.pid() != before);
    CHECK(service.status() == Json{{"file", service.unit.string()},
                                   {"own", true},
                                   {"enabled", true},
                                   {"active", true},
                                   {"this_home", true},
                                   {"linger", service.status()["linger"]}});

    // Whatever starts the daemon starts the service.
    service.run({"daemon", "stop"});
    service.asked();
    REQUIRE(service.run({"project", "list"}).status == 0);
    CHECK(service.asked() == "start oranged.service\n");
    REQUIRE(service.run({"daemon", "restart"}).status == 0);
    CHECK(service.asked() == "start oranged.service\n");
    CHECK(service.run({"service", "install"}).status == 0);

    CHECK(service.run({"service", "uninstall"}).status == 0);
    CHECK_FALSE(fs::exists(service.unit));
    CHECK(service.run({"service", "uninstall"}).status == 0);
    service.asked();
    REQUIRE(service.run({"project", "list"}).status == 0);
    CHECK(service.asked().empty());
}

TEST_CASE("A unit that a person wrote stays, and without systemd nothing is written") {
    Service service;
    service.put_file(service.home / "no-systemd", "");
    auto refused = service.run({"service", "install", "--json"});
    CHECK(refused.status == 1);
    CHECK(Json::parse(refused.out)["error"]["data"]["name"] == "unavailable");
    CHECK_FALSE(fs::exists(service.home / ".config"));
    fs::remove(service.home / "no-systemd");
    service.put_file(service.unit, "[Service]\nExecStart=mine\n");
    for (const char* command : {"install", "uninstall"}) {
        refused = service.run({"service", command, "--json"});
        CHECK(refused.status == 1);
        CHECK(Json::parse(refused.out)["error"]["data"]["name"] == "conflict");
        CHECK(service.text(service.unit) == "[Service]\nExecStart=mine\n");
    }
}

TEST_CASE("A unit that a person has changed stays, and one that is as Orange wrote it is replaced") {
    Service service;
    REQUIRE(service.run({"service", "install"}).status == 0);
    const auto written = service.text(service.unit);
    REQUIRE(service.run({"service", "install"}).status == 0);
    CHECK(service.text(service.unit) == written);
    service.put_file(service.unit, written + "# mine\n");
    for (const char* command : {"install", "uninstall"}) {
        const auto refused = service.run({"service", command, "--json"});
        CHECK(refused.status == 1);
        CHECK(Json::parse(refused.out)["error"]["data"]["name"] == "conflict");
        CHECK(service.text(service.unit) == written + "# mine\n");
    }
    service.put_file(service.unit, written);
    CHECK(service.run({"service", "uninstall"}).status == 0);
    CHECK_FALSE(fs::exists(service.unit));
}

TEST_CASE("A user has one service: that of another home is not replaced, and is removed by name") {
    Service service;
    const auto other = service.home / "a \"5 %\" home";
    REQUIRE(service.run({"service", "install"}).status == 0);
    const auto written = service.text(service.unit);
    const auto pid = service.pid();
    service.asked();
    const auto at_other = [&](std::vector<std::string> words) {
        return service.run(std::move(words), {"ORANGE_HOME=" + other.string()});
    };
    const auto refused = at_other({"service", "install", "--json"});
    CHECK(refused.status == 1);
    const auto error = Json::parse(refused.out)["error"];
    CHECK(error["data"]["name"] == "conflict");
    CHECK_THAT(error["message"].get<std::string>(),
               Holds("the daemon of " + (service.home / "orange").string()) && Holds("\n  orange service uninstall\n"));
    CHECK(service.text(service.unit) == written);
    CHECK(service.asked().empty());
    CHECK(service.pid() == pid);
    CHECK_THAT(at_other({"service", "status"}).out, Holds("home " + (service.home / "orange").string() + ", not"));

    CHECK_THAT(at_other({"service", "uninstall"}).out,
               Holds("The service of " + (service.home / "orange").string() + " is removed"));
    at_other({"service", "install"});  // the stand-in starts the daemon of the usual home, so only the unit counts
    CHECK(service.status()["this_home"] == false);
    CHECK(Json::parse(at_other({"service", "status", "--json"}).out)["this_home"] == true);
    const auto home = service.run({"service", "install", "--json"});
    CHECK_THAT(Json::parse(home.out)["error"]["message"].get<std::string>(), Holds("the daemon of " + other.string()));
    CHECK(service.run({"service", "uninstall"}).status == 0);
    CHECK_FALSE(fs::exists(service.unit));
}

TEST_CASE("If systemd cannot start the service, the daemon starts on demand") {
    Service service;
    REQUIRE(service.run({"service", "install"}).status == 0);
    service.run({"daemon", "stop"});
    service.put_file(service.home / "fails", "");
    service.asked();
    CHECK(service.run({"project", "list"}).status == 0);
    CHECK(service.asked() == "start oranged.service\n");
    CHECK(service.pid() > 0);
}

TEST_CASE("An upgrade below a running daemon is told by its status and by doctor") {
    Service service;
    const auto programs = service.home / "programs";
    fs::create_directories(programs);
    for (const char* name : {"orange", "oranged", "orange-agent"})
        fs::copy(fs::path(ORANGE_BINARY_DIR) / "bin" / name, programs / name);
    service.put_file(service.home / "orange" / "config.yml", "notify: off\n");
    fs::permissions(service.home / "orange", fs::perms::owner_all);
    const auto run = [&](std::vector<std::string> words) {
        words.insert(words.begin(), (programs / "orange").string());
        return test::run(words, {"HOME=" + service.home.string(), "SHELL=/bin/sh", "ORANGE_SHARE=" ORANGE_SOURCE_DIR},
                         service.home);
    };
    REQUIRE(run({"daemon", "start"}).status == 0);
    const auto oranged = (programs / "oranged").string() + " has";
    CHECK_THAT(run({"daemon", "status", "--json"}).out, !Holds(oranged));
    fs::copy(programs / "oranged", programs / "oranged.new");
    fs::rename(programs / "oranged.new", programs / "oranged");
    CHECK_THAT(run({"daemon", "status", "--json"}).out, Holds(oranged));
    CHECK_THAT(run({"doctor", "--json"}).out, Holds(oranged));
    REQUIRE(run({"daemon", "restart"}).status == 0);
    CHECK_THAT(run({"doctor", "--json"}).out, !Holds(oranged));
}
