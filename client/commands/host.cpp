#include "client/commands/host.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "client/commands/everywhere.hpp"
#include "client/commands/files.hpp"
#include "client/connection/autostart.hpp"
#include "client/connection/daemon_socket.hpp"
#include "client/hosts/ssh.hpp"
#include "client/output/table.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "common/config/home_check.hpp"
#include "common/rpc/caller_methods.hpp"
#include "common/rpc/daemon_methods.hpp"

namespace orange::commands {
namespace {

using hosts::Host;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr int k_wrong_usage = 2;
/// The deadline of `host test`, for whose result a person waits.
constexpr milliseconds k_test_deadline{20'000};
/// The patience with the daemon that identifies the caller. A daemon that does not answer in this time cannot do it.
constexpr milliseconds k_patience{1000};
/// The patience with the daemon of this machine when a host has answered: one that is the same answers, too.
constexpr milliseconds k_long_patience{5000};
/// Two answers about one daemon's age may differ by this time, and by what the answers took.
constexpr milliseconds k_same_age{3000};

Result<Host> find_host(const Paths& paths, const std::string& name) {
    TRY(const auto all, known_hosts(paths));
    return hosts::host_named(all, name, hosts::file_in(paths.home).string());
}

hosts::Answer ask_one(const Host& host, const std::vector<std::string>& words) {
    return hosts::ask({{host, hosts::remote_command(host, words), k_test_deadline}}).front();
}

/// Returns true if the daemon on the host is the one of this machine and home. `asked`: when the host was asked.
bool is_own_daemon(const Paths& paths, const Json& there, steady_clock::time_point asked) {
    auto daemon = connection::open_daemon(paths, k_long_patience, {k_long_patience, k_long_patience});
    if (!daemon) return false;
    const auto here = daemon->call(rpc::DaemonStatus{});
    const auto older =
        std::chrono::seconds(here ? here->uptime_seconds - there.value("uptime_seconds", std::int64_t{0}) : 0);
    return here && there.value("home", "") == here->home && there.value("pid", std::int64_t{0}) == here->pid &&
           older >= -k_same_age && older <= k_same_age + (steady_clock::now() - asked);
}

struct Tested {
    std::string version;
    milliseconds took{0};
    Json daemon;                        ///< null: no daemon runs
    std::vector<std::string> problems;  ///< sentences, each with the way out
};

Result<Tested> test(const Paths& paths, const Host& host) {
    const auto version = ask_one(host, {"version", "--json"});
    if (version.trouble) return *version.trouble;
    const auto said = hosts::json_in(version.out);
    if (version.status != 0 || !said.json || !said.json->contains("version")) {
        return {ErrorCode::external_failed, host.name + ": " + printable(host.program) +
                                                " there is not an orange that knows --json. See what it says:\n  ssh " +
                                                shell_word(host.ssh) + " " + shell_word(host.program) + " version"};
    }
    Tested tested;
    tested.version = said.json->value("version", "");
    tested.took = version.took;
    if (!said.noise.empty()) {
        tested.problems.push_back(hosts::about_noise(said.noise));
    }
    const auto asked = steady_clock::now();
    const auto status = ask_one(host, {"daemon", "status", "--json"});
    if (status.trouble) return *status.trouble;
    tested.took = std::max(tested.took, status.took);
    const auto daemon = hosts::json_in(status.out);
    if (status.status == 0 && daemon.json) tested.daemon = *daemon.json;
    if (tested.daemon.is_object() && is_own_daemon(paths, tested.daemon, asked)) {
        tested.problems.push_back(
            "this host is the machine that you are on; its tasks are here without it:\n"
            "  orange host remove " +
            host.name);
    }
    return tested;
}

/// Returns the deadline for a host that answers in that time: half as much more, since the way there is not always as
/// quick.
std::chrono::seconds deadline_for(milliseconds took) {
    return std::clamp(std::chrono::ceil<std::chrono::seconds>(took * 3 / 2), std::chrono::seconds(1),
                      std::chrono::seconds(60));
}

std::string tested_page(const Host& host, const Tested& tested, const output::Style& style) {
    std::string page =
        host.name + ": orange " + printable(tested.version) + ", answered in " + std::to_string(tested.took.count()) +
        " ms\n" +
        (tested.daemon.is_object() ? "  its daemon runs\n" : "  no daemon runs there; the first command starts it\n");
    for (const auto& problem : tested.problems) {
        for (const auto line : split_lines(problem)) {
            page += line.starts_with("  ") ? std::string(line) + "\n" : output::wrapped(line, "  ", style.width);
        }
    }
    return page;
}

Json host_json(const Host& host) {
    return {{"name", host.name}, {"ssh", host.ssh}, {"program", host.program}, {"deadline", host.deadline.count()}};
}

Result<void> save(const Paths& paths, const std::string& text) {
    TRY(make_home(paths.home));
    return replace_file(hosts::file_in(paths.home), text, 0600);
}

}  // namespace

Result<std::vector<Host>> known_hosts(const Paths& paths) {
    return hosts::read_hosts(paths.home);
}

/// A daemon treats callers through ssh as humans. So before the client uses ssh, it asks its own daemon who the caller
/// is. If no daemon runs, or it is older than this method, that check is skipped.
Result<void> check_human(const Paths& paths) {
    const std::string refused = "an agent may not use other hosts";
    if (connection::inside_agent()) return {ErrorCode::forbidden, refused + "; ask a human to do it"};
    TRY(connection::check_daemon_socket(paths));
    auto daemon = connection::open_daemon(paths, k_patience, {k_patience, k_patience});
    if (!daemon) return {};
    const auto caller = daemon->call(rpc::DaemonCaller{});
    if (!caller && caller.error().code == ErrorCode::forbidden) return in_context(refused, caller.error());
    if (caller && caller->role != name_of(Role::human)) {
        return {ErrorCode::forbidden,
                refused + ", and this call comes from a " + caller->role + " (" + caller->evidence + ")"};
    }
    return {};
}

std::string host_of_environment() {
    const char* variable = std::getenv("ORANGE_HOST");
    return variable && *variable && !connection::inside_agent() ? variable : "";
}

namespace {

/// Lets `orange try` on the host say how its port is reached from here.
std::vector<std::string> with_tunnel(std::vector<std::string> words, const Host& host) {
    const auto begin = std::ranges::find_if(words, [](const auto& word) { return word != "--json"; });
    if (words.end() - begin >= 2 && *begin == "task" && *(begin + 1) == "try") {
        words.insert(begin + 2, "--tunnel=" + host.ssh);
    }
    return words;
}

/// Says that so many files come through standard input. They do not pass through a terminal.
std::vector<std::string> with_files(std::vector<std::string> words, std::size_t count) {
    auto place = std::ranges::find_if(words, [](const auto& word) { return word != "--json"; });
    if (count == 0 || place == words.end()) return words;
    place += *place == "task" && place + 1 != words.end() ? 2 : 1;
    words.insert(place, "--files-from-stdin=" + std::to_string(count));
    return words;
}

std::string name_of_this_machine() {
    char name[256] = {};
    return ::gethostname(name, sizeof name - 1) == 0 && *name != '\0' ? first_line(printable(name)) : "another machine";
}

Result<std::vector<connection::GivenFile>> open_for_host(const std::vector<std::string>& paths,
                                                         const std::vector<std::string>& words) {
    TRY(auto files, connection::open_given(paths));
    const bool reads = std::ranges::any_of(words, [](const auto& word) { return word == "-" || word.ends_with("=-"); });
    if (!files.empty() && reads && ::isatty(STDIN_FILENO) == 1) {
        return {ErrorCode::invalid_argument,
                "with --file and a host, - does not read from the terminal. Pipe the text into the command, or give it "
                "in quotes"};
    }
    for (auto& file : files) file.origin = name_of_this_machine() + ":" + file.origin;
    return files;
}

}  // namespace

Status on_host(Context& context, const std::string& name, const std::vector<std::string>& words,
               const std::vector<std::string>& files) {
    TRY(check_human(context.paths));
    TRY(const auto host, find_host(context.paths, name));
    TRY(const auto given, open_for_host(files, words));
    const bool terminal = !context.json && given.empty() && ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1;
    TRY(const auto ended, hosts::run_on(host, with_files(with_tunnel(words, host), given.size()), terminal, given));
    if (ended.trouble) fail(context, *ended.trouble);
    if (ended.status == k_wrong_usage && !context.json) {
        output::print_error("orange: this is the answer of " + host.name +
                            ", whose orange may be of another version: orange --host " + host.name + " version\n");
    }
    return ended.status;
}

Status host_add(Context& context, Host host) {
    if (host.ssh.empty()) host.ssh = host.name;
    TRY(hosts::check_host(host));
    TRY(const auto text, hosts::text_in(context.paths.home));
    const auto file = hosts::file_in(context.paths.home).string();
    TRY(const auto all, hosts::parse_hosts(text, file));
    const auto same = std::ranges::find(all, host.name, &Host::name);
    if (same != all.end()) {
        return {ErrorCode::conflict, "there is a host \"" + host.name + "\" already (" + same->ssh +
                                         "). To replace it:\n  orange host remove " + host.name};
    }
    TRY(save(context.paths, hosts::with_host(text, host)));
    if (context.json) return put_json({{"host", host_json(host)}});
    output::put("Added " + host.name + " to " + file + ". To try it:\n  orange host test " + host.name + "\n");
    return 0;
}

Status host_list(Context& context) {
    TRY(const auto all, known_hosts(context.paths));
    if (context.json) {
        Json list = Json::array();
        for (const auto& host : all) list.push_back(host_json(host));
        return put_json({{"hosts", list}});
    }
    if (all.empty()) {
        output::put("No hosts. To add one: orange host add NAME me@machine\n");
        return 0;
    }
    output::Table table({{"NAME"}, {"SSH", 10}, {"PROGRAM", 10, 2}, {"DEADLINE", 0, 1}});
    for (const auto& host : all) {
        table.row(
            {{host.name, output::k_bold}, {host.ssh}, {host.program}, {std::to_string(host.deadline.count()) + " s"}});
    }
    output::put(table.render(context.style));
    return 0;
}

Status host_remove(Context& context, const std::string& name) {
    TRY(const auto host, find_host(context.paths, name));
    TRY(const auto text, hosts::text_in(context.paths.home));
    TRY(save(context.paths, hosts::without_host(text, host)));
    forget_host(context.paths, name);
    if (context.json) return put_json({{"removed", name}});
    output::put("Removed " + name + " from the list. Its tasks and agents go on there.\n");
    return 0;
}

Status host_test(Context& context, const std::string& name) {
    TRY(check_human(context.paths));
    TRY(auto host, find_host(context.paths, name));
    TRY(const auto tested, test(context.paths, host));
    const auto needed = deadline_for(tested.took);
    const bool is_longer = needed > host.deadline;
    if (is_longer) {
        host.deadline = needed;
        TRY(const auto text, hosts::text_in(context.paths.home));
        TRY(save(context.paths, hosts::with_host_changed(text, host)));
    }
    if (context.json) {
        put_json({{"host", host_json(host)},
                  {"version", tested.version},
                  {"round_trip_ms", tested.took.count()},
                  {"daemon", tested.daemon},
                  {"problems", tested.problems}});
    } else {
        output::put(tested_page(host, tested, context.style));
        if (is_longer) {
            output::put("  --everywhere now waits " + std::to_string(needed.count()) + " s for it: deadline in " +
                        hosts::file_in(context.paths.home).string() + "\n");
        }
    }
    return tested.problems.empty() ? 0 : 1;
}

}  // namespace orange::commands
