#include <algorithm>

#include "client/commands/files.hpp"
#include "client/commands/task.hpp"
#include "client/commands/task_sources.hpp"
#include "client/connection/autostart.hpp"
#include "client/output/events.hpp"
#include "client/output/tasks.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"

namespace orange::commands {
namespace {

std::string detail_of(const Error& error, const char* name) {
    const auto found = error.details.find(name);
    return found == error.details.end() ? std::string() : found->second;
}

}  // namespace

Result<Json> create_task(Context& context, rpc::TaskCreate params, const Uploads& files) {
    if (!params.id && !params.key) params.id = random_id(k_task_id_length);
    params.caller = caller_environment();
    params.ask_trust = !context.json && output::is_interactive() && !connection::inside_agent();
    TRY(params.files, files.send(context));
    const auto call = [&](const Json& json) { return context.call_json_again(params.k_name, json); };
    for (;;) {
        auto reply = call_with_caller(call, written(params), {"id", "ask_trust", "trust"});
        const auto asking = reply ? std::string() : detail_of(reply.error(), "trust");
        if (asking.empty()) return reply;
        // Without an answer the agent asks the same question in its window.
        const auto own = detail_of(reply.error(), "question");
        if (const auto text = detail_of(reply.error(), "text"); !text.empty()) {
            output::print_error(output::wrapped(printable(text, true), "  ", context.style.width));
        }
        const auto question = own.empty() ? printable(asking) + " asks whether it may trust " +
                                                printable(detail_of(reply.error(), "repository")) + ". Allow it?"
                                          : printable(own);
        if (output::confirmed(question)) {
            params.trust.push_back(asking);
        } else {
            params.ask_trust = false;
        }
    }
}

int spawn_status(const Context& context, const rpc::TaskReply& started) {
    if (!started.spawn_error) return 0;
    const auto id = output::short_id(started.task);
    if (!context.json) {
        fail(context, {ErrorCode::external_failed,
                       "no agent works on task " + id + ": " + *started.spawn_error + "\n  orange why " + id});
    }
    return 1;
}

Status print_started(const Context& context, const Result<Json>& reply, const std::string& note,
                     std::vector<std::string>* later) {
    if (!reply) return reply.error();
    TRY(auto started, connection::reply_as<rpc::TaskReply>(rpc::TaskCreate::k_name, *reply));
    if (context.json) {
        put_json(*reply);
    } else {
        if (!note.empty()) started.notes.push_back(note);
        if (started.spawn_error) {  // the error below has the same text
            std::erase_if(started.notes, [&](const std::string& each) {
                return each.find(*started.spawn_error) != std::string::npos;
            });
        }
        if (later != nullptr) {
            later->insert(later->end(), started.notes.begin(), started.notes.end());
            started.notes.clear();
        }
        output::put(output::task_line(started.task, context.style) + output::notes_text(started.notes, context.style));
    }
    return spawn_status(context, started);
}

namespace {

/// Returns true for a branch and a summary: `add-login "Implement the login form"`.
bool are_branch_and_summary(const std::vector<std::string>& words) {
    constexpr std::string_view k_not_in_branches = " ~^:?*[\\\"'!,;";
    if (words.size() != 2 || words[1].find(' ') == std::string::npos) return false;
    const auto& name = words[0];
    const bool odd = name.empty() || name.find("..") != std::string::npos || name.find("//") != std::string::npos ||
                     name.ends_with('.') || name.ends_with('/') || name.starts_with('/') || name.starts_with('-');
    return !odd && name.find_first_of(k_not_in_branches) == std::string::npos;
}

/// Returns a note without the words that differ from task to task: numbers and ids.
std::string kind_of(std::string_view note, const std::set<std::string, std::less<>>& ids) {
    std::string kind;
    for (const auto word : split(note, ' ')) {
        const auto end = std::min(word.find_first_of(":,\n"), word.size());
        const bool differs =
            word.find_first_of("0123456789") != std::string_view::npos || ids.contains(word.substr(0, end));
        if (!differs) kind += std::string(word) + " ";
    }
    return kind;
}

/// Returns what is to be said of many new tasks: of the notes of a kind the first, with their number. The workspace of
/// each is not said. `ids`: short and whole ids of the tasks.
std::vector<std::string> once_each(const std::vector<std::string>& notes,
                                   const std::set<std::string, std::less<>>& ids) {
    std::vector<std::string> kinds, first;
    std::vector<std::size_t> times;
    for (const auto& note : notes) {
        if (note.starts_with("workspace ")) continue;
        auto kind = kind_of(note, ids);
        const auto known = std::ranges::find(kinds, kind) - kinds.begin();
        if (known == std::ssize(kinds)) {
            kinds.push_back(std::move(kind));
            first.push_back(note);
            times.push_back(0);
        }
        ++times[static_cast<std::size_t>(known)];
    }
    for (std::size_t i = 0; i < first.size(); ++i) {
        const bool is_the_same = std::cmp_equal(std::ranges::count(notes, first[i]), times[i]);
        if (!is_the_same) first[i] = std::to_string(times[i]) + " tasks, such as this: " + first[i];
    }
    return first;
}

/// One after the other, in the order of the file; the first that fails is the last.
Status create_all(Context& context, const rpc::TaskCreate& params, const std::vector<TaskText>& texts,
                  const Uploads& files) {
    Json created = Json::array();
    int status = 0;
    std::vector<std::string> notes;
    std::set<std::string, std::less<>> ids;
    const auto say_notes = [&] {
        if (!context.json) output::put(output::notes_text(once_each(notes, ids), context.style));
    };
    for (const auto& text : texts) {
        auto one = params;
        one.summary = text.summary;
        if (!text.context.empty()) one.context = text.context;
        complete_with_cwd(context, one, one.project.has_value());
        auto reply = create_task(context, one, files);
        if (!reply) {
            auto error = reply.error();
            error.message = std::to_string(created.size()) + " of " + counted(texts.size(), "task") +
                            " were created, not \"" + text.summary + "\": " + error.message;
            error.details["created"] = std::to_string(created.size());
            say_notes();
            return error;
        }
        created.push_back(*reply);
        if (context.json) continue;
        const auto& task = reply->at("task");
        ids.insert({task.at("short_id").get<std::string>(), task.at("fields").at("id").get<std::string>()});
        const auto printed = print_started(context, reply, {}, &notes);
        status = std::max(status, printed ? *printed : fail(context, printed.error()));
    }
    if (context.json) return put_json({{"created", std::move(created)}});
    say_notes();
    return status;
}

Result<std::vector<TaskText>> texts_of(const rpc::TaskCreate& params, const std::vector<std::string>& words,
                                       const CreateFrom& from) {
    const bool twice = !words.empty() || !params.summary.empty() || params.context || (from.issue && from.file);
    if (twice) {
        return {ErrorCode::invalid_argument,
                "--from-issue and --from-file give the summary and the context; omit the others"};
    }
    if (from.issue) {
        TRY(auto text, issue_task(*from.issue));
        return std::vector{std::move(text)};
    }
    if (params.branch)
        return {ErrorCode::invalid_argument, "--branch names one branch, but --from-file makes many tasks"};
    if (params.id || params.key)
        return {ErrorCode::invalid_argument, "--id names one task, but --from-file makes many tasks"};
    if (params.from_session)
        return {ErrorCode::invalid_argument, "--from-session names one conversation, but --from-file makes many tasks"};
    TRY(const auto markdown, named_text(*from.file));
    auto texts = tasks_in(markdown);
    if (!texts)
        return {texts.error().code, (*from.file == "-" ? "standard input" : *from.file) + ", " + texts.error().message};
    return texts;
}

}  // namespace

Status task_create(Context& context, rpc::TaskCreate params, const std::vector<std::string>& words,
                   const CreateFrom& from, const FileOptions& files) {
    params.name_branch = true;
    TRY(auto uploads, Uploads::open(files));
    if (from.file && !uploads.empty())
        return {ErrorCode::invalid_argument, "--file gives files to one task, but --from-file makes many tasks"};
    if (from.issue || from.file) {
        TRY(const auto texts, texts_of(params, words, from));
        return create_all(context, params, texts, uploads);
    }
    if (!words.empty() && !params.summary.empty()) {
        return {ErrorCode::invalid_argument, "the summary is given twice; omit --summary or the other words"};
    }
    std::string note;
    if (!params.branch && are_branch_and_summary(words)) {
        params.branch = words[0];
        params.summary = words[1];
        note = words[0] + " is the name of the branch, because it is a single word before the summary. To make it " +
               "part of the summary, put both into one pair of quotes";
    } else if (!words.empty()) {
        params.summary = join(words, " ");
    }
    if (params.summary.empty() && !params.like && !context.json && output::is_interactive()) {
        const auto answer = output::asked("What should the agent do?");
        if (!answer) return {ErrorCode::invalid_argument, "no task was created"};
        params.summary = *answer;
    }
    if (params.context) {
        TRY(params.context, text_argument(*params.context));
    }
    complete_with_cwd(context, params, params.project.has_value() && !params.from_session);
    return print_started(context, create_task(context, params, uploads), note);
}

Status task_fork(Context& context, rpc::TaskFork params) {
    complete_with_cwd(context, params, params.id.has_value());
    if (params.message) {
        TRY(params.message, text_argument(*params.message));
    }
    params.new_id = random_id(k_task_id_length);
    params.caller = caller_environment();
    const auto call = [&](const Json& json) { return context.call_json_again(params.k_name, json); };
    return print_started(context, call_with_caller(call, written(params), {}));
}

}  // namespace orange::commands
