#include "common/model/settings.hpp"

#include <algorithm>
#include <fstream>

#include "common/base/text.hpp"
#include "common/model/fields.hpp"
#include "tests/catch.hpp"

using namespace orange;

namespace {

using Commands = std::vector<std::vector<std::string>>;

ProjectSettings with(const std::string& name, const Json& value) {
    ProjectSettings settings;
    set_setting(settings, name, value).value();
    return settings;
}

std::string refusal(const std::string& name, const Json& value) {
    ProjectSettings settings;
    const auto done = set_setting(settings, name, value);
    CHECK(settings.empty());
    CHECK((done ? ErrorCode::internal : done.error().code) == ErrorCode::invalid_argument);
    return done ? "" : done.error().message;
}

}  // namespace

TEST_CASE("A setting takes a text as people write it, or a value of its own type") {
    CHECK(with("merge", "pr").merge == "pr");
    CHECK(with("push", "false").push == false);
    CHECK(with("push", true).push == true);
    CHECK(with("checks_timeout", "90").checks_timeout == 90);
    CHECK(with("checks_timeout", 90).checks_timeout == 90);
    CHECK(with("delegation_depth", "3").delegation_depth == 3);
    CHECK(with("children_into", "parent").children_into == "parent");
    CHECK(with("permits", "inbox").permits == "inbox");
    CHECK(with("checks", "make test").checks == Commands{{"make", "test"}});
    CHECK(with("checks", {"make 'a b'", {"sh", "-c", "x && y"}}).checks ==
          Commands{{"make", "a b"}, {"sh", "-c", "x && y"}});
    CHECK(with("checks", "").checks == Commands{});
    CHECK(with("checks", Json::array()).checks == Commands{});
    using Patterns = std::vector<std::string>;
    CHECK(with("keep_ignored", "*.env  data/*.sqlite").keep_ignored == Patterns{"*.env", "data/*.sqlite"});
    CHECK(with("keep_ignored", {"a file", "!b"}).keep_ignored == Patterns{"a file", "!b"});
    CHECK(with("keep_ignored", "").keep_ignored == Patterns{});
    auto settings = with("push", false);
    CHECK(set_setting(settings, "push", nullptr));
    CHECK(settings.empty());
}

TEST_CASE("A limit is a number, of which 0 is none, and a project's own 0 ends the one of config.yml") {
    CHECK(with("limits.worker", "4").worker_limit == 4);
    CHECK(with("limits.reviewer", 1000).reviewer_limit == 1000);
    CHECK(effective(with("limits.worker", 4), with("limits.worker", "0")).worker_limit == 0);
    CHECK(effective(with("limits.worker", 4), with("limits.reviewer", 1)).worker_limit == 4);
    CHECK(effective({}, {}).reviewer_limit == 2);
    for (const Json& value : {Json("-1"), Json("1001"), Json("many"), Json(""), Json(true), Json(1.5)}) {
        CAPTURE(dump(value));
        CHECK_THAT(refusal("limits.worker", value), Tells("1000"));
    }
    CHECK_THAT(refusal("limits.workers", 1), Tells("limits.worker"));
}

TEST_CASE("A limit of memory is a size, of which 0 is none") {
    CHECK(with("limits.memory", "12G").memory_limit == "12G");
    CHECK(bytes_in(*with("limits.memory", "12G").memory_limit) == std::int64_t{12} << 30);
    CHECK(bytes_in("64M") == std::int64_t{64} << 20);
    CHECK(bytes_in("999T") == std::int64_t{999} << 40);
    CHECK(bytes_in(*effective({}, {}).memory_limit) == 0);
    CHECK(effective(with("limits.memory", "12G"), with("limits.memory", "0")).memory_limit == "0");
    for (const Json& value : {Json("12"), Json("12g"), Json("G"), Json("-1G"), Json("1.5G"), Json("63M"), Json("1000T"),
                              Json("99999999999999999999G"), Json(""), Json(true), Json(12)}) {
        CAPTURE(dump(value));
        CHECK_THAT(refusal("limits.memory", value), Tells("12G"));
    }
}

TEST_CASE("A limit of processes is none, or a number with which an agent can work") {
    CHECK(with("limits.processes", "20").processes_limit == 20);
    CHECK(with("limits.processes", 1'000'000).processes_limit == 1'000'000);
    CHECK(with("limits.processes", 0).processes_limit == 0);
    CHECK(effective({}, {}).processes_limit == 0);
    for (const Json& value : {Json(1), Json("19"), Json(1'000'001), Json(-1), Json("many"), Json("20G"), Json(true)}) {
        CAPTURE(dump(value));
        CHECK_THAT(refusal("limits.processes", value), Tells("20"));
    }
}

TEST_CASE("A limit of the disk is a size, of which 0 is none") {
    CHECK(bytes_in(*with("limits.disk", "20G").disk_limit) == std::int64_t{20} << 30);
    CHECK(bytes_in(*effective({}, {}).disk_limit) == 0);
    for (const Json& value : {Json("20"), Json("63M"), Json("1000T"), Json(20)}) {
        CAPTURE(dump(value));
        CHECK_THAT(refusal("limits.disk", value), Tells("12G"));
    }
}

TEST_CASE("A budget is a number of tokens, of which 0 is none") {
    CHECK(with("budget.task", "3M").budget_task == "3M");
    CHECK(with("budget.day", "1.5M").budget_day == "1.5M");
    CHECK(with("budget.day", "400k").budget_day == "400k");
    CHECK(with("budget.day", 25000).budget_day == "25000");
    CHECK(with("budget.day", 0).budget_day == "0");
    CHECK(effective({}, {}).budget_task == "0");
    CHECK(effective({}, {}).budget_day == "0");
    CHECK(effective(with("budget.day", "40M"), with("budget.day", "0")).budget_day == "0");
    CHECK(effective(with("budget.day", "40M"), with("budget.task", "3M")).budget_day == "40M");
    for (const Json& value : {Json("-1"), Json("M"), Json("3G"), Json("3 M"), Json("1.M"), Json(".5M"), Json("1.5"),
                              Json("99999999999999999999M"), Json("many"), Json(""), Json(true), Json(1.5), Json(-3)}) {
        CAPTURE(dump(value));
        CHECK_THAT(refusal("budget.task", value), Tells("budget.task") && Tells("3M"));
        CHECK_THAT(refusal("budget.day", value), Tells("budget.day") && Tells("400k"));
    }
    CHECK_THAT(refusal("budget.days", 1), Tells("budget.day"));
}

TEST_CASE("A budget stops agents at a percentage that is not below it, or never") {
    CHECK(with("budget.task_stop", "200").budget_task_stop == "200");
    CHECK(with("budget.day_stop", 100).budget_day_stop == "100");
    CHECK(with("budget.day_stop", "never").budget_day_stop == "never");
    CHECK(effective({}, {}).budget_task_stop == "150");
    CHECK(effective({}, {}).budget_day_stop == "120");
    for (const Json& value : {Json("99"), Json("1001"), Json("150%"), Json("0"), Json("-1"), Json(""), Json("PERCENT"),
                              Json("1e3"), Json(true), Json(1.5)}) {
        CAPTURE(dump(value));
        CHECK_THAT(refusal("budget.task_stop", value), Tells("100") && Tells("1000") && Tells("never"));
        CHECK_THAT(refusal("budget.day_stop", value), Tells("budget.day_stop"));
    }
    const auto words = setting_words();
    CHECK(std::ranges::count(words, "budget.day_stop=never") == 1);
    CHECK(std::ranges::count(words, "budget.day_stop=PERCENT") == 0);
}

TEST_CASE("A model is one word that no program takes for an option, and an empty one is none") {
    CHECK(with("model", "provider/model-4.1:high").model == "provider/model-4.1:high");
    CHECK(effective({}, {}).model == "");
    CHECK(effective(with("review_model", "opus"), with("review_model", "")).review_model == "");
    for (const Json& value :
         {Json("--yes"), Json("two words"), Json("tab\t"), Json(std::string(201, 'x')), Json(true), Json({"a"})}) {
        CAPTURE(dump(value));
        CHECK_THAT(refusal("model", value), Tells("model"));
    }
}

TEST_CASE("Agents go on after a usage limit at once, never, or within some hours") {
    CHECK(with("resume_after_limit", true).resume_after_limit == "true");
    CHECK(with("resume_after_limit", "false").resume_after_limit == "false");
    CHECK(with("resume_after_limit", "22:00-06:00").resume_after_limit == "22:00-06:00");
    CHECK(effective({}, {}).resume_after_limit == "true");
    for (const Json& value : {Json("HOURS"), Json("8-20"), Json("08:00-08:00"), Json(8), Json("")}) {
        CAPTURE(dump(value));
        CHECK_THAT(refusal("resume_after_limit", value), Tells("true") && Tells("false") && Tells("08:00-20:00"));
    }
    const auto words = setting_words();
    CHECK(std::ranges::count(words, "resume_after_limit=false") == 1);
    CHECK(std::ranges::count(words, "resume_after_limit=HOURS") == 0);
}

TEST_CASE("A wrong setting or value is refused with those that there are, and changes nothing") {
    CHECK_THAT(refusal("pushh", true), Tells("push"));
    CHECK_THAT(refusal("xyzzy", true), Tells("keep_branch") && Tells("checks"));
    CHECK_THAT(refusal("merge", "prr"), Tells("merge") && Tells("local") && Tells("pr"));
    CHECK_THAT(refusal("merge", true), Tells("local"));
    CHECK_THAT(refusal("push", "yes"), Tells("true") && Tells("false"));
    CHECK_THAT(refusal("push", 1), Tells("true"));
    for (const Json& value : {Json("0"), Json("-1"), Json("86401"), Json("1.5"), Json("soon"), Json(0), Json(1e9),
                              Json(99999999999), Json(true), Json("")}) {
        CAPTURE(dump(value));
        CHECK_THAT(refusal("checks_timeout", value), Tells("86400"));
    }
    for (const Json& value :
         {Json(true), Json::object(), Json({1}), Json({Json::array()}), Json({""}), Json({{""}}), Json({{"a", 1}}),
          Json({{"a", "&&", "b"}}), Json({"a && b"}), Json({{std::string("a\0b", 3)}})}) {
        CAPTURE(dump(value));
        refusal("checks", value);
    }
    for (const Json& value : {Json(true), Json::object(), Json({1}), Json({""}), Json({"a\nb"}), Json({{"a"}})}) {
        CAPTURE(dump(value));
        refusal("keep_ignored", value);
    }
    for (const Json& value : {Json(0), Json("101"), Json("many"), Json(true)}) {
        CAPTURE(dump(value));
        CHECK_THAT(refusal("delegation_children", value), Tells("100"));
    }
    for (const Json& value : {Json("-p $(id)"), Json("a 'b"), Json(true), Json::array()}) {
        CAPTURE(dump(value));
        refusal("executor_options", value);
    }
    refusal("executor", "--box");
    CHECK_THAT(refusal("permits", "both"), Tells("window") && Tells("inbox"));
    CHECK_THAT(refusal("checks", "CI=1 make test"), Holds("env CI=1 make test"));
}

TEST_CASE("A project's own value comes before the one of config.yml, and that before the default") {
    const auto standard = effective({}, {});
    CHECK(standard.merge == "local");
    CHECK(standard.push == true);
    CHECK(standard.keep_branch == false);
    CHECK(standard.checks == Commands{});
    CHECK(standard.checks_timeout == 1800);
    CHECK(standard.pr_feedback == "notice");
    CHECK(standard.forge == "auto");
    CHECK(standard.executor == "local");
    CHECK(standard.executor_options == "");
    CHECK(standard.permits == "window");
    auto defaults = with("push", false);
    set_setting(defaults, "checks", "make test").value();
    const auto said = effective(defaults, with("merge", "pr"));
    CHECK(said.push == false);
    CHECK(said.merge == "pr");
    CHECK(said.checks == Commands{{"make", "test"}});
    const auto own = effective(defaults, with("checks", Json::array()));
    CHECK(own.checks == Commands{});
    CHECK(effective(defaults, with("push", true)).push == true);
}

TEST_CASE("Every setting has a row in docs/files.md, as its table says") {
    std::ifstream in(ORANGE_SOURCE_DIR "/docs/files.md");
    const std::string docs{std::istreambuf_iterator<char>(in), {}};
    for (const auto& rule : setting_rules()) {
        const std::string values = rule.values;
        std::string shown;
        for (const auto word : split(values, '|')) {
            const bool is_default = word == rule.standard;
            const auto text = word == "HOURS"     ? "`\"08:00-20:00\"`"
                              : word == "PERCENT" ? "percent, 100 to 1000 (default " + std::string(rule.standard) + ")"
                                                  : "`" + std::string(word) + "`";
            shown += (shown.empty() ? "" : ", ") + text + (is_default ? " (default)" : "");
        }
        if (values == "COMMANDS") shown = "a list of commands; default: none";
        if (values == "PATTERNS") shown = "a list of patterns; default: none";
        if (values == "COUNT") shown = "1 to 100; default " + std::string(rule.standard);
        if (values == "PROCESSES") shown = "0 (default), or a number, 20 to 1000000";
        if (values.ends_with("PLACES")) shown = "`full` (default), `none`, or places";
        if (values == "MINUTES") shown = "minutes, 0 to 525600; default " + std::string(rule.standard);
        if (values == "NUMBER") shown = "a number, 0 to 1000; default " + std::string(rule.standard);
        const std::string standard = *rule.standard == '\0' ? ": none" : " `" + std::string(rule.standard) + "`";
        if (values == "NAME") shown = "a name; default" + standard;
        if (values == "WORDS") shown = "a line of words; default" + standard;
        if (values == "SIZE") shown = "a size, 64M to 999T; default " + std::string(rule.standard);
        if (values == "TOKENS") shown = "tokens; default " + std::string(rule.standard);
        if (values == "SECONDS") shown = "seconds, 1 to 86400; default " + std::string(rule.standard);
        CHECK_THAT(docs, Holds("| `" + std::string(rule.name) + "` | " + shown + " | " + rule.doc + " |"));
    }
}
