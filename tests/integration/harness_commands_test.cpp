// `orange harness new` and `orange harness test`: how a person adds an agent program of their own.
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "common/base/text.hpp"
#include "common/rpc/harness_methods.hpp"
#include "common/rpc/project_methods.hpp"
#include "common/rpc/task_queries.hpp"
#include "tests/catch.hpp"
#include "tests/integration/background.hpp"
#include "tests/integration/doctor.hpp"
#include "tests/integration/sandbox.hpp"

using namespace orange;
using namespace orange::tests;
namespace fs = std::filesystem;

namespace {

/// A definition whose program is this script.
void define_script(Sandbox& box, const std::string& name, const std::string& script, const std::string& more = {}) {
    const auto folder = box.home() / "harnesses";
    fs::create_directories(folder);
    const auto program = folder / (name + "-agent");
    write_file(program, "#!/bin/sh\n" + script);
    ::chmod(program.c_str(), 0700);
    write_file(folder / (name + ".yml"),
               "name: " + name + "\nprogram: ./" + name + "-agent\nargv: {full: [--, \"{prompt}\"]}\n" + more);
}

/// A program that notes where it runs and then does nothing. The first line is its home, the second its process.
std::string noting(const fs::path& notes) {
    return "printf '%s\\n%s\\n' \"$ORANGE_HOME\" $$ >'" + notes.string() + "'\nexec sleep 600\n";
}

/// Whether nothing is left of a trial whose program has noted where it ran.
bool is_gone(const fs::path& notes) {
    const auto text = read_file(notes);
    const auto lines = split_lines(text);
    if (lines.size() < 2) return false;
    const auto pid = static_cast<pid_t>(std::strtol(std::string(lines[1]).c_str(), nullptr, 10));
    return !fs::exists(fs::path(lines[0]).parent_path()) && ::kill(pid, 0) != 0;
}

std::map<std::string, std::string> results_of(const std::string& json) {
    std::map<std::string, std::string> results;
    const auto report = Json::parse(json);
    for (const auto& step : report.at("steps"))
        results[step.at("step").get<std::string>()] = step.at("result").get<std::string>();
    return results;
}

}  // namespace

TEST_CASE("a new definition can be used at once, whatever it is made from") {
    Sandbox box;
    for (const auto& harness : box.call(rpc::HarnessList{}).harnesses) {
        INFO(harness.name);
        const auto name = "my-" + harness.name;
        const auto made = box.orange({"harness", "new", name, "--from", harness.name, "--json"});
        CHECK(made.status == 0);
        const auto file = box.home() / "harnesses" / (name + ".yml");
        CHECK(Json::parse(made.out).at("path") == file.string());
        rpc::HarnessShow show;
        show.name = harness.name;
        const auto source = box.call(show);
        show.name = name;
        const auto copy = box.call(show);
        CHECK(copy.argv == source.argv);
        CHECK(copy.harness.installed == source.harness.installed);
        CHECK_FALSE(copy.harness.tried);
        const auto lines = split_lines(copy.text);
        for (std::size_t i = 1; i < lines.size(); ++i) {
            if (lines[i].empty() || lines[i].front() < 'a' || lines[i].starts_with("name:")) continue;
            INFO(lines[i]);
            CHECK(lines[i - 1].starts_with("# "));
        }
    }
}

TEST_CASE("a new definition replaces no file unless it is told to, and refuses what cannot be a name") {
    Sandbox box;
    const auto file = box.home() / "harnesses" / "mine.yml";
    const auto made = box.orange({"harness", "new", "mine", "--from", "demo"});
    CHECK(made.status == 0);
    CHECK_THAT(made.out, Tells("orange harness test mine") && Tells(file.string()));
    write_file(file, read_file(file) + "# mine\n");
    const auto again = box.orange({"harness", "new", "mine"});
    CHECK(again.status == 1);
    CHECK_THAT(again.err, Tells("--force"));
    CHECK_THAT(read_file(file), Holds("# mine"));
    CHECK(box.orange({"harness", "new", "mine", "--from", "nobody", "--force"}).status == 1);
    CHECK_THAT(read_file(file), Holds("# mine"));
    CHECK(box.orange({"harness", "new", "mine", "--from", "pi", "--force"}).status == 0);
    CHECK_THAT(read_file(file), !Holds("# mine"));
    for (const std::string name : {"", "Mine", "../mine", "-x", "_x", "a b", "a\nb", "\xff"}) {
        CHECK(box.orange({"harness", "new", "--", name}).status != 0);
    }
    const auto files = fs::directory_iterator(box.home() / "harnesses");
    CHECK(std::distance(begin(files), end(files)) == 1);
}

TEST_CASE("a trial of the demo agent passes, and touches nothing of the user's") {
    const auto never = fs::temp_directory_path() / ("orange-never-" + std::to_string(::getpid()));
    Sandbox box("notify: [touch, \"" + never.string() + "\"]\nchecks: [\"false\"]\nenv:\n  A: b\n");
    const auto done = box.orange({"harness", "test", "demo", "--json"});
    INFO(done.out << done.err);
    CHECK(done.status == 0);
    const auto results = results_of(done.out);
    for (const char* step : {"program", "start", "prompt", "edit", "commit", "call", "hand over", "message", "end"}) {
        INFO(step);
        CHECK(results.at(step) == "PASS");
    }
    CHECK(Json::parse(done.out).at("passed") == true);
    CHECK(box.call(rpc::ProjectList{}).projects.empty());
    CHECK(box.call(rpc::TaskList{}).tasks.empty());
    CHECK_FALSE(fs::exists(never));
}

TEST_CASE("a trial says which step fails, and shows the window of the program") {
    Sandbox box;
    const auto notes = box.root() / "notes";
    define_script(box, "ends", "echo 'unknown option: --'\nexit 1\n");
    const auto ends = box.orange({"harness", "test", "ends", "--yes", "--json"});
    INFO(ends.out << ends.err);
    CHECK(ends.status == 1);
    CHECK(results_of(ends.out).at("start") == "FAIL");
    CHECK(results_of(ends.out).at("end") == "PASS");
    CHECK_THAT(Json::parse(ends.out).at("window").get<std::string>(), Holds("unknown option: --"));

    define_script(box, "deaf", noting(notes));
    const auto deaf = box.orange({"harness", "test", "deaf", "--yes", "--json", "--timeout", "3"});
    INFO(deaf.out << deaf.err);
    CHECK(deaf.status == 1);
    CHECK(results_of(deaf.out).at("start") == "PASS");
    CHECK(results_of(deaf.out).at("prompt") == "FAIL");
    CHECK(results_of(deaf.out).at("message") == "UNKNOWN");
    CHECK(results_of(deaf.out).at("end") == "PASS");
    box.eventually("nothing is left", [&] { return is_gone(notes); });

    write_file(box.home() / "harnesses" / "missing.yml",
               "name: missing\nprogram: no-such-program\nargv: {full: [--, \"{prompt}\"]}\n");
    const auto missing = box.orange({"harness", "test", "missing", "--yes", "--json"});
    CHECK(missing.status == 1);
    CHECK(results_of(missing.out).at("program") == "FAIL");

    write_file(box.home() / "harnesses" / "broken.yml", "name: broken\nprogramme: x\n");
    const auto broken = box.orange({"harness", "test", "broken", "--yes"});
    CHECK(broken.status == 1);
    CHECK_THAT(broken.err, Tells("programme") && Tells("broken.yml"));
}

TEST_CASE("a trial of a program without a login, or with a question, fails and shows its line") {
    Sandbox box;
    define_script(box, "login", "echo 'Please run /login'\nexec sleep 600\n",
                  "screen: {limited: [Please run /login]}\n");
    define_script(box, "asks", "echo 'Do you trust it? (y/n)'\nexec sleep 600\n",
                  "waiting_patterns: [\"Do you trust it?\"]\n");
    Background login(box, "login", {"harness", "test", "login", "--yes", "--json"});
    Background asks(box, "asks", {"harness", "test", "asks", "--yes", "--json"});
    const auto check = [](Background& trial, const std::string& line) {
        CHECK(trial.status() == 1);
        INFO(trial.out() << trial.err());
        CHECK(results_of(trial.out()).at("start") == "FAIL");
        CHECK_THAT(Json::parse(trial.out()).at("steps").dump(), Holds(line));
        CHECK(results_of(trial.out()).at("end") == "PASS");
    };
    check(login, "Please run /login");
    check(asks, "Do you trust it? (y/n)");
}

TEST_CASE("a trial says which errors Orange would miss in the window of this version, and doctor remembers it") {
    Sandbox box;
    const std::string told = "echo busy >>\"$ORANGE_EVENTS\"; echo idle >>\"$ORANGE_EVENTS\"\n";
    const std::string title = "\\n\\n  model - [orange] # Task: a trial\\n";
    const std::string definition =
        "version_args: [--version]\nmeasured: \"1.0.0\"\nevents: {busy: [busy], idle: [idle]}\n"
        "screen: {composer_empty: [\">\"], limited: [\"API Error\"], otherwise: idle}\n"
        "usage_limit: {screen: [You have hit your limit], resets: [\"again at \"]}\n";
    const auto play = [&](const std::string& window) {
        define_script(
            box, "newer",
            "[ \"$1\" = --version ] && echo 1.1.0 && exit\n" + told + "printf '" + window + "'\nexec sleep 600\n",
            definition);
        const auto done = box.orange({"harness", "test", "newer", "--yes", "--json", "--timeout", "3"});
        INFO(done.out << done.err);
        return results_of(done.out).at("news");
    };
    CHECK(play("Done.\\n\\n>" + title) == "PASS");
    CHECK(diagnose(box).said("programs").find("API Error") == std::string::npos);

    // The next version draws another prompt.
    CHECK(play("Done.\\n\\n[ask]" + title) == "FAIL");
    const auto said = diagnose(box);
    CHECK_THAT(said.said("programs"), Holds("API Error") && Holds("You have hit your limit") && Holds("1.1.0"));
    CHECK(std::ranges::any_of(
        said.findings, [](const rpc::Finding& finding) { return finding.command == "orange harness test newer"; }));
    // The result is one of the program that was tried.
    const auto program = box.home() / "harnesses/newer-agent";
    write_file(program, read_file(program) + "# of another version\n");
    CHECK(diagnose(box).said("programs").find("API Error") == std::string::npos);
}

TEST_CASE("a trial answers no question of trust, and waits for an answer only where a person is") {
    Sandbox box;
    const auto notes = box.root() / "notes";
    define_script(
        box, "asks",
        "printf '%s\\n' \"$@\" >'" + notes.string() +
            "'\necho 'Do you trust it? (y/n)'\nread -r answer && echo \"answered $answer\" >>'" + notes.string() +
            "'\nexec sleep 600\n",
        "trust: {args: [--trust], dialog: [\"Do you trust it?\"]}\nwaiting_patterns: [\"Do you trust it?\"]\n");
    const auto file = box.home() / "harnesses/asks.yml";
    auto text = read_file(file);
    text.replace(text.find("[--, "), 5, "[\"{trust_args}\", --, ");
    write_file(file, text);
    const auto plain = box.orange({"harness", "test", "asks", "--yes", "--json"});
    INFO(plain.out << plain.err);
    CHECK(results_of(plain.out).at("start") == "FAIL");
    CHECK_THAT(read_file(notes), !Holds("--trust") && !Holds("answered"));
    const auto trusted = box.orange({"harness", "test", "asks", "--yes", "--json", "--trust"});
    CHECK_THAT(read_file(notes), Holds("--trust") && !Holds("answered"));
    // Nobody reads what is printed as JSON.
    const auto terminal = box.on_terminal("orange harness test asks --yes --json", box.home(), {"y"});
    INFO(terminal.out);
    CHECK(terminal.status == 1);
    CHECK_THAT(read_file(notes), !Holds("answered"));
}

TEST_CASE("Ctrl-C ends a trial, and nothing is left of it") {
    Sandbox box;
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
        INFO(number);
        const auto notes = box.root() / ("notes" + std::to_string(number));
        define_script(box, "deaf", noting(notes));
        Background trial(box, "trial" + std::to_string(number), {"harness", "test", "deaf", "--yes"});
        box.eventually("the program runs", [&] { return fs::exists(notes) && read_file(notes).ends_with('\n'); });
        trial.signal(number);
        CHECK(trial.status() == 1);
        box.eventually("nothing is left", [&] { return is_gone(notes); });
    }
}

TEST_CASE("what a program leaves behind at its end is said, and ended") {
    Sandbox box;
    const auto notes = box.root() / "notes";
    const auto helper = box.root() / "helper";
    write_file(helper, "#!/bin/sh\n" + noting(notes));
    ::chmod(helper.c_str(), 0700);
    define_script(box, "leaves", "(cd / && exec setsid '" + helper.string() + "') &\nsleep 1\nexit 1\n");
    const auto done = box.orange({"harness", "test", "leaves", "--yes", "--json"});
    INFO(done.out << done.err);
    CHECK(done.status == 1);
    CHECK(results_of(done.out).at("end") == "FAIL");
    box.eventually("nothing is left", [&] { return is_gone(notes); });
}

TEST_CASE("a trial that may cost money starts only if the human agrees") {
    Sandbox box;
    const auto mark = box.home() / "started";
    define_script(box, "paid", "touch '" + mark.string() + "'\n");
    const auto refused = box.orange({"harness", "test", "paid"});
    CHECK(refused.status == 1);
    CHECK_THAT(refused.err, Tells("orange harness test paid --yes"));
    CHECK(box.on_terminal("orange harness test paid", box.home(), {"n"}).status == 1);
    CHECK_FALSE(fs::exists(mark));
    CHECK(box.orange({"harness", "test", "nobody", "--yes"}).status == 1);
}
