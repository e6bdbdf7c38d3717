// The manual says what --help and docs/ say: it is made from both.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include "client/arguments/catalog.hpp"
#include "client/manual/pages.hpp"
#include "client/manual/roff.hpp"
#include "common/base/text.hpp"
#include "tests/catch.hpp"
#include "tests/unit/client/fake_daemon.hpp"

using namespace orange;
using namespace orange::manual;

namespace {

std::map<std::string, std::string> manual_pages() {
    auto pages = all_pages(ORANGE_SOURCE_DIR, "Usage: oranged [--check]\n\nOrange's daemon.\n");
    if (!pages) FAIL(pages.error().message);
    std::map<std::string, std::string> found;
    for (auto& page : *pages) found[page.name + "." + std::to_string(page.section)] = std::move(page.text);
    return found;
}

}  // namespace

TEST_CASE("Every command has its place in the manual, with each of its options") {
    const auto pages = manual_pages();
    std::size_t options = 0;
    for (const auto* command : arguments::all_commands()) {
        if (command->hidden) continue;
        const auto page = pages.find(*command->group ? "orange-" + std::string(command->group) + ".1" : "orange.1");
        INFO(arguments::full_name(*command));
        REQUIRE(page != pages.end());
        const auto begin = page->second.find(".SS \"" + escaped(arguments::full_name(*command), true) + "\"\n");
        REQUIRE(begin != std::string::npos);
        const auto part = page->second.substr(begin, page->second.find("\n.SS ", begin) - begin);
        CLI::App app;
        const auto action = command->build(app);
        for (const auto* option : app.get_options()) {
            if (option->get_group().empty()) continue;  // hidden
            for (const auto& name : option->get_lnames()) {
                if (name == "help") continue;
                CHECK_THAT(part, Holds(escaped("--" + name, true)));
                ++options;
            }
        }
    }
    CHECK(options > 100);
    for (const char* name : {"oranged.8", "orange-workflow.5", "orange-harness.5", "orange-config.5"})
        CHECK(pages.count(name) == 1);
}

TEST_CASE("The pages of the manual are whole: known requests, closed blocks, no empty section") {
    static const std::vector<std::string> known = {".TH", ".SH", ".SS", ".PP", ".TP", ".IP",
                                                   ".RS", ".RE", ".EX", ".EE", ".BR", ".br"};
    for (const auto& [name, text] : manual_pages()) {
        INFO(name);
        CHECK_THAT(text, Catch::StartsWith(".TH "));
        int examples = 0, indents = 0;
        std::string before;
        for (const auto line : split_lines(text)) {
            INFO(line);
            if (line.starts_with(".")) {
                const auto request = std::string(line.substr(0, line.find(' ')));
                CHECK(std::ranges::find(known, request) != known.end());
                examples += request == ".EX" ? 1 : request == ".EE" ? -1 : 0;
                indents += request == ".RS" ? 1 : request == ".RE" ? -1 : 0;
                if (request == ".SH") CHECK_THAT(before, !Catch::StartsWith(".SH"));
            }
            CHECK_FALSE(line.starts_with("'"));
            before = line;
        }
        CHECK(examples == 0);
        CHECK(indents == 0);
    }
}

TEST_CASE("Each program that is installed has a page, and no page names a picture") {
    const auto pages = manual_pages();
    for (const auto* program : {"orange.1", "orange-dashboard.1", "oranged.8", "orange-agent.8"}) {
        INFO(program);
        CHECK(pages.contains(program));
    }
    for (const auto& [name, text] : pages) {
        INFO(name);
        CHECK(text.find("pictures/") == std::string::npos);
    }
}

TEST_CASE("Markdown becomes what a terminal shows") {
    CHECK(roff_of("## A title\n\nSome `--code` and **bold**, a [link](x.md#y)\nand [one](https://e.org).\n") ==
          ".SH \"A title\"\n.PP\nSome \\fB\\-\\-code\\fR and \\fBbold\\fR, a link\nand one (https://e.org).\n");
    CHECK(roff_of("- one\n  more\n- two\n\n1. three\n") ==
          ".IP \\(bu 2\none\nmore\n.IP \\(bu 2\ntwo\n.IP 1. 4\nthree\n");
    CHECK(roff_of("| key | value |\n| --- | --- |\n| `a\\|b` | c |\n") == ".TP\n\\fBa|b\\fR\nc\n");
    CHECK(roff_of("```\n.request \\n\n```\n") == ".PP\n.RS 4\n.EX\n\\&.request \\en\n.EE\n.RE\n");
    CHECK(section_of("# T\n## A\na\n### B\nb\n## C\nc\n", "A") == "a\n### B\nb\n");
    CHECK(section_of("# T\n## A\n", "Z").empty());
}

TEST_CASE("README names every command, and each of its links leads to a file") {
    std::ifstream in(ORANGE_SOURCE_DIR "/README.md");
    const std::string readme{std::istreambuf_iterator<char>(in), {}};
    std::set<std::string> named;  // of the rows "| `orange task create, list [--all]`, `orange log` | …"
    for (const auto line : split_lines(readme)) {
        if (!line.starts_with("| `orange ")) continue;
        const auto parts = split(line.substr(0, line.find(" | ")), '`');
        for (std::size_t i = 1; i < parts.size(); i += 2) {
            const auto words = split(parts[i].substr(0, parts[i].find(" [")), ' ');
            const bool grouped = words.size() > 2 && !words[1].ends_with(',');
            for (std::size_t w = grouped ? 2 : 1; w < words.size(); ++w) {
                const auto name = std::string(words[w].substr(0, words[w].find(',')));
                named.insert((grouped ? std::string(words[1]) + " " : "") + name);
                named.insert(grouped ? std::string(words[1]) : name);  // completion bash, zsh, fish
            }
        }
    }
    for (const auto* command : arguments::all_commands()) {
        if (command->hidden) continue;
        const auto group = std::string(command->group);
        INFO(arguments::full_name(*command));
        CHECK(named.contains(group.empty() ? command->name : group + " " + command->name));
    }
    std::size_t links = 0;
    for (auto at = readme.find("]("); at != std::string::npos; at = readme.find("](", at + 1), ++links) {
        const auto target = readme.substr(at + 2, readme.find_first_of(")#", at + 2) - at - 2);
        INFO(target);
        CHECK((target.empty() || target.starts_with("https://") ||
               std::filesystem::exists(std::filesystem::path(ORANGE_SOURCE_DIR) / target)));
    }
    CHECK(links > 20);
}
