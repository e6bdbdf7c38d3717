// Where agents' programs are: on the PATH of real login shells, of interactive ones, of the terminal that a human calls
// from; and that an agent which was found so really starts.
#include <algorithm>

#include "common/rpc/doctor_methods.hpp"
#include "tests/catch.hpp"
#include "tests/integration/doctor.hpp"
#include "tests/integration/sandbox.hpp"

using namespace orange;
using namespace orange::tests;
namespace fs = std::filesystem;

namespace {

/// As Debian's: it returns early where the shell is not interactive, and nvm has added its lines at the end.
constexpr const char* k_bashrc =
    "case $- in\n    *i*) ;;\n      *) return;;\nesac\n"
    "echo 'Welcome back!'; echo 'PATH=/noise'\n"
    "export NVM_DIR=\"$HOME/.nvm\"\n"
    "PATH=\"$NVM_DIR/versions/node/v22.1.0/bin:$PATH\"\n";
constexpr const char* k_profile = "if [ -n \"$BASH_VERSION\" ]; then . \"$HOME/.bashrc\"; fi\n";

void write_program(const fs::path& file, const std::string& text) {
    fs::create_directories(file.parent_path());
    write_file(file, text);
    fs::permissions(file, fs::perms::owner_all);
}

/// An agent as npm installs it: a script whose interpreter lies beside it, on no other PATH. It tells how it was
/// started.
fs::path install_agent(const fs::path& bin) {
    write_program(bin / "mine-node", "#!/bin/sh\nprintf '%s\\n' \"$1\" >\"$HOME/started\"\nexec sleep 600\n");
    write_program(bin / "mine", "#!/usr/bin/env mine-node\n");
    return bin / "mine";
}

void define_agent(Sandbox& box, const std::string& more = {}) {
    fs::create_directories(box.home() / "harnesses");
    write_file(box.home() / "harnesses" / "mine.yml",
               "name: mine\nprogram: mine\nargv: {full: [--, '{prompt}']}\n" + more);
}

void restart_with_shell(Sandbox& box, const std::string& shell) {
    box.stop_daemon();
    box.start_daemon({}, {"SHELL=" + shell});
}

/// The client, called in an environment that has these variables too.
Ran orange_with(Sandbox& box, std::vector<std::string> variables, const std::vector<std::string>& args,
                const fs::path& cwd = {}) {
    variables.insert(variables.begin(), "/usr/bin/env");
    variables.push_back(program("orange").string());
    variables.insert(variables.end(), args.begin(), args.end());
    return box.try_run(variables, cwd);
}

std::string path_with(const fs::path& bin) {
    return "PATH=" + bin.string() + ":/usr/bin:/bin";
}

rpc::HarnessView view_of(Sandbox& box, const std::string& name) {
    for (const auto& harness : box.call(rpc::HarnessList{}).harnesses) {
        if (harness.name == name) return harness;
    }
    box.fail("there is no harness " + name);
}

/// Whether the daemon has written down where a terminal has this program. Other programs of the machine may be there.
bool is_kept(Sandbox& box, const std::string& program) {
    const auto file = box.home() / "programs.json";
    return fs::exists(file) && Json::parse(read_file(file)).at("paths").contains(program);
}

void check_that_it_starts(Sandbox& box, const fs::path& agent) {
    rpc::TaskCreate params;
    params.summary = "start";
    params.project = "shop";
    params.harness = params.review_harness = "mine";
    box.call(params);
    box.eventually("the agent runs", [&] { return fs::exists(box.root() / "started"); });
    box.eventually("it has told how", [&] { return read_file(box.root() / "started") == agent.string() + "\n"; });
}

}  // namespace

TEST_CASE("An agent that is on PATH by .bashrc alone is found and starts with its own interpreter") {
    Sandbox box;
    write_file(box.root() / ".profile", k_profile);
    write_file(box.root() / ".bashrc", k_bashrc);
    const auto agent = install_agent(box.root() / ".nvm/versions/node/v22.1.0/bin");
    define_agent(box);
    restart_with_shell(box, "/bin/bash");
    box.add_project("shop");
    const auto view = view_of(box, "mine");
    CHECK(view.program == agent.string());
    CHECK(view.found_in == "/bin/bash -l -i");
    CHECK(view.missing.empty());
    CHECK_THAT(box.orange({"harness", "list"}).out, Tells("/bin/bash -l -i"));
    const auto findings = box.call(rpc::DaemonDoctor{}).findings;
    CHECK(std::any_of(findings.begin(), findings.end(), [&](const auto& finding) {
        return tells(finding.text, "mine") && tells(finding.text, agent.string()) &&
               tells(finding.text, "/bin/bash -l -i");
    }));
    check_that_it_starts(box, agent);

    // `nvm install 23`, and the old version removed: a reload asks the shells again.
    fs::remove_all(box.root() / ".nvm");
    const auto newer = install_agent(box.root() / ".nvm/versions/node/v23.0.0/bin");
    auto bashrc = read_file(box.root() / ".bashrc");
    bashrc.replace(bashrc.find("v22.1.0"), 7, "v23.0.0");
    write_file(box.root() / ".bashrc", bashrc);
    const auto reloaded = box.orange({"daemon", "reload"});
    CHECK(reloaded.status == 0);
    CHECK_THAT(reloaded.out, Tells("mine") && Tells("v23.0.0"));
    CHECK(view_of(box, "mine").program == newer.string());
}

TEST_CASE("A .zshrc is read, too, whatever it prints") {
    Sandbox box;
    std::string shell = "/bin/zsh";
    if (!fs::exists(shell)) {
        // Reads what zsh reads, and when.
        shell = (box.root() / "shells/zsh").string();
        write_program(shell,
                      "#!/bin/sh\nwhile [ $# -gt 0 ]; do case $1 in\n"
                      "-l) [ -e \"$HOME/.zprofile\" ] && . \"$HOME/.zprofile\" ;;\n"
                      "-i) . \"$HOME/.zshrc\" ;;\n-c) exec /bin/sh -c \"$2\" ;;\nesac; shift; done\n");
    }
    write_file(box.root() / ".zshrc",
               "printf '\\033[31mPATH=/noise\\0A=b\\0'; echo complaint >&2\nPATH=\"$HOME/.npm-global/bin:$PATH\"\n");
    const auto agent = install_agent(box.root() / ".npm-global/bin");
    define_agent(box);
    restart_with_shell(box, shell);
    box.add_project("shop");
    CHECK(view_of(box, "mine").found_in == shell + " -l -i");
    check_that_it_starts(box, agent);
}

TEST_CASE("Where a shell hangs, the terminal's PATH is what counts, also after a restart") {
    Sandbox box;
    write_file(box.root() / ".profile", k_profile);
    write_file(box.root() / ".bashrc", "case $- in *i*) sleep 600;; esac\n");
    const auto bin = box.root() / "terminal/bin";
    define_agent(box);
    restart_with_shell(box, "/bin/bash");
    const auto repo = box.add_project("shop");

    const auto refused = orange_with(box, {path_with(bin)}, {"task", "create", "--harness", "mine", "x"}, repo);
    CHECK(refused.status == 1);
    CHECK_THAT(refused.err, Tells("orange daemon reload") && Tells("orange harness show mine"));
    CHECK_THAT(orange_with(box, {path_with(bin)}, {"harness", "show", "mine"}, repo).out,
               Holds("/bin/bash -l") && Holds("-i"));
    CHECK_FALSE(is_kept(box, "mine"));
    CHECK_THAT(box.call(rpc::HarnessList{}).searched, Tells("/bin/bash -l -i ("));

    const auto agent = install_agent(bin);
    CHECK_FALSE(view_of(box, "mine").installed);
    const auto ran = orange_with(box, {path_with(bin)}, {"run", "--harness", "mine", "start"}, repo);
    REQUIRE(ran.status == 0);
    box.eventually("it has told how", [&] {
        return fs::exists(box.root() / "started") && read_file(box.root() / "started") == agent.string() + "\n";
    });
    CHECK(view_of(box, "mine").found_in == "your terminal");
    CHECK(is_kept(box, "mine"));

    restart_with_shell(box, "/bin/sh");
    CHECK(view_of(box, "mine").program == agent.string());
    // A script with another PATH takes nothing away.
    CHECK(box.orange({"daemon", "reload"}).status == 0);
    CHECK(view_of(box, "mine").program == agent.string());
}

TEST_CASE("A terminal's PATH comes with daemon start and daemon reload, and never from an agent or a workspace") {
    Sandbox box;
    define_agent(box);
    const auto bin = box.root() / "terminal/bin";
    install_agent(bin);
    const auto repo = box.add_project("shop");
    const auto id = box.create("shop", "Later", true);

    for (const char* command : {"reload", "start"}) {
        const auto asked = orange_with(box, {path_with(bin), "ORANGE_TASK=" + id}, {"daemon", command}, repo);
        INFO(command << asked.out << asked.err);
        CHECK_FALSE(view_of(box, "mine").installed);
    }
    CHECK_FALSE(is_kept(box, "mine"));

    const auto inside = box.home() / "workspaces/shop--1/node_modules/.bin";
    install_agent(inside);
    CHECK(orange_with(box, {path_with(inside)}, {"daemon", "reload"}).status == 0);
    CHECK_FALSE(view_of(box, "mine").installed);

    const auto started = orange_with(box, {path_with(bin)}, {"daemon", "start"});
    CHECK(started.status == 0);
    CHECK_THAT(started.out, Tells("mine") && Tells((bin / "mine").string()));
    CHECK(view_of(box, "mine").found_in == "your terminal");

    const auto other = box.root() / "other/bin";
    install_agent(other);
    CHECK(orange_with(box, {path_with(other)}, {"daemon", "reload", "--json"}).status == 0);
    CHECK(view_of(box, "mine").program == (other / "mine").string());
}

TEST_CASE("A variable that the terminal has and agents do not is named with the places to set it, without its value") {
    Sandbox box;
    define_agent(box, "wants: [MINE_API_KEY, MINE_OTHER_KEY]\n");
    const auto bin = box.root() / "terminal/bin";
    install_agent(bin);
    const auto repo = box.add_project("shop");
    const std::vector<std::string> create = {"task", "create",     "--harness", "mine", "--review-harness",
                                             "mine", "--no-spawn", "--summary", "x"};
    const auto named = orange_with(box, {path_with(bin), "MINE_API_KEY=s3cret-value"}, create, repo);
    REQUIRE(named.status == 0);
    CHECK_THAT(named.out, Tells("MINE_API_KEY") && Tells((box.home() / "config.yml").string()) && Tells("profile") &&
                              !Holds("MINE_OTHER_KEY"));
    CHECK(named.out.find("MINE_API_KEY") == named.out.rfind("MINE_API_KEY"));
    for (const auto& entry : fs::recursive_directory_iterator(box.home())) {
        if (!entry.is_regular_file()) continue;
        CHECK_THAT(read_file(entry.path()), !Holds("s3cret-value"));
    }
    CHECK_THAT(read_file(box.home() / "orange.log"), !Holds(bin.string()));
    CHECK_THAT(orange_with(box, {path_with(bin), "MINE_API_KEY=s3cret-value"}, {"daemon", "reload"}).out,
               Tells("MINE_API_KEY"));

    write_file(box.home() / "config.yml", "env: {MINE_API_KEY: other}\n");
    CHECK(box.orange({"daemon", "reload"}).status == 0);
    const auto silent = orange_with(box, {path_with(bin), "MINE_API_KEY=s3cret-value"}, create, repo);
    CHECK(silent.status == 0);
    CHECK_THAT(silent.out, !Holds("MINE_API_KEY"));
    CHECK_THAT(orange_with(box, {}, {"harness", "show", "mine"}).out, Tells("MINE_API_KEY, MINE_OTHER_KEY"));
}
