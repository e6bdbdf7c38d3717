#include "client/hosts/ssh.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "common/base/system.hpp"
#include "tests/catch.hpp"
#include "tests/facts.hpp"
#include "tests/fakes/temporary_folder.hpp"
#include "tests/unit/client/fake_daemon.hpp"

using namespace orange;
using namespace orange::hosts;
namespace fs = std::filesystem;

namespace {

Host box() {
    Host host;
    host.name = "box";
    host.ssh = "me@box";
    return host;
}

}  // namespace

TEST_CASE("Each shell that ssh may find on a host gets the words as they were") {
    test::TemporaryFolder folder;
    const auto program = folder.path() / "it's orange";
    std::ofstream(program) << "#!/bin/sh\nfor word; do printf '<%s>' \"$word\"; done\n";
    fs::permissions(program, fs::perms::owner_all);
    auto host = box();
    const std::vector<std::string> words = {
        "task", "",      "it's", "a b", "$HOME `id` $(id)", "\\ \\\\ \\'", "!! !x", "*?[a]{b}", "~ ~/x", "\"",
        "#x",   ";|&><", "x\ny", "-",   "--json",           "ä → ✓",       "%s %"};
    std::string expected;
    for (const auto& word : words) expected += "<" + word + ">";
    for (const std::string shell : {"/bin/sh", "/bin/bash", "/usr/bin/zsh", "/usr/bin/fish"}) {
        INFO(shell);
        host.program = program.string();
        const std::vector<std::string> environment = {"HOME=" + folder.path().string()};
        const auto ran = test::run({shell, "-c", remote_command(host, words)}, environment, folder.path());
        CHECK(ran.out == expected);
        CHECK(ran.err.empty());
        host.program = "~/it's orange";
        CHECK(test::run({shell, "-c", remote_command(host, words)}, environment, folder.path()).out == expected);
    }
}

TEST_CASE("The answer is found behind what a start-up file prints") {
    const auto said = json_in("Welcome\n{not json\n{\"tasks\":[]}\n");
    REQUIRE(said.json);
    CHECK(said.json->contains("tasks"));
    CHECK(said.noise == "Welcome\n{not json\n");
    CHECK_FALSE(said.is_spoiled());
    CHECK(!json_in("bash: orange: not found\n").json);
    // Noise without a line end stands on the line of the JSON.
    const auto spoiled = json_in("Hi {you} {\"tasks\":[{}]}\n");
    REQUIRE(spoiled.json);
    CHECK(spoiled.json->contains("tasks"));
    CHECK(spoiled.noise == "Hi {you} ");
    CHECK(spoiled.is_spoiled());
    CHECK(!json_in("{\"tasks\":[{\"a\":1}\n").json);  // cut off: no part of it counts
}

TEST_CASE("An answer that comes after its deadline is read in the background, and reported there") {
    const testing::TemporaryFolder folder;
    const auto go = (folder.path() / "go").string(), late = (folder.path() / "late").string();
    const auto waits = "while ! test -e " + go + "; do sleep 0.01; done; echo '{}'";
    const std::vector<Question> questions = {{box(), "", std::chrono::milliseconds(1), {"sh", "-c", waits}}};
    const auto answers = ask(questions, {}, [&](std::size_t number, const std::string& out) {
        std::ofstream(late + ".new") << number << " " << out;
        std::filesystem::rename(late + ".new", late);
    });
    REQUIRE(answers.at(0).trouble);
    CHECK(answers.at(0).trouble->code == ErrorCode::timeout);
    std::ofstream(go).close();
    while (!std::filesystem::exists(late)) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    std::string said;
    std::getline(std::ifstream(late), said);
    CHECK(said == "0 {}");
}

TEST_CASE("Only one process waits for a late answer, and holds no descriptor of the program that asked") {
    const testing::TemporaryFolder folder;
    const auto go = (folder.path() / "go").string(), late = (folder.path() / "late").string();
    const auto waits = "while ! test -e " + go + "; do sleep 0.01; done; echo '{}'";
    Question question{box(), "", std::chrono::milliseconds(1), {"sh", "-c", waits}};
    question.late_lock = folder.path() / "lock";
    const auto is_late = [&](std::size_t, const std::string& out) {
        std::ofstream file(late, std::ios::app);
        file << out;
    };
    int ends[2];
    REQUIRE(system::make_pipe(ends) == 0);
    for (int n = 0; n < 3; ++n) {
        const auto answer = ask({question}, {}, is_late).at(0);
        REQUIRE(answer.trouble);
        CHECK(answer.trouble->code == ErrorCode::timeout);
    }
    ::close(ends[1]);
    char byte = 0;
    CHECK(::read(ends[0], &byte, 1) == 0);  // while the process waits
    ::close(ends[0]);
    const int lock = ::open(question.late_lock.c_str(), O_RDWR);
    CHECK(::flock(lock, LOCK_EX | LOCK_NB) != 0);
    std::ofstream(go).close();
    CHECK(::flock(lock, LOCK_EX) == 0);
    ::close(lock);
    std::string said;
    std::ifstream file(late);
    CHECK((std::getline(file, said) && said == "{}"));
    CHECK_FALSE(std::getline(file, said));
}

TEST_CASE("An ssh that was killed here is a lost connection, and no answer of orange") {
    const std::vector<Question> questions = {{box(), "", std::chrono::seconds(60), {"sh", "-c", "kill -KILL $$"}}};
    const auto answers = ask(questions);
    REQUIRE(answers.at(0).trouble);
    CHECK(answers.at(0).trouble->code == ErrorCode::unavailable);
    CHECK_THAT(answers.at(0).trouble->message, Tells("orange host test box"));
}

TEST_CASE("What ssh says is told with a way out, and what orange says there is left alone") {
    for (const int status : {0, 1, 2, 3, 42, 130}) CHECK(!trouble_of(box(), status, "Permission denied"));
    struct Case {
        int status;
        const char* says;
        ErrorCode code;
        const char* tells;
    };
    const Case cases[] = {
        {127, "", ErrorCode::not_found, "~/.local/bin/orange"},
        {126, "", ErrorCode::not_found, "126"},
        {255, "Host key verification failed.\r\n", ErrorCode::forbidden, "me@box"},
        {255, "@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\nHost key verification failed.\n",
         ErrorCode::forbidden, "me@box"},
        {255, "me@box: Permission denied (publickey,password).\n", ErrorCode::forbidden, "me@box"},
        {255, "ssh: Could not resolve hostname box: Name or service not known\n", ErrorCode::unavailable,
         "orange host test box"},
        {255, "", ErrorCode::unavailable, "orange host test box"},
    };
    for (const auto& [status, says, code, tells] : cases) {
        INFO(says);
        const auto trouble = trouble_of(box(), status, says);
        REQUIRE(trouble);
        CHECK(trouble->code == code);
        CHECK_THAT(trouble->message, Tells(tells));
        CHECK(trouble->details.at("host") == "box");
    }
    CHECK(trouble_of(box(), 255, "\x1b[31mx\n")->details.at("ssh") == "\\x1b[31mx");
}
