#include "client/hosts/hosts_file.hpp"

#include "tests/catch.hpp"
#include "tests/facts.hpp"

using namespace orange;
using namespace orange::hosts;

namespace {

constexpr const char* k_file = "/home/me/orange/hosts.yml";

Host parsed(const std::string& text) {
    const auto all = parse_hosts(text, k_file);
    INFO(text);
    REQUIRE(all);
    REQUIRE(all->size() == 1);
    return all->front();
}

Error refused(const std::string& text) {
    const auto all = parse_hosts(text, k_file);
    INFO(text);
    REQUIRE(!all);
    return all.error();
}

}  // namespace

TEST_CASE("A host is a line, or a name with its keys below it") {
    for (const std::string text : {
             "# mine\n---\n\ngpu: {ssh: me@gpu.example.org, program: ~/.local/bin/orange, deadline: 3}  # fast\n",
             "gpu:\n  ssh: me@gpu.example.org   # the big one\n\n  program: \"~/.local/bin/orange\"\n  deadline: 3",
             "gpu: { program: '~/.local/bin/orange' , deadline: 3,ssh: me@gpu.example.org }\r\n",
         }) {
        const auto host = parsed(text);
        CHECK(host.name == "gpu");
        CHECK(host.ssh == "me@gpu.example.org");
        CHECK(host.program == "~/.local/bin/orange");
        CHECK(host.deadline == std::chrono::seconds(3));
    }
    const auto plain = parsed("box:\n");
    CHECK(plain.ssh == "box");
    CHECK(plain.program == "orange");
    CHECK(plain.deadline == std::chrono::seconds(1));
    CHECK(parsed("box: {ssh: ssh://me@box:2222}").ssh == "ssh://me@box:2222");
    CHECK(parsed(R"(box: {program: "/my \"own\" \\ orange"})").program == R"(/my "own" \ orange)");
    CHECK(parsed("box: {program: '/it''s/orange'}").program == "/it's/orange");
    CHECK(parse_hosts("", k_file)->empty());
}

TEST_CASE("What is no host is refused with its line") {
    constexpr const char* k_third = "/home/me/orange/hosts.yml:3";
    for (const std::string line : {"box", "box: me@box", "box: [me]", "box: {ssh: me", "box: {ssh}",
                                   "- box:", "box:{ssh: me}", "box: {ssh: me} rest", "box: {ssh: \"me}"}) {
        const auto error = refused("a:\nb:\n" + line);
        CHECK(error.code == ErrorCode::invalid_argument);
        CHECK_THAT(error.message, Tells(k_third));
    }
    CHECK_THAT(refused("  ssh: me\n").message, Tells("/home/me/orange/hosts.yml:1"));
    CHECK_THAT(refused("box: {shs: me}").message, Tells("ssh"));
    for (const std::string pair : {"ssh: -oProxyCommand=x", "ssh: ''", "ssh: a b", "program: ''", "program: -x",
                                   "deadline: 0", "deadline: 61", "deadline: soon", "deadline: 1s"}) {
        CHECK(refused("box: {" + pair + "}").code == ErrorCode::invalid_argument);
    }
    for (const char* name :
         {"-box", "a:b", "a/b", "a b", "", "\"a\"", "a-name-of-more-than-40-letters-is-too-long-for-a-host"}) {
        CHECK(refused(std::string(name) + ": {ssh: me}").code == ErrorCode::invalid_argument);
    }
}

TEST_CASE("Two hosts of one name are refused with both lines") {
    const auto error = refused("box:\ngpu:\nbox: {ssh: other}\n");
    CHECK(error.code == ErrorCode::conflict);
    CHECK_THAT(error.message, Tells("/home/me/orange/hosts.yml:3"));
    CHECK_THAT(error.message, Tells("1"));
}

TEST_CASE("A host that is added is read as it was, and one that is removed takes only its own lines along") {
    Host odd;
    odd.name = "odd";
    odd.ssh = "me@odd";
    odd.program = "/a \"b\" \\c/orange";
    odd.deadline = std::chrono::seconds(9);
    const std::string before = "# mine\nbox:\n  ssh: me@box\n# yours\ngpu: {ssh: gpu}";
    const auto text = with_host(before, odd);
    const auto all = parse_hosts(text, k_file);
    REQUIRE(all);
    REQUIRE(all->size() == 3);
    CHECK(all->back().ssh == odd.ssh);
    CHECK(all->back().program == odd.program);
    CHECK(all->back().deadline == odd.deadline);
    CHECK(without_host(text, all->back()) == before + "\n");
    CHECK(without_host(before, all->front()) == "# mine\n# yours\ngpu: {ssh: gpu}\n");
    CHECK(with_host("", parsed("box:")) == "box: {ssh: box}\n");
    auto slow = all->front();
    slow.deadline = std::chrono::seconds(3);
    CHECK(with_host_changed(before, slow) == "# mine\nbox: {ssh: me@box, deadline: 3}\n# yours\ngpu: {ssh: gpu}\n");
}

TEST_CASE("A host that is not in the file is named with the ones that may have been meant") {
    const auto all = parse_hosts("box:\ngpu:\n", k_file);
    REQUIRE(all);
    CHECK(host_named(*all, "gpu", k_file)->name == "gpu");
    const auto error = host_named(*all, "bxo", k_file).error();
    CHECK(error.code == ErrorCode::not_found);
    CHECK_THAT(error.message, Tells("box"));
    CHECK_THAT(error.message, Tells("orange host add bxo"));
}
