#include "daemon/runner/attention/replies.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "common/base/text.hpp"
#include "daemon/agents/survivors.hpp"
#include "daemon/process/stray_processes.hpp"
#include "daemon/runner/attention/attention.hpp"
#include "daemon/runner/attention/notification.hpp"
#include "daemon/runner/runner.hpp"
#include "daemon/store/sections.hpp"
#include "daemon/store/task_texts.hpp"

namespace orange {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds k_restart_pause = 1s, k_longest_restart_pause = 5min;
/// A program that has run for this long is started again after the first pause.
constexpr auto k_lasted = 1min;
constexpr std::chrono::milliseconds k_no_deadline = std::chrono::hours(24 * 365);
constexpr std::size_t k_longest_answer = 16 * 1024, k_kept_errors = 4096;
constexpr int k_lines_per_minute = 60;
constexpr std::array<std::string_view, 6> k_choices = {"reply", "allow", "deny", "approve", "reject", "ack"};
/// A longer request is cut in a notification, and cannot be allowed there.
constexpr std::size_t k_longest_shown_request = 1000;

bool is_shown_whole(const agents::Permit& request) {
    return request.whole && request.tool.size() + request.text.size() <= k_longest_shown_request;
}

bool wants_text(const std::string& does) {
    return does == "reply" || does == "reject";
}

/// Returns the text that a person reads on a phone.
std::string message_of(const std::string& text, const Json& tasks) {
    std::string message = text + "\n";
    const auto word = [](const Json& json, const char* key) { return printable(json.value(key, std::string()), true); };
    for (const auto& task : tasks) {
        if (tasks.size() > 1) message += "\n" + word(task, "short_id") + ": " + word(task, "summary") + "\n";
        if (const auto question = word(task, "question"); !question.empty()) message += "\n" + question + "\n";
        // Its lines are an agent's, and none of them looks like one of Orange.
        if (const auto request = word(task, "request"); !request.empty()) {
            message += "\n";
            for (const auto line : split_lines(request)) message += "    " + std::string(line) + "\n";
        }
        const auto changes = task.find("changes");
        if (changes != task.end() && changes->value("commits", 0) > 0) {
            message += "\n" + counted(changes->value("commits", std::size_t{}), "commit") + ", " +
                       counted(changes->value("files", std::size_t{}), "file") + ", +" +
                       std::to_string(changes->value("added", 0)) + " -" +
                       std::to_string(changes->value("removed", 0)) + "\n";
        }
        for (const auto& choice : task.at("choices")) {
            const auto does = word(choice, "does");
            message += "\n" + does + ": " + word(choice, "token") +
                       (wants_text(does) ? " TEXT"
                        : does == "deny" ? " or with a TEXT"
                                         : "");
        }
    }
    return message;
}

}  // namespace

Replies::Replies(Runner& runner, Call call, Tell tell)
    : Owner(runner), call_(std::move(call)), tell_(std::move(tell)) {}

Awaitable<std::string> Replies::input_of(std::vector<News> news) {
    const auto counted = co_await count_changes(news);
    Json tasks = Json::array();
    for (const auto& each : news) {
        co_await async::yield();  // there may be a thousand
        const auto record = world_.tasks.read(each.task).value_or(nullptr);
        if (record) tasks.push_back(described(*record, each, counted.contains(record->task.project)));
    }
    if (!world_.settings.reply_command.empty()) tokens_.save();
    const auto text = notification_words(news).at("text");
    co_return dump(Json{{"text", text}, {"message", message_of(text, tasks)}, {"tasks", tasks}}) + "\n";
}

/// Returns the projects whose branches could be counted.
Awaitable<std::set<std::string>> Replies::count_changes(std::vector<News> news) {
    std::map<std::string, std::vector<TaskId>> tasks;
    for (const auto& each : news) {
        if (const auto* task = world_.tasks.brief(each.task)) tasks[task->project].push_back(each.task);
    }
    std::set<std::string> counted;
    for (auto& [project, ids] : tasks) {
        auto name = project;
        const auto done = co_await runner_.committed.refresh(std::move(name), std::move(ids));
        if (done) counted.insert(project);
        if (!done) log::debug("replies", done.error().message);
    }
    co_return counted;
}

Json Replies::described(const TaskRecord& record, const News& news, bool is_counted) {
    const auto& task = record.task;
    const auto needs = needs_of(runner_, record);
    Json json = {{"task", task.id.value},   {"short_id", world_.tasks.short_id(task.id)},
                 {"project", task.project}, {"branch", task.branch},
                 {"summary", task.summary}, {"need", name_text(needs.kind)},
                 {"text", news.text},       {"choices", choices_of(record, needs, news.permit)}};
    if (const auto permit = asked_by(news.permit, record.task.id)) {
        const auto& request = permit->request;
        const bool is_all = is_shown_whole(request);
        json["request"] = request.tool + ": " +
                          (is_all ? request.text
                                  : ellipsized(request.text, k_longest_shown_request / 4) +
                                        "\n(not all of it; it can be denied here, not allowed)");
    }
    const auto body = store::read_body(world_.files, world_.tasks.folder(record) / "TASK.md");
    if (body && record.question_stands()) {
        const auto sections = store::parse_sections(*body).sections;
        const auto asked = sections.find("Questions");
        if (asked != sections.end()) json["question"] = std::string(trim(asked->second.text));
    }
    if (const auto* known = runner_.committed.of(task.id); is_counted && known) {
        const auto& changes = known->changes;
        json["changes"] = {{"commits", changes.commits},
                           {"files", changes.files},
                           {"added", changes.added},
                           {"removed", changes.removed}};
    }
    return json;
}

std::shared_ptr<const OpenPermit> Replies::asked_by(std::int64_t number, const TaskId& task) const {
    for (const auto& each : runner_.permits.of(task)) {
        if (each->number == number) return each;
    }
    return nullptr;
}

Json Replies::choices_of(const TaskRecord& record, const Needs& needs, std::int64_t told) {
    Json choices = Json::array();
    if (world_.settings.reply_command.empty() || needs.kind == Need::nothing) return choices;
    const auto offers = offers_of(runner_, record, needs);
    const auto permit = told == needs.permit ? asked_by(told, record.task.id) : nullptr;
    for (const auto does : k_choices) {
        if (std::ranges::find(offers, does) == offers.end()) continue;
        const bool answers = does == "allow" || does == "deny";
        if (answers && (!permit || (does == "allow" && !is_shown_whole(permit->request)))) continue;
        const auto number = answers ? needs.permit : 0;
        const auto token = tokens_.add({"", record.task.id, needs.kind, needs.since, std::string(does), number});
        choices.push_back({{"does", does}, {"token", token}});
    }
    return choices;
}

Awaitable<void> Replies::run() {
    auto pause = k_restart_pause;
    while (!stopped_) {
        argv_ = world_.settings.reply_command;
        if (argv_.empty()) {
            co_await changed_.wait();
            continue;
        }
        const auto began = async::now();
        auto argv = argv_;
        const auto ended = co_await run_program(std::move(argv));
        if (stopped_) co_return;
        if (world_.settings.reply_command != argv_) {
            problem_.clear();
            pause = k_restart_pause;
            continue;
        }
        if (async::now() - began >= k_lasted) pause = k_restart_pause;
        const auto reason = ended ? reason_in(*ended) : ended.error().message;
        const auto status = ended ? " with the exit status " + std::to_string(ended->exit_status) : std::string();
        problem_ = "the program `reply` of config.yml ended" + status + (reason.empty() ? "" : ": " + reason) +
                   ". Orange starts it again after a pause";
        log::warn("replies", problem_, {{"pause_ms", std::to_string(pause.count())}});
        co_await changed_.wait(pause);
        pause = std::min(pause * 2, k_longest_restart_pause);
    }
}

/// Runs the program in a folder of its own. A program that a killed daemon has left is found by that folder.
Awaitable<Result<Completed>> Replies::run_program(std::vector<std::string> argv) {
    tokens_.save();  // makes the folder
    const auto folder = replies_folder(world_);
    co_await agents::end_left_by_daemons(folder, world_.pool.mark());
    line_.clear();
    stop_ = std::make_shared<Stop>();
    Command command;
    command.shown = argv.front();  // the other words may contain a secret address, and would be logged
    command.argv = std::move(argv);
    command.cwd = folder.string();
    command.env = world_.base_environment;
    (*command.env)[process::k_daemon_variable] = world_.pool.mark();
    command.deadline = k_no_deadline;
    command.output_limit = k_kept_errors;
    command.on_output = [this](std::string_view output) { read(output); };
    command.stop = stop_;
    const bool outdated = stopped_ || world_.settings.reply_command != argv_;
    if (outdated) co_return Error(ErrorCode::conflict, "it is not wanted any more");
    auto ended = co_await world_.processes.run(std::move(command));
    stop_.reset();
    co_return ended;
}

void Replies::settings_changed() {
    if (world_.settings.reply_command == argv_) return;
    if (stop_) stop_->request();
    changed_.notify();
}

void Replies::stop() {
    stopped_ = true;
    if (stop_) stop_->request();
    changed_.notify();
}

std::string Replies::problem() const {
    if (world_.settings.reply_command.empty()) return {};
    if (world_.settings.notify_command.empty()) {
        return "config.yml has `reply`, but `notify` is no command: nobody gets the tokens of answers";
    }
    return stop_ ? std::string() : problem_;
}

void Replies::read(std::string_view output) {
    for (const char c : output) {
        if (c == '\n') {
            add_line(std::exchange(line_, {}));
        } else if (line_.size() <= k_longest_answer) {
            line_ += c;
        }
    }
}

void Replies::add_line(std::string line) {
    if (trim(line).empty() || stopped_ || are_too_many()) return;
    if (line.size() > k_longest_answer) {
        log::warn("replies", "a line of more than " + std::to_string(k_longest_answer) + " bytes was ignored");
    } else if (!is_valid_utf8(line)) {
        log::warn("replies", "a line that is not UTF-8 was ignored");
    } else {
        waiting_.push_back(std::move(line));
    }
    if (waiting_.empty() || std::exchange(is_working_, true)) return;
    async::spawn(world_.executor, "replies", work());
}

bool Replies::are_too_many() {
    const auto now = async::now();
    if (now - minute_ >= std::chrono::minutes(1)) {
        minute_ = now;
        lines_ = 0;
    }
    if (++lines_ == k_lines_per_minute + 1) {
        log::warn("replies", "the program `reply` prints more than " + std::to_string(k_lines_per_minute) +
                                 " lines in a minute; the others of this minute are ignored");
    }
    return lines_ > k_lines_per_minute;
}

Awaitable<void> Replies::work() {
    while (!waiting_.empty()) {
        auto line = std::move(waiting_.front());
        waiting_.pop_front();
        co_await take(std::move(line));
    }
    is_working_ = false;
}

Awaitable<void> Replies::take(std::string line) {
    const auto words = trim(line);
    const auto end = std::min(words.find_first_of(" \t"), words.size());
    const auto token = to_lower(words.substr(0, end));
    const std::string text(trim(words.substr(end)));
    if (!ReplyTokens::is_token(token)) {
        log::info("replies", "a line that begins with no token was ignored");
        co_return;
    }
    auto* choice = tokens_.find(token);
    if (!choice) {
        refuse("", "Orange does not know its token " + token);
        co_return;
    }
    if (const auto why = obstacle(*choice, text); !why.empty()) {
        refuse(token + why, why);
        co_return;
    }
    // Marked before the call: a daemon that is killed meanwhile does nothing twice.
    choice->used = true;
    tokens_.save();
    const auto taken = *choice;
    Json params = {{"id", taken.task.value}};
    if (taken.does == "reply") params["text"] = text;
    if (taken.does == "reject") params["feedback"] = text;
    if (taken.permit != 0) params["number"] = taken.permit;
    if (taken.does == "deny") params["text"] = text;
    auto method = "task." + taken.does;
    const auto done = co_await call_(std::move(method), std::move(params));
    if (!done) {
        if (auto* again = tokens_.find(token)) again->used = false;
        tokens_.save();
        refuse(token + done.error().message, done.error().message);
        co_return;
    }
    told_.erase("");
    log::info("replies", "an answer was accepted", {{"task", taken.task.value}, {"does", taken.does}});
    if (const auto record = world_.tasks.read(taken.task)) {
        world_.journal.write(
            **record, "answer.accepted",
            {{"does", taken.does}, {"by", name_text(Role::human)}, {"evidence", std::string(k_reply_evidence)}});
    }
}

std::string Replies::obstacle(const ReplyChoice& choice, const std::string& text) const {
    const auto name = "task " + world_.tasks.short_id(choice.task);
    if (choice.used) return name + ": its token was used before";
    const auto record = world_.tasks.read(choice.task).value_or(nullptr);
    const auto needs = record ? needs_of(runner_, *record) : Needs{};
    const auto offers = record ? offers_of(runner_, *record, needs) : std::vector<std::string>();
    const bool stands = needs.kind == choice.need && needs.since == choice.since &&
                        (choice.permit == 0 || needs.permit == choice.permit) &&
                        std::ranges::find(offers, choice.does) != offers.end();
    if (!stands) return name + ": its token is stale; the task does not need that any more";
    if (wants_text(choice.does) && text.empty()) return name + ": the text is missing. Write it behind the token";
    return {};
}

/// Notifies the human once for each key. All unknown tokens share the empty key, which counts again after an answer.
void Replies::refuse(const std::string& key, const std::string& why) {
    log::warn("replies", "an answer was refused: " + why);
    if (told_.insert(key).second) tell_("Orange: an answer was refused. " + why);
}

}  // namespace orange
