#include "daemon/store/lost_sections.hpp"

#include "daemon/store/sections.hpp"
#include "tests/catch.hpp"
#include "tests/unit/store/task_world.hpp"

using namespace orange;
using namespace orange::store;
using namespace orange::testing;
using Strings = std::vector<std::string>;

namespace {

constexpr const char* k_body =
    "Intro.\n\n## Context\n\nThe human's words.\n\n## Plan\n\nAPPROACH: round\n\n## Handoff\n\nDONE: half\n";

HistoryEvent lost_event(const Synced& synced) {
    for (const auto& event : synced.events) {
        if (event.type == "section.lost") return event;
    }
    return {};
}

std::string text_in(const HistoryEvent& event, const std::string& name) {
    const auto found = event.fields.find(name);
    return found == event.fields.end() ? "" : std::get<std::string>(found->second);
}

Strings kept_in(TaskWorld& world) {
    auto names = world.others();
    std::erase_if(names, [](const std::string& name) { return !name.starts_with("TASK.kept-"); });
    return names;
}

std::string section_of(const std::string& text, const std::string& heading) {
    const auto sections = parse_sections(text).sections;
    const auto found = sections.find(heading);
    return found == sections.end() ? "(none)" : found->second.text;
}

}  // namespace

TEST_CASE("what is lost are the sections that are nowhere any more, in their order") {
    CHECK(lost_sections(k_body, "## Handoff\n\nDONE: all\n") == Strings{"Context", "Plan"});
    CHECK(lost_sections(k_body, k_body).empty());
    CHECK(lost_sections("", k_body).empty());
    CHECK(lost_sections("## A\n\n## B\n", "```\n## A\n## B\n").empty());
    CHECK(lost_sections("## A\n\n## B\n", "```\n## A\n```\n") == Strings{"A", "B"});
}

TEST_CASE("sections come back as they were, whatever the new text leaves open") {
    const Strings lost = {"Context", "Plan"};
    for (const std::string after : {"## Handoff\n\nDONE: all\n", "", "a line\n\n## Handoff\n\nDONE: all",
                                    "## Handoff\n\n```\nopen\n", "## Handoff\r\n\r\nDONE: all\r\n"}) {
        const auto whole = with_sections_back(k_body, after, lost);
        INFO(after << "=>\n" << whole);
        CHECK(section_of(whole, "Context") == "The human's words.");
        CHECK(section_of(whole, "Plan") == "APPROACH: round");
        CHECK(section_of(whole, "Handoff") == section_of(after, "Handoff"));
        CHECK_THAT(whole, Holds(after));
    }
    // What is open is closed, if the text must not become part of a section either.
    for (const std::string open : {"one\n\n```\nopen\n", "note\n\n<!-- open", "note\n\n<pre>\nopen\n"}) {
        const auto whole = with_sections_back("## A\n\n```\nopen too\n", open, {"A"});
        INFO(open << "=>\n" << whole);
        CHECK(section_of(whole, "A") == "```\nopen too");
        CHECK(whole.starts_with(open));
    }
}

TEST_CASE("any number of sections may go at once, and the daemon's loop goes on") {
    // Looking through the whole text once for each of them takes minutes.
    std::string before;
    for (int n = 0; n < 40'000; ++n) before += "## s" + std::to_string(n) + "\n";
    const auto lost = lost_sections(before, "just this\n");
    REQUIRE(lost.size() == 40'000);
    CHECK(lost.back() == "s39999");
    CHECK(section_headings(with_sections_back(before, "just this\n", lost)) == lost);
}

TEST_CASE_METHOD(TaskWorld, "a write without frontmatter cannot take sections away, and what was there is kept") {
    const auto copy = GENERATE(false, true) ? copies.own : *copies.mirror;
    start(k_body);
    write_text(copy, "## Handoff\n\nDONE: all of it\n");
    const auto synced = sync();
    CHECK(section_of(synced.body, "Context") == "The human's words.");
    CHECK(section_of(synced.body, "Plan") == "APPROACH: round");
    CHECK(section_of(synced.body, "Handoff") == "DONE: all of it");
    CHECK(in_step(synced.body));
    const auto event = lost_event(synced);
    CHECK(text_in(event, "sections") == "Context, Plan");
    CHECK(text_in(event, "copy") == (copy == copies.own ? "own" : "mirror"));
    CHECK(std::get<bool>(event.fields.at("put_back")));
    CHECK(read_text(home / "task" / text_in(event, "kept")) == projected(k_body));
    CHECK(names("work") == Strings{"TASK.md"});
    CHECK(lost_event(sync()).type.empty());
}

TEST_CASE_METHOD(TaskWorld, "whoever replaces the file again, at once and unread, replaces what he wrote before") {
    start(k_body);
    for (const std::string done : {"DONE: one", "DONE: two", "DONE: three"}) {
        write_text(*copies.mirror, "## Handoff\n\n" + done + "\n");
        const auto synced = sync();
        CHECK(section_of(synced.body, "Handoff") == done);
        CHECK(section_of(synced.body, "Plan") == "APPROACH: round");
        CHECK(section_of(synced.body, "Context") == "The human's words.");
        CHECK(in_step(synced.body));
    }
}

TEST_CASE_METHOD(TaskWorld, "a section that a whole TASK.md no longer has is gone, with an event and the text before") {
    start(k_body);
    write_text(*copies.mirror, projected("## Plan\n\nAPPROACH: round\n"));
    const auto synced = sync();
    CHECK(in_step("## Plan\n\nAPPROACH: round\n"));
    const auto event = lost_event(synced);
    CHECK(text_in(event, "sections") == "Context, Handoff");
    CHECK_FALSE(std::get<bool>(event.fields.at("put_back")));
    CHECK(read_text(home / "task" / text_in(event, "kept")) == projected(k_body));
}

TEST_CASE_METHOD(TaskWorld, "a section that vanished while no daemon ran is found at the next start") {
    start(k_body);
    restart();
    write_text(*copies.mirror, "## Plan\n\nAPPROACH: other\n");
    const auto synced = sync();
    CHECK(section_of(synced.body, "Context") == "The human's words.");
    CHECK(section_of(synced.body, "Plan") == "APPROACH: other");
    CHECK(text_in(lost_event(synced), "sections") == "Context, Handoff");
}

TEST_CASE_METHOD(TaskWorld, "each replaced text is kept, and edits that lose no section keep none") {
    start(k_body);
    write_text(*copies.mirror, projected(std::string(k_body) + "\nmore\n"));
    CHECK(lost_event(sync()).type.empty());
    CHECK(kept_in(*this).empty());
    for (int n = 1; n <= 8; ++n) {
        write_text(*copies.mirror, projected("## Round " + std::to_string(n) + "\n\ntext\n"));
        CHECK(lost_event(sync()).type == "section.lost");
    }
    const auto kept = kept_in(*this);
    REQUIRE(kept.size() == 8);
    for (int n = 1; n <= 8; ++n) CHECK_THAT(everything(), Holds("## Round " + std::to_string(n) + "\n"));
}

TEST_CASE_METHOD(TaskWorld, "whatever fails while sections are put back, the next call puts them back once", "[slow]") {
    start(k_body);
    int failures = 0;
    for (int n = 1;; ++n) {
        CAPTURE(n);
        sync();
        const auto handoff = "DONE: " + std::to_string(n);
        write_text(*copies.mirror, "## Handoff\n\n" + handoff + "\n");
        files.fail_at(n);
        const auto result = try_sync();
        const bool failed = files.failed();
        files.fail_at(0);
        if (result) record.body_hash = result->body_hash;
        if (!failed) break;
        ++failures;
        const auto synced = sync();
        CHECK(section_of(synced.body, "Context") == "The human's words.");
        CHECK(section_of(synced.body, "Handoff") == handoff);
        CHECK(in_step(synced.body));
    }
    CHECK(failures > 5);
}
