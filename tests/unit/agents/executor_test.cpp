#include "daemon/agents/executor.hpp"

#include "common/base/forges.hpp"
#include "common/base/text.hpp"
#include "daemon/files/posix_file_system.hpp"
#include "tests/catch.hpp"
#include "tests/fakes/memory_file_system.hpp"
#include "tests/support/advanced_time.hpp"

using namespace orange;
using namespace orange::agents;

namespace {

using Words = std::vector<std::string>;

std::string error_in(const std::string& text) {
    const auto executor = load_executor(text, "box.yml");
    return executor ? "no error" : executor.error().message;
}

const std::string k_box = R"(name: box
separates: [files, memory]
check: [box, --version]
run: [box, "--name=orange-{run}", "{limits}", "{options}", --, "{inner}"]
stop: [box, rm, "orange-{run}"]
probe: [box, ls, "{user}"]
queued: [PENDING]
limits: {memory: ["--mem={memory}"]}
install: apt install box
)";

/// A library whose files are in memory.
struct Shelf {
    fakes::MemoryFileSystem files;
    ExecutorLibrary library{files, "/shipped", "/home/u/orange/executors"};
};

}  // namespace

TEST_CASE("An executor's definition is read whole") {
    const auto box = load_executor(k_box, "box.yml").value();
    CHECK(box.name == "box");
    CHECK(box.separates == Words{"files", "memory"});
    CHECK(box.check == Words{"box", "--version"});
    CHECK(box.run.size() == 6);
    CHECK(box.stop == Words{"box", "rm", "orange-{run}"});
    CHECK(box.queued == Words{"PENDING"});
    CHECK(box.install == "apt install box");
    CHECK_FALSE(box.is_direct());
}

TEST_CASE("What is wrong in an executor's definition is told with its place, all of it at once") {
    const auto message = error_in("name: box\nrun: [box, '{iner}', '{inner}']\nstopp: [box]\nseparates: [fils]\n");
    CHECK_THAT(message, Catch::StartsWith("box.yml:2:12: ") && Tells("{iner}") && Tells("inner"));
    CHECK_THAT(message, Holds("\nbox.yml:3:1: ") && Tells("stopp") && Tells("stop"));
    CHECK_THAT(message, Holds("\nbox.yml:4:13: ") && Tells("\"fils\"") && Tells("files"));

    struct Row {
        const char* text;
        const char* names;
    };
    const Row rows[] = {
        {"[]", "box.yml:1:1"},
        {"", "box.yml:1:1"},
        {"name: box", "\"run\""},
        {"run: ['{inner}']", "\"name\""},
        {"name: other\nrun: ['{inner}']", "\"other\""},
        {"name: box\nrun: []", "{inner}"},
        {"name: box\nrun: box", "box.yml:2:6"},
        {"name: box\nrun: [box]", "{inner}"},
        {"name: box\nrun: [box, '{inner}', '{inner}']", "2"},
        {"name: box\nrun: [box, 'x{inner}', '{inner}']", "box.yml:2:12"},
        {"name: box\nrun: [box, '--{options}', '{inner}']", "{options}"},
        {"name: box\nrun: [box, '{memory}', '{inner}']", "{memory}"},
        {"name: box\nrun: [box, '{limits}', '{inner}']", "limits"},
        {"name: box\nrun: [box, '{inner}']\nlimits: {memory: [m]}", "{limits}"},
        {"name: box\nrun: [box, '{limits}', '{inner}']\nlimits: {memory: ['{run}']}", "box.yml:3:19"},
        {"name: box\nrun: [box, '{limits}', '{inner}']\nlimits: {gpus: [c]}", "\"gpus\""},
        {"name: box\nrun: [box, '{limits}', '{inner}']\nlimits: {cpus: ['{memory}']}", "{memory}"},
        {"name: box\nrun: [box, '{inner}']\nlimits: {time: [t]}", "{limits}"},
        {"name: box\nrun: [box, '{inner}']\nended: [TO]", "box.yml:3:8"},
        {"name: box\nrun: [box, '{inner}']\nsocket: forth", "back"},
        {"name: box\nrun: ['{inner}']\nsocket: back", "box.yml:3:9"},
        {"name: box\nrun: [box, '{inner}']\nstop: [box, '{inner}']", "{inner}"},
        {"name: box\nrun: [box, '{inner}']\nstop: [box]\nprobe: [box, '{task}']", "{task}"},
        {"name: box\nrun: [box, '{inner}']\nprobe: [box]", "box.yml:3:8"},
        {"name: box\nrun: [box, '{inner}']\ncheck: [box, '{run}']", "{run}"},
        {"name: box\nrun: [box, '{inner}']\nqueued: [PD]", "box.yml:3:9"},
        {"name: box\nrun: [box, '{binds}', '{inner}']", "{binds}"},
        {"name: box\nrun: [box, '{inner}']\nbinds: {read: [r], write: [w]}", "{binds}"},
        {"name: box\nrun: [box, '{binds}', '{inner}']\nbinds: {read: [r]}", "box.yml:3:8"},
        {"name: box\nrun: [box, '{binds}', '{inner}']\nbinds: {read: ['{run}'], write: [w]}", "box.yml:3:16"},
        {"name: box\nrun: ['{inner}']\nunset: [A]", "box.yml:3:8"},
        {"name: box\nrun: ['{inner}']\nstop: [true]", "box.yml:3:7"},
        {"name: box\nrun: [box, '{inner}']\ntried: perhaps", "tried"},
        {"name: box\nrun: [box, '{inner}']\ninstall: |\n  a\n  b\n", "install"},
        {"name: box\nrun: [box, '{inner}'", "box.yml"},
    };
    for (const auto& row : rows) {
        INFO(row.text);
        CHECK_THAT(error_in(row.text), Tells(row.names));
    }
}

TEST_CASE("A placeholder becomes one word, or the words of its list, and never a line for a shell") {
    const auto box = load_executor(k_box, "box.yml").value();
    ExecutorValues values;
    values.words = {{"run", "r1; rm -rf /"}, {"task", "t"}};
    values.lists = {{"inner", {"/bin/orange-agent", "--inner", "/a b/spec.json"}},
                    {"options", {"-p", "two words"}},
                    {"limits", {}}};
    CHECK(expanded(box.run, values) == Words{"box", "--name=orange-r1; rm -rf /", "-p", "two words", "--",
                                             "/bin/orange-agent", "--inner", "/a b/spec.json"});
    // A value is not looked into again, and what is no placeholder stays.
    values.words["run"] = "{task}";
    CHECK(expanded({"{run}", "{{.Names}}", "{unknown}"}, values) == Words{"{task}", "{{.Names}}", "{unknown}"});
}

TEST_CASE("A definition says how its agents reach the daemon, what it limits, and when it has ended a run itself") {
    const auto text =
        "name: box\nrun: [box, '{limits}', '{inner}']\nstop: [box]\nprobe: [box]\nended: [TIMEOUT]\n"
        "limits: {cpus: [-c, '{cpus}'], time: ['-t{time}']}\nsocket: ";
    const auto back = load_executor(std::string(text) + "back\n", "box.yml").value();
    CHECK(back.calls_back);
    CHECK(back.ended == Words{"TIMEOUT"});
    CHECK(back.cpus == Words{"-c", "{cpus}"});
    CHECK(back.time == Words{"-t{time}"});
    CHECK_FALSE(load_executor(std::string(text) + "bind\n", "box.yml").value().calls_back);
    CHECK_FALSE(load_executor(k_box, "box.yml").value().calls_back);
}

TEST_CASE("The shipped definitions can be read, and slurm's agents call back") {
    PosixFileSystem files;
    const ExecutorLibrary shipped(files, ORANGE_SOURCE_DIR "/executors", "/nonexistent");
    const auto all = shipped.list();
    REQUIRE(all.size() == 4);
    for (const auto& entry : all) {
        INFO(entry.problem);
        CHECK(entry.problem.empty());
        CHECK(entry.executor.calls_back == (entry.executor.name == "slurm"));
        if (entry.executor.name != "slurm") continue;
        // Their words, and not those of a shell, are what a person reads when they fail.
        CHECK(entry.executor.check.front() == "srun");
        CHECK(entry.executor.stop.front() == "scancel");
        CHECK(entry.executor.probe.front() == "squeue");
        CHECK_FALSE(entry.executor.over.empty());
    }
}

TEST_CASE("A limit of memory is a number of mebibytes") {
    CHECK(memory_word(std::int64_t{12} << 30) == "12288M");
    CHECK(memory_word(1000) == "1M");
}

TEST_CASE("The line of a run says whether it waits, and where it is") {
    const std::string output = "orange-a PENDING \norange-ab RUNNING n1\norange-abc COMPLETING node two\n\nother\n";
    const Words queued = {"PENDING"};
    CHECK(probed(output, "orange-a", queued)->is_queued);
    CHECK(probed(output, "orange-a", queued)->place.empty());
    CHECK_FALSE(probed(output, "orange-ab", queued)->is_queued);
    CHECK(probed(output, "orange-ab", queued)->place == "n1");
    CHECK(probed(output, "orange-abc", queued)->place == "node two");
    CHECK_FALSE(probed(output, "orange-abcd", queued));
    CHECK(probed("orange-x", "orange-x", queued));  // as podman prints it: the names alone
    CHECK_FALSE(probed("", "orange-x", queued));
}

TEST_CASE("The user's definition of an executor stands before the shipped one, and a broken one says so") {
    Shelf shelf;
    shelf.files.files["/shipped/box.yml"] = k_box;
    shelf.files.files["/shipped/local.yml"] = "name: local\nrun: ['{inner}']\n";
    CHECK(shelf.library.find("box")->executor.run.front() == "box");
    shelf.files.files["/home/u/orange/executors/box.yml"] = "name: box\nrun: [mine, '{inner}']\n";
    CHECK(shelf.library.find("box")->executor.run.front() == "mine");
    shelf.files.files["/home/u/orange/executors/box.yml"] = "name: box\nrunn: [mine]\n";
    const auto broken = shelf.library.find("box");
    REQUIRE_FALSE(broken);
    CHECK(broken.error().code == ErrorCode::invalid_argument);
    CHECK_THAT(broken.error().message, Tells("/home/u/orange/executors/box.yml:2:1"));
    const auto all = shelf.library.list();
    REQUIRE(all.size() == 2);
    CHECK_FALSE(all[0].problem.empty());
    CHECK(all[1].executor.is_direct());

    for (const char* name : {"boks", "../local", "", "."}) {
        const auto none = shelf.library.find(name);
        REQUIRE_FALSE(none);
        CHECK(none.error().code == ErrorCode::not_found);
    }
    CHECK_THAT(shelf.library.find("boks").error().message, Tells("box"));
}

TEST_CASE("A pinned definition of an executor outlives its file, and says when it is gone or changed") {
    Shelf shelf;
    shelf.files.files["/shipped/box.yml"] = k_box;
    const auto entry = shelf.library.find("box").value();
    const auto hash = shelf.library.pin(entry).value();
    const auto writes = shelf.files.writes;
    CHECK(shelf.library.pin(entry).value() == hash);
    CHECK(shelf.files.writes == writes);
    shelf.files.files.erase("/shipped/box.yml");
    CHECK(shelf.library.pinned("box", hash)->run.front() == "box");

    const Path pin = "/home/u/orange/executors/.pinned/" + hash + ".yml";
    shelf.files.files[pin] += "# changed\n";
    CHECK(shelf.library.pinned("box", hash).error().code == ErrorCode::invalid_argument);
    shelf.files.files.erase(pin);
    const auto gone = shelf.library.pinned("box", hash);
    CHECK(gone.error().code == ErrorCode::not_found);
    CHECK_THAT(gone.error().message, Tells("orange task update --executor box") && Tells(pin.string()));
    CHECK(shelf.library.pinned("box", "../x").error().code == ErrorCode::invalid_argument);
}

TEST_CASE("A definition that an older version pinned is found under its old name") {
    Shelf shelf;
    const auto old = fast_hash(k_box);
    const Path pin = "/home/u/orange/executors/.pinned/" + old + ".yml";
    shelf.files.files[pin] = k_box;
    CHECK(shelf.library.pinned("box", old)->run.front() == "box");
    shelf.files.files[pin] += "# changed\n";
    CHECK(shelf.library.pinned("box", old).error().code == ErrorCode::invalid_argument);
}

TEST_CASE("Every shipped executor can be used, and local starts no process of its own") {
    PosixFileSystem files;
    const ExecutorLibrary library(files, Path(ORANGE_SOURCE_DIR) / "executors", "/nowhere");
    const auto entries = library.list();
    REQUIRE_FALSE(entries.empty());
    for (const auto& entry : entries) {
        INFO(entry.executor.name);
        CHECK(entry.problem.empty());
    }
    CHECK(library.find(k_local)->executor.is_direct());
    const auto bwrap = library.find("bwrap")->executor;
    CHECK(bwrap.hides_files());
    CHECK(bwrap.has_own_repository);
    CHECK(bwrap.takes("repository"));
    CHECK_FALSE(bwrap.takes("wall"));
    CHECK(std::ranges::count(bwrap.inside, "{inner}") == 1);
    CHECK(std::ranges::find(bwrap.inside, "{run_dir}") == bwrap.inside.end());
    CHECK_FALSE(bwrap.is_direct());

    std::vector<std::string> tokens(std::begin(k_other_tokens), std::end(k_other_tokens));
    for (const auto* forge : k_forges) {
        tokens.insert(tokens.end(), forge->tokens.begin(), forge->tokens.end());
        tokens.insert(tokens.end(), forge->own_tokens.begin(), forge->own_tokens.end());
    }
    for (const auto& token : tokens) {
        INFO(token);
        CHECK(std::ranges::find(bwrap.unset, token) != bwrap.unset.end());
    }
}

TEST_CASE("An executor with a repository of its own says what is behind its wall") {
    const auto load = [](const std::string& more) { return load_executor("name: box\n" + more, "box.yml"); };
    const std::string run = "run: [box, \"{wall}\", \"{inner}\"]\n", wall = "wall: [\"{repository}\", \"{link}\"]\n";
    const std::string inside = "inside: [box, \"{wall}\", \"{network}\", \"{inner}\"]\n";
    const auto whole = load("repository: own\n" + run + wall + inside + "without_network: [--off]\n").value();
    CHECK(whole.run == std::vector<std::string>{"box", "{repository}", "{link}", "{inner}"});
    CHECK(whole.inside == std::vector<std::string>{"box", "{repository}", "{link}", "{network}", "{inner}"});
    CHECK(whole.has_commands_inside());
    const auto outside = load("repository: own\nchecks: outside\n" + run + wall + inside).value();
    CHECK((outside.has_own_repository && !outside.has_commands_inside()));
    CHECK(whole.without_network == std::vector<std::string>{"--off"});
    CHECK_FALSE(whole.limits_network());  // run has no {network}
    const std::string off = "without_network: [--off]\n", open = "inside: [box, \"{wall}\", \"{inner}\"]\n";
    const std::string limited = "run: [box, \"{wall}\", \"{network}\", \"{inner}\"]\n";
    CHECK(load("repository: own\n" + limited + wall + inside + off).value().limits_network());
    CHECK_FALSE(load("repository: own\n" + limited + wall + open + off).value().limits_network());
    const auto refused = [&](const std::string& more) { return load(more).error().message; };
    CHECK_THAT(refused("repository: own\n" + run + wall), Holds("inside"));
    CHECK_THAT(refused("repository: own\nchecks: here\n" + run + wall + inside), Holds("checks must be inside"));
    CHECK_THAT(refused("checks: outside\nrun: [box, \"{inner}\"]\n"), Holds("checks belongs to repository: own"));
    CHECK_THAT(refused(run + wall + inside), Holds("repository: own"));
    CHECK_THAT(refused("repository: mine\n" + run + wall + inside), Holds("own") && Holds("shared"));
    CHECK_THAT(refused("repository: own\n" + run + inside), Holds("wall is missing"));
    CHECK_THAT(refused("repository: own\nrun: [box, \"{inner}\"]\n" + wall + inside), Holds("{link}"));
    CHECK_THAT(refused("repository: own\n" + run + wall + "inside: [box, \"{run_dir}\", \"{inner}\"]\n"),
               Holds("{run_dir}"));
}

TEST_CASE("What was found of an executor counts for the next start of that task alone, and not for long") {
    test::TestTime time;
    Shelf shelf;
    auto& library = shelf.library;
    const TaskId one{"one"}, other{"other"};
    library.note_usable(one, "hash");
    CHECK_FALSE(library.take_usable(other, "hash"));
    CHECK_FALSE(library.take_usable(one, "another hash"));
    CHECK(library.take_usable(one, "hash"));
    CHECK_FALSE(library.take_usable(one, "hash"));
    library.note_usable(one, "hash");
    time.advance(std::chrono::seconds(11));
    CHECK_FALSE(library.take_usable(one, "hash"));
}
