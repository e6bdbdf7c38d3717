#include "client/commands/wait_any.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "client/commands/everywhere.hpp"
#include "client/commands/host.hpp"
#include "client/commands/interrupts.hpp"
#include "client/commands/watch.hpp"
#include "client/connection/autostart.hpp"
#include "client/connection/child.hpp"
#include "client/hosts/ssh.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "common/rpc/errors.hpp"

namespace orange::commands {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr milliseconds k_turn_of_wait{500};
/// The extra time in which a host's answer may come after its time limit.
constexpr seconds k_way{15};
constexpr seconds k_no_limit = std::chrono::hours(24 * 365);

/// The result of the wait. Without a reply and without a time-out, no task can reach the status any more.
struct First {
    std::optional<Json> reply;
    bool timed_out = false;
    std::vector<std::string> problems;
};

/// Sends a `task.wait` for each task on its own connection. After the end of a daemon it continues with the next one.
class LocalWait {
  public:
    LocalWait(const Paths& paths, const std::vector<std::string>& tasks, rpc::TaskWait params)
        : paths_(paths), tasks_(tasks), params_(std::move(params)) {
        if (params_.timeout) until_ = steady_clock::now() + seconds(*params_.timeout);
    }

    Result<First> first() {
        TRY(auto connection, connection::connect_or_start(paths_));
        for (;;) {
            auto ended = wait_on(connection);
            if (!ended && ended.error().code != ErrorCode::unavailable) return ended.error();
            if (is_over_ || interrupted() || output::reader_is_gone()) return std::move(first_);
            TRY(connection, connection::connect_to_next(paths_));
        }
    }

  private:
    /// Sends the calls, and handles replies until the wait is over or the connection ends.
    Result<void> wait_on(connection::Connection& connection) {
        std::map<std::int64_t, std::string> open;
        std::optional<Error> failed;
        connection.on_reply([&](std::int64_t id, Result<Json> reply) {
            const auto task = open.extract(id);
            if (!task || is_over_) return;
            if (!reply) {
                failed = reply.error();
            } else {
                take(task.mapped(), std::move(*reply));
            }
        });
        for (const auto& task : tasks_) {
            if (given_up_.contains(task)) continue;
            params_.id = task;
            if (until_) params_.timeout = seconds_left();
            TRY(const auto id, connection.send_request(params_.k_name, written(params_)));
            open.emplace(id, task);
        }
        // The reader is gone if the link is lost through which another machine waits.
        while (!is_over_ && !failed && !interrupted() && !output::reader_is_gone()) {
            TRY(connection.wait_for_message(k_turn_of_wait));
        }
        return failed ? Result<void>(*failed) : Result<void>();
    }
    void take(const std::string& task, Json reply) {
        if (reply.value("reached", false)) {
            first_.reply = std::move(reply);
        } else if (reply.value("timed_out", false)) {
            first_.timed_out = true;
        } else {
            given_up_[task] = true;
            first_.problems.push_back(task + ": " + reply.value("why", ""));
        }
        is_over_ = first_.reply || first_.timed_out || given_up_.size() == tasks_.size();
    }
    std::int64_t seconds_left() const {
        return std::max<std::int64_t>(0, std::chrono::ceil<seconds>(*until_ - steady_clock::now()).count());
    }

    const Paths& paths_;
    const std::vector<std::string>& tasks_;
    rpc::TaskWait params_;
    std::optional<steady_clock::time_point> until_;
    std::map<std::string, bool> given_up_;
    First first_;
    bool is_over_ = false;
};

std::vector<std::string> words_for(const std::vector<std::string>& tasks, const rpc::TaskWait& params) {
    std::vector<std::string> words = {"task", "wait", "--any", join(tasks, ","), "--json"};
    if (!params.until.empty()) words.insert(words.end(), {"--for", join(params.until, ",")});
    if (params.timeout) words.insert(words.end(), {"--timeout", std::to_string(*params.timeout)});
    return words;
}

/// Tasks by host: the name of the host (empty: this machine), and its tasks.
using Groups = std::vector<std::pair<std::string, std::vector<std::string>>>;

/// Lets each host wait for its own tasks; the first answer ends all waits. A lost host is no longer waited for: its
/// tasks are unknown, and no conclusion is drawn.
Result<First> first_of_hosts(const Context& context, const Groups& groups, const rpc::TaskWait& params) {
    TRY(const auto known, known_hosts(context.paths));
    const auto limit = params.timeout ? seconds(*params.timeout) + k_way : k_no_limit;
    std::vector<hosts::Question> questions;
    for (const auto& [name, tasks] : groups) {
        hosts::Question question{{}, {}, limit, {}};
        const auto words = words_for(tasks, params);
        if (name.empty()) {
            question.argv = words;
            question.argv.insert(question.argv.begin(), connection::find_program("orange").value_or("orange").string());
            question.host.name = "this machine";
        } else {
            TRY(question.host, hosts::host_named(known, name, hosts::file_in(context.paths.home).string()));
            question.command = hosts::remote_command(question.host, words);
        }
        questions.push_back(std::move(question));
    }
    First first;
    const auto take = [&](std::size_t number, const hosts::Answer& answer) {
        if (first.reply) return true;
        const auto& name = groups[number].first;
        auto said = hosts::json_in(answer.out).json;
        if (said && said->value("reached", false)) {
            name_host(*said, name);
            first.reply = std::move(said);
            return true;
        }
        first.timed_out = first.timed_out || (said && said->value("timed_out", false));
        const auto has_error = said && said->contains("error");
        const auto error =
            answer.trouble || !has_error ? answer.trouble : std::optional(rpc::error_from_json((*said)["error"]));
        const auto why = error ? error->message : said ? said->value("why", "") : "its answer is no JSON";
        if (!said || !said->value("timed_out", false)) {
            const auto prefix = questions[number].host.name + ": ";
            const auto line = std::string(first_line(why)) + "; its tasks are not waited for any more";
            first.problems.push_back(line.starts_with(prefix) ? line : prefix + line);
            output::print_error("orange: " + printable(first.problems.back()) + "\n");
        }
        return false;
    };
    (void)hosts::ask(questions, take);
    return first;
}

int put_first(const Context& context, const First& first) {
    if (context.json) {
        const Json none = {{"reached", false}, {"timed_out", first.timed_out}, {"why", join(first.problems, "\n")}};
        put_json(first.reply.value_or(none));
    } else if (first.reply) {
        const auto& task = first.reply->at("task");
        output::put(printable(task.value("short_id", "")) + " " + printable(task.at("fields").value("status", "")) +
                    "\n");
    } else {
        const auto why = first.timed_out ? std::string("timed out") : join(first.problems, "\n");
        output::print_error("orange: " + printable(why, true) + "\n");
    }
    return first.reply ? 0 : first.timed_out ? k_timed_out : 1;
}

}  // namespace

Status task_wait_any(Context& context, const std::vector<std::string>& tasks, const rpc::TaskWait& params) {
    Groups groups;
    for (const auto& task : tasks) {
        const auto colon = task.find(':');
        const auto host = colon == std::string::npos ? "" : task.substr(0, colon);
        auto group = std::ranges::find(groups, host, &Groups::value_type::first);
        if (group == groups.end()) group = groups.insert(groups.end(), {host, {}});
        group->second.push_back(host.empty() ? task : task.substr(colon + 1));
    }
    const bool is_local = groups.size() == 1 && groups.front().first.empty();
    if (!is_local) TRY(check_human(context.paths));
    if (is_local) catch_interrupts();
    TRY(const auto first, is_local ? LocalWait(context.paths, groups.front().second, params).first()
                                   : first_of_hosts(context, groups, params));
    return put_first(context, first);
}

}  // namespace orange::commands
