#include "client/commands/everywhere.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "client/commands/files.hpp"
#include "client/commands/host.hpp"
#include "client/connection/autostart.hpp"
#include "client/hosts/ssh.hpp"
#include "client/output/local_time.hpp"
#include "common/base/clock.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "common/config/home_check.hpp"
#include "common/rpc/errors.hpp"
#include "common/rpc/task_queries.hpp"

namespace orange::commands {
namespace {

using hosts::Host;

constexpr const char* k_queries[] = {"inbox", "list"};
/// The time for a host of which nothing is known yet: without an answer, nothing at all could be shown.
constexpr std::chrono::seconds k_first_deadline{5};

Result<void> make_answers_folder(const Paths& paths) {
    const auto folder = hosts::answer_file(paths.home, "", "").parent_path();
    TRY(make_private_folder(folder.parent_path()));
    return make_private_folder(folder);
}

/// Returns the file that is locked while a late answer is waited for.
std::filesystem::path late_lock(const Paths& paths, const std::string& host, const std::string& query) {
    return hosts::answer_file(paths.home, host, query).replace_extension("lock");
}

/// Stores an answer. The query succeeds without it, so a failure is ignored.
void remember(const Paths& paths, const Host& host, const HostQuery& query, const Json& reply, Timestamp now) {
    const auto file = hosts::answer_file(paths.home, host.name, query.name);
    if (!make_answers_folder(paths)) return;
    const Json answer = {{"at", to_rfc3339(now)}, {"reply", reply}};
    (void)replace_file(file, dump(answer) + "\n", 0600);
}

struct Remembered {
    std::string at;
    Json reply;
};

/// Checks that this version can show a list of tasks.
Result<void> check_list(const Json& reply) {
    TRY(connection::reply_as<rpc::TaskList::Reply>(rpc::TaskList::k_name, reply));
    return {};
}

std::optional<Remembered> remembered(const Paths& paths, const std::string& host, const std::string& query) {
    const auto text = text_of_file(hosts::answer_file(paths.home, host, query));
    auto json = text ? parse_json(*text) : Result<Json>(Error());
    if (!json || !json->is_object() || !json->contains("reply")) return std::nullopt;
    const auto at = json->find("at");
    if (at == json->end() || !at->is_string() || !check_list((*json)["reply"])) return std::nullopt;
    return Remembered{at->get<std::string>(), std::move((*json)["reply"])};
}

/// Returns the command for the shell on the host. The command starts in /, so that no folder there selects a project.
std::string command_for(const Host& host, const HostQuery& query) {
    auto words = query.words;
    words.emplace_back("--json");
    return "cd / && " + hosts::remote_command(host, words);
}

/// Returns the list in the output of a host's orange. Errors do not name the host.
Result<hosts::Said> list_in(std::string_view out) {
    auto said = hosts::json_in(out);
    if (!said.json) {
        const auto noise = std::string(trim(said.noise));
        return {ErrorCode::external_failed,
                noise.empty() ? "it has answered nothing"
                              : "its answer is no JSON: \"" + ellipsized(printable(first_line(noise)), 80) + "\""};
    }
    if (const auto error = said.json->find("error"); error != said.json->end()) return rpc::error_from_json(*error);
    TRY(check_list(*said.json));
    return said;
}

Result<hosts::Said> list_of(const Host& host, const hosts::Answer& answer) {
    if (answer.trouble) return *answer.trouble;
    auto list = list_in(answer.out);
    if (list) return list;
    auto error = list.error();
    error.message = host.name + ": " + error.message;
    return error;
}

/// Puts the host in front of the task's id in the commands of a text, so that they can be copied.
void name_host_in_commands(Json& text, const std::string& id, const std::string& host) {
    if (!text.is_string()) return;
    std::vector<std::string> lines;
    for (const auto each : split_lines(text.get_ref<const std::string&>())) {
        std::string line(each);
        const auto at = line.find("orange ") == std::string::npos ? std::string::npos : line.find(" " + id);
        if (at != std::string::npos) line.insert(at + 1, host + ":");
        lines.push_back(std::move(line));
    }
    text = join(lines, "\n");
}

/// Returns a key of id and folder, which are never equal on two machines.
std::string key_of(const Json& task) {
    return task.at("fields").at("id").get<std::string>() + " " + task.value("path", "");
}

class Gathering {
  public:
    Gathering(Json here, const HostQuery& query) : whole_(std::move(here)), query_(query) {
        for (const auto& task : whole_["tasks"]) owners_[key_of(task)] = "";
        whole_["hosts"] = Json::array();
    }

    void add(const Host& host, Json reply, const std::string& as_of, const std::optional<Error>& trouble,
             bool has_answered) {
        Json state = {{"name", host.name}, {"answered", has_answered}, {"as_of", as_of}};
        if (trouble) state["error"] = rpc::error_json(*trouble);
        if (const auto twin = twin_of(reply)) {
            const auto what = twin->empty() ? "is the machine that you are on" : "is the same machine as " + *twin;
            state["error"] =
                rpc::error_json({ErrorCode::conflict, host.name + ": " + what + "\n  orange host remove " + host.name});
        } else {
            for (auto& task : reply["tasks"]) add_task(host, std::move(task));
            if (!query_.project) {
                add_number("hidden", reply);
                if (reply.contains("beyond_limit")) add_number("beyond_limit", reply);
            }
        }
        whole_["hosts"].push_back(std::move(state));
    }
    void add_unknown(const Host& host, const Error& trouble) {
        whole_["hosts"].push_back({{"name", host.name}, {"answered", false}, {"error", rpc::error_json(trouble)}});
    }
    /// Returns the tasks in order: first those that need their human, most urgent and longest waiting on top, then the
    /// others, host by host.
    Json take() {
        auto& tasks = whole_["tasks"].get_ref<Json::array_t&>();
        const auto urgency = [](const Json& task) {
            const auto needs = task.value("needs", Json::object());
            const auto kind = from_name(needs.value("kind", ""), Need::nothing).value_or(Need::nothing);
            return std::pair(-static_cast<int>(kind), kind == Need::nothing ? "" : needs.value("since", ""));
        };
        std::ranges::stable_sort(tasks, {}, urgency);
        return std::move(whole_);
    }

  private:
    std::optional<std::string> twin_of(const Json& reply) const {
        for (const auto& task : reply.at("tasks")) {
            const auto owner = owners_.find(key_of(task));
            if (owner != owners_.end()) return owner->second;
        }
        return std::nullopt;
    }
    void add_number(const char* name, const Json& reply) {
        whole_[name] = whole_.value(name, std::int64_t{0}) + reply.value(name, std::int64_t{0});
    }
    void add_task(const Host& host, Json task) {
        owners_[key_of(task)] = host.name;
        if (query_.project && task.at("fields").value("project", "") != *query_.project) return;
        name_host_in_notices(task, host.name);
        name_host(task, host.name);
        task["host"] = host.name;
        whole_["tasks"].push_back(std::move(task));
    }

    Json whole_;
    const HostQuery& query_;
    std::map<std::string, std::string> owners_;  ///< the host of each task; empty: this machine
};

/// Returns "12:03", with the day if it may be another one.
std::string clock_text(const std::string& stamp) {
    constexpr auto k_same_day = std::chrono::hours(12);
    const auto time = from_rfc3339(stamp);
    const bool is_near = time && SystemClock().now() - *time < k_same_day;
    const auto text = is_near ? output::local_clock(stamp) : output::local_time(stamp);
    return text.size() > 3 && time ? text.substr(0, text.size() - 3) : printable(text);
}

}  // namespace

void name_host(Json& json, const std::string& host) {
    if (host.empty() || !json.is_structured()) return;
    if (json.is_object()) {
        const auto id = json.find("short_id");
        if (id != json.end() && id->is_string()) *id = host + ":" + id->get<std::string>();
    }
    for (auto& part : json) name_host(part, host);
}

void name_host_in_notices(Json& task, const std::string& host) {
    const auto notices = task.find("notices");
    if (notices == task.end()) return;
    const auto id = task.at("fields").at("id").get<std::string>();
    for (auto& notice : *notices) {
        for (const char* key : {"text", "command"}) {
            if (const auto text = notice.find(key); text != notice.end()) name_host_in_commands(*text, id, host);
        }
    }
}

Result<Json> with_hosts(const Context& context, Result<Json> here, const HostQuery& query) {
    if (!here || connection::inside_agent()) return here;
    TRY(const auto all, known_hosts(context.paths));
    if (all.empty()) return here;
    std::vector<hosts::Question> questions;
    for (const auto& host : all) {
        const bool is_known = text_of_file(hosts::answer_file(context.paths.home, host.name, query.name)).has_value();
        const auto deadline = is_known ? host.deadline : std::max(host.deadline, k_first_deadline);
        auto& question = questions.emplace_back(hosts::Question{host, command_for(host, query), deadline});
        if (query.is_whole) question.late_lock = late_lock(context.paths, host.name, query.name);
    }
    if (query.is_whole) (void)make_answers_folder(context.paths);
    const auto asked = SystemClock().now();
    hosts::IsLate is_late;
    if (query.is_whole) {
        is_late = [&](std::size_t number, const std::string& out) {
            const auto& host = all[number];
            const auto last = remembered(context.paths, host.name, query.name);
            const auto last_at = from_rfc3339(last ? last->at : "").value_or(Timestamp{});
            const auto late = list_in(out);
            const auto now = SystemClock().now();
            const bool is_newer = last_at < asked || last_at > now;  // a clock may have been ahead
            if (late && is_newer) remember(context.paths, host, query, *late->json, now);
        };
    }
    const auto answers = hosts::ask(questions, {}, is_late);
    const auto now = SystemClock().now();
    Gathering gathering(std::move(*here), query);
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto& host = all[i];
        auto list = list_of(host, answers[i]);
        if (list && query.is_whole) remember(context.paths, host, query, *list->json, now);
        auto last = list || !query.is_whole ? std::nullopt : remembered(context.paths, host.name, query.name);
        if (list) {
            std::optional<Error> noise;
            if (list->is_spoiled()) {
                noise = Error(ErrorCode::external_failed, host.name + ": " + hosts::about_noise(list->noise));
            }
            gathering.add(host, std::move(*list->json), to_rfc3339(now), noise, true);
        } else if (last) {
            gathering.add(host, std::move(last->reply), last->at, list.error(), false);
        } else {
            gathering.add_unknown(host, list.error());
        }
    }
    return gathering.take();
}

std::string silent_hosts(const Json& reply) {
    std::string lines;
    for (const auto& host : reply.value("hosts", Json::array())) {
        const auto error = host.find("error");
        if (error == host.end()) continue;
        const auto as_of = host.value("as_of", "");
        const bool is_old = !host.value("answered", false) && !as_of.empty();
        const auto message = printable(error->value("message", ""), true);
        const auto name = printable(host.value("name", ""));
        lines += "! " + std::string(first_line(message));
        if (is_old) {
            lines += "; its tasks are as of " + clock_text(as_of);
        } else if (!host.value("answered", false)) {
            lines += "; its tasks are not known";
            const bool is_slow = rpc::error_from_json(*error).code == ErrorCode::timeout;
            if (is_slow) lines += ". If it only needs longer, set its deadline: orange host test " + name;
        }
        lines += "\n";
    }
    return lines;
}

Json with_host_ids(Json reply) {
    for (auto& task : reply["tasks"]) {
        if (const auto host = task.find("host"); host != task.end()) {
            auto& id = task["fields"]["id"];
            id = host->get<std::string>() + ":" + id.get<std::string>();
        }
    }
    return reply;
}

std::vector<std::pair<std::string, std::string>> remembered_tasks(const Paths& paths, const std::string& host) {
    std::vector<std::pair<std::string, std::string>> names;
    for (const auto* query : k_queries) {
        const auto last = remembered(paths, host, query);
        if (!last) continue;
        for (const auto& task : last->reply.at("tasks")) {
            const auto& fields = task.at("fields");
            names.emplace_back(task.value("short_id", ""),
                               fields.value("status", "") + ": " + fields.value("summary", ""));
        }
    }
    return names;
}

void forget_host(const Paths& paths, const std::string& host) {
    for (const auto* query : k_queries) {
        (void)remove_file(hosts::answer_file(paths.home, host, query));
        (void)remove_file(late_lock(paths, host, query));
    }
}

}  // namespace orange::commands
