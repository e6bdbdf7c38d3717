#include "common/base/text.hpp"
#include "tests/catch.hpp"
#include "tests/integration/sandbox.hpp"

/// The examples of docs/protocol.md, as they stand there, with the real daemon.
namespace orange::tests {
namespace {

/// The lines of the block of that language in the section "Examples".
std::string example(const std::string& language) {
    const auto page = read_file(ORANGE_SOURCE_DIR "/docs/protocol.md");
    const auto section = page.find("\n## Examples\n");
    REQUIRE(section != std::string::npos);
    const auto fence = "\n```" + language + "\n";
    const auto begin = page.find(fence, section);
    REQUIRE(begin != std::string::npos);
    const auto text = begin + fence.size();
    return page.substr(text, page.find("\n```", text) + 1 - text);
}

/// The first of these that this machine has. A test without its language would hold nothing, so it fails.
std::string interpreter(const std::vector<std::string>& places) {
    for (const auto& place : places) {
        if (std::filesystem::exists(place)) return place;
    }
    FAIL("none of these is installed, but scripts/test installs one: " << join(places, ", "));
    return {};
}

/// HOME is the sandbox's root, so that its ~/orange is this daemon's home.
Ran play(Sandbox& orange, const std::string& program, const std::string& language) {
    const auto file = orange.root() / ("example." + language);
    write_file(file, example(language));
    auto ran = orange.try_run({"timeout", "60", program, file.string()}, orange.root());
    INFO(ran.out << ran.err);
    CHECK(ran.status == 0);
    return ran;
}

}  // namespace

TEST_CASE("The example in sh gets the replies of two calls") {
    (void)interpreter({"/usr/bin/nc.openbsd", "/bin/nc.openbsd"});
    Sandbox orange;
    orange.add_project("shop");
    const auto id = orange.create("shop", "Add a greeting", true);
    const auto ran = play(orange, "sh", "sh");
    const auto lines = split_lines(ran.out);
    REQUIRE(lines.size() == 2);
    CHECK(Json::parse(lines[0])["result"]["pid"] == orange.daemon_pid());
    CHECK(Json::parse(lines[1])["result"]["tasks"][0]["fields"]["id"] == id);
}

TEST_CASE("The example in Python creates a task") {
    const auto python = interpreter({"/usr/bin/python3"});
    Sandbox orange;
    orange.add_project("shop");
    const auto ran = play(orange, python, "python");
    rpc::TaskList list;
    list.all = true;
    const auto tasks = orange.call(list).tasks;
    REQUIRE(tasks.size() == 1);
    CHECK_THAT(ran.out, Holds(tasks[0].fields.id.value));
}

TEST_CASE("The example in JavaScript follows a task until it needs its human") {
    const auto node = interpreter({"/usr/bin/node", "/usr/bin/nodejs"});
    Sandbox orange;
    orange.add_project("shop");
    const auto ran = play(orange, node, "js");
    rpc::TaskList list;
    list.all = true;
    const auto tasks = orange.call(list).tasks;
    REQUIRE(tasks.size() == 1);
    CHECK(tasks[0].fields.status == "reviewing");
    CHECK_THAT(ran.out, Holds(tasks[0].short_id + " pending → planning\n"));
    CHECK_THAT(ran.out, Holds(" agent-review → reviewing\n"));
}

}  // namespace orange::tests
