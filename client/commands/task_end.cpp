// The commands that end a task. On a terminal they ask for confirmation; elsewhere they need --yes.
#include "client/commands/task.hpp"

#include <algorithm>
#include <utility>

#include "client/commands/attempts.hpp"
#include "client/output/clashes.hpp"
#include "client/output/events.hpp"
#include "client/output/tasks.hpp"
#include "common/base/forges.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "common/rpc/event_methods.hpp"
#include "common/rpc/train_methods.hpp"

namespace orange::commands {
namespace {

constexpr std::size_t k_summary_length = 60;

bool may_ask(const Context& context, bool yes) {
    return !yes && !context.json && output::is_interactive();
}

/// Asks for confirmation before a request is sent; needs_force if it is not given.
Result<void> asked(const Context& context, bool yes, const std::string& question, const std::string& command) {
    if (yes || (may_ask(context, yes) && output::confirmed(question))) return {};
    if (may_ask(context, yes)) return {ErrorCode::needs_force, "nothing was changed"};
    return {ErrorCode::needs_force,
            "cannot ask for confirmation without a terminal. To confirm:\n  " + command + " --yes"};
}

/// The task in a question.
struct Named {
    std::string name = "this task";
    std::string status;               ///< set for a person, if the task has not ended
    std::vector<Clash> clashes = {};  ///< set for a person
};

/// Looks the task up for a person, who may name it by words of its summary; for these methods the daemon accepts only
/// the id or the branch.
template <class Params>
Result<Named> identified(Context& context, Params& params) {
    complete_with_cwd(context, params, params.id.has_value());
    Named named;
    if (!output::is_interactive()) {
        if (params.id) named.name = "task " + printable(*params.id);
        return named;
    }
    rpc::TaskShow show;
    show.id = params.id;
    show.cwd = params.cwd;
    TRY(const auto shown, context.call(show));
    const auto& task = shown.task;
    params.id = task.fields.id.value;
    named.name = "task " + output::short_id(task);
    if (!task.fields.summary.empty()) named.name += " (" + printable(task.fields.summary) + ")";
    named.clashes = task.clashes;
    if (task.means != "done" && task.means != "cancelled") named.status = printable(task.fields.status);
    return named;
}

std::string merge_page(const rpc::TaskMerge::Reply& reply, bool here_only, const output::Style& style) {
    std::string out = output::task_line(reply.task, style);
    const auto commit = printable(reply.commit.substr(0, 12));
    if (reply.commit.empty()) return out + output::notes_text(reply.notes, style);
    const auto pull = pull_name(std::to_string(reply.pull), reply.task.fields.pr_url);
    const auto where = reply.pushed ? ", pushed\n" : here_only ? ", not pushed\n" : "\n";
    if (reply.pull != 0) {
        out += "  " + pull + " was merged as " + commit + "\n";
        if (!reply.forced.empty()) out += "  forced: " + printable(reply.forced, true) + "\n";
        return out + output::notes_text(reply.notes, style);
    }
    const auto& target = reply.task.merges_into;
    const auto has_it = target.empty() ? "the default branch" : printable(target);
    out += reply.elsewhere ? "  nothing to merge or push; " + has_it + " already has the work, in " + commit + "\n"
                           : "  merged as " + commit + where;
    if (!reply.forced.empty()) out += output::wrapped("forced: " + printable(reply.forced, true), "  ", style.width);
    return out + output::notes_text(reply.notes, style);
}

std::string check_page(const rpc::TaskCheck::Reply& reply, const output::Style& style) {
    std::string out = output::task_line(reply.task, style);
    const auto commit = printable(reply.commit.substr(0, 12));
    if (reply.passed) return out + "  the checks passed on " + commit + "\n";
    for (const auto line : split_lines(reply.output)) out += "    " + printable(line) + "\n";
    return out +
           output::wrapped("the check `" + printable(reply.failed) + "` " + printable(reply.why) + " on " + commit,
                           "  ", style.width) +
           "  " + printable(reply.log) + "\n";
}

/// Prints on standard error the running check, and the progress of keeping files, for a person who waits. `only`: of
/// these tasks, if the events are those of all.
void watch_progress(Context& context, const std::optional<std::string>& id, std::vector<std::string> only = {}) {
    if (!output::is_interactive()) return;
    auto daemon = context.daemon();
    if (!daemon || (!id && only.empty()) || context.json) return;
    (*daemon)->on_notification([only = std::move(only)](const std::string& method, const Json& params) {
        if (method != rpc::EventNotification::k_name) return;
        if (!only.empty() && std::ranges::find(only, output::text_of(params, "task")) == only.end()) return;
        const auto& event = params.at("event");
        const auto type = output::text_of(event, "type");
        if (type == "checks.started" || type == "workspace.keeping") {
            output::print_error("orange: " + output::event_sentence(event) + "\n");
        }
    });
    rpc::EventsSubscribe subscribe;
    subscribe.task = id;
    subscribe.types = {"checks", "workspace.keeping"};
    (void)(*daemon)->call(subscribe);  // a failure costs only the progress output
}

/// Returns facts in wrapped lines, with the commands below them unwrapped.
std::string facts_page(const std::string& facts) {
    std::string out;
    for (const auto line : split_lines(facts)) {
        const auto text = out.empty() ? "orange: " + std::string(line) : std::string(line);
        const bool is_command = line.starts_with("  ");
        out += is_command ? text + "\n" : output::wrapped(text, "", output::width_of_errors());
    }
    return out;
}

/// Merges, and asks a person at a terminal about everything that needs confirmation, with the reason. --yes answers no
/// such question; a script uses --force, or --local if it does not know whether there is a pull request. The daemon
/// refuses to merge another commit than the shown one. `clashes` are facts of the first question, and are then empty.
Result<Json> merged_after_questions(Context& context, rpc::TaskMerge& params, bool yes,
                                    std::vector<std::string>& clashes) {
    for (;;) {
        auto reply = context.call_json(rpc::TaskMerge::k_name, written(params));
        if (reply || yes || !may_ask(context, false)) return reply;
        const auto& refused = reply.error();
        if (is_not_picked(refused)) {
            TRY(picked_after_question(context, refused));
            continue;
        }
        const auto detail = [&](const char* key) {
            const auto found = refused.details.find(key);
            return found == refused.details.end() ? std::string() : found->second;
        };
        const bool local = detail("flag") == "local" && !params.local;
        const bool force = refused.code == ErrorCode::needs_force && !params.force;
        if (!local && !force) return reply;
        auto facts = printable(output::with_short_ids(detail("facts"), refused), true);
        for (const auto& clash : std::exchange(clashes, {})) {
            facts += (facts.empty() || facts.ends_with('\n') ? "" : "\n") + clash;
        }
        output::print_error(facts_page(facts));
        if (!output::confirmed(detail("question"))) return Error(ErrorCode::needs_force, "nothing was merged");
        if (local) {
            params.local = true;
        } else {
            params.force = params.run_checks = true;
            params.tip = detail("tip");
        }
    }
}

Status merge_and_print(Context& context, rpc::TaskMerge params, bool yes, std::vector<std::string> clashes) {
    TRY(const auto reply, merged_after_questions(context, params, yes, clashes));
    if (context.json) return put_json(reply);
    TRY(auto typed, connection::reply_as<rpc::TaskMerge::Reply>(rpc::TaskMerge::k_name, reply));
    output::put(merge_page(typed, params.no_push.value_or(false), context.style));
    const bool is_merged = !typed.commit.empty() && !typed.elsewhere;
    if (is_merged) output::put(output::notes_text(clashes, context.style));
    return 0;
}

/// Returns the order in which tasks will be merged, a task on each line.
std::string order_page(const std::vector<rpc::TrainOrder::Place>& places) {
    std::string page;
    for (std::size_t i = 0; i < places.size(); ++i) {
        const auto& place = places[i];
        const auto summary = place.summary.empty() ? "" : ellipsized(printable(place.summary), k_summary_length) + ": ";
        page += output::wrapped(
            std::to_string(i + 1) + "  " + printable(place.short_id) + "  " + summary + printable(place.reason), "  ",
            output::width_of_errors());
    }
    return page;
}

/// Returns what became of a task of a train. A command in the reason is not wrapped.
std::string car_page(const rpc::TrainMerge::Car& car, bool here_only, const output::Style& style) {
    rpc::TaskMerge::Reply reply;
    reply.task = car.task;
    reply.commit = car.commit;
    reply.pushed = car.pushed;
    reply.elsewhere = car.elsewhere;
    reply.pull = car.pull;
    reply.forced = car.forced;
    reply.notes = car.notes;
    if (car.outcome == rpc::k_train_merged || car.outcome == rpc::k_train_opened)
        return merge_page(reply, here_only, style);
    std::string out = output::task_line(car.task, style);
    std::string said = car.outcome == rpc::k_train_back ? "back to its worker: " : "not merged: ";
    for (const auto line : split_lines(car.reason)) {
        const bool is_command = line.starts_with("  ");
        out += is_command ? "  " + printable(line) + "\n" : output::wrapped(said + printable(line), "  ", style.width);
        said.clear();
    }
    return out + output::notes_text(car.notes, style);
}

/// Cancels, and asks a person at a terminal about the sub-tasks. For other callers they continue, unless the flag is
/// set.
Result<Json> cancelled_after_question(Context& context, rpc::TaskCancel& params, bool yes) {
    params.ask_children = may_ask(context, yes) && !params.with_children;
    auto reply = context.call_json(rpc::TaskCancel::k_name, written(params));
    const bool asks = !reply && params.ask_children && reply.error().details.contains("children");
    if (!asks) return reply;
    output::print_error(facts_page(printable(output::with_short_ids(reply.error().message, reply.error()), true)));
    params.with_children = output::confirmed("Cancel them, too? (No: they go on.)");
    params.ask_children = false;
    return context.call_json(rpc::TaskCancel::k_name, written(params));
}

}  // namespace

Status task_merge(Context& context, rpc::TaskMerge params, bool yes) {
    TRY(const auto task, identified(context, params));
    watch_progress(context, params.id);
    return merge_and_print(context, params, yes, output::merge_clash_facts(task.clashes));
}

Status tasks_merge(Context& context, rpc::TrainMerge params, bool as_given, bool yes) {
    rpc::TrainOrder asked;
    asked.ids = params.ids;
    asked.as_given = as_given;
    TRY(const auto order, context.call(asked));
    params.ids.clear();
    for (const auto& place : order.places) params.ids.push_back(place.id);
    if (may_ask(context, yes)) {
        output::print_error(order_page(order.places));
        const auto question = "Merge " + counted(params.ids.size(), "task") + " in this order?";
        if (!output::confirmed(question)) return Error(ErrorCode::needs_force, "nothing was merged");
    }
    watch_progress(context, std::nullopt, params.ids);
    TRY(const auto reply, context.call_json(rpc::TrainMerge::k_name, written(params)));
    TRY(auto typed, connection::reply_as<rpc::TrainMerge::Reply>(rpc::TrainMerge::k_name, reply));
    if (context.json) put_json(reply);
    int status = typed.ends.size() < params.ids.size() ? 1 : 0;  // one was deleted meanwhile
    for (auto& car : typed.ends) {
        if (car.needs_force && may_ask(context, yes)) {
            rpc::TaskMerge one;
            static_cast<rpc::MergeOptions&>(one) = params;
            one.id = car.task.fields.id.value;
            context.about = *one.id;
            const auto merged = merge_and_print(context, one, yes, {});
            status = std::max(status, merged ? *merged : fail(context, merged.error()));
            continue;
        }
        if (car.outcome != rpc::k_train_merged && car.outcome != rpc::k_train_opened) status = 1;
        if (!context.json) output::put(car_page(car, params.no_push.value_or(false), context.style));
    }
    return status;
}

Result<std::vector<std::string>> tasks_to_merge(Context& context) {
    rpc::TaskList params;
    params.cwd = context.cwd;
    params.needs = true;
    TRY(auto list, context.call(params));
    std::ranges::sort(list.tasks, {}, [](const rpc::TaskView& task) { return task.fields.created_at; });
    std::vector<std::string> ids;
    for (const auto& task : list.tasks) {
        const auto can = [&](const char* what) { return std::ranges::find(task.can, what) != task.can.end(); };
        // One that is built on another one of these is merged after that.
        const bool follows = std::ranges::find(ids, task.fields.on.value) != ids.end() && !can("approve");
        if (task.needs.kind == Need::review && (can("merge") || follows)) ids.push_back(task.fields.id.value);
    }
    if (ids.empty()) {
        return {ErrorCode::not_found, "no task of this project waits for its merge. What needs you:\n  orange inbox"};
    }
    return ids;
}

Status task_check(Context& context, rpc::TaskCheck params) {
    TRY(identified(context, params));
    watch_progress(context, params.id);
    TRY(const auto reply, context.call_json(rpc::TaskCheck::k_name, written(params)));
    TRY(auto typed, connection::reply_as<rpc::TaskCheck::Reply>(rpc::TaskCheck::k_name, reply));
    if (context.json) {
        put_json(reply);
    } else {
        output::put(check_page(typed, context.style));
    }
    return typed.passed ? 0 : 1;
}

Status task_cancel(Context& context, rpc::TaskCancel params, bool yes) {
    TRY(const auto task, identified(context, params));
    const auto question =
        "This stops the task's agents and keeps uncommitted work in refs/orange.\nCancel " + task.name + "?";
    const auto command = "orange cancel" + (params.id ? " " + *params.id : std::string());
    const bool has_ended = output::is_interactive() && task.status.empty();  // the daemon says so
    TRY(asked(context, yes || has_ended, question, command));
    watch_progress(context, params.id);
    return print<rpc::TaskCancel>(
        context, cancelled_after_question(context, params, yes), [&](const rpc::TaskReply& reply) {
            return output::task_line(reply.task, context.style) + output::notes_text(reply.notes, context.style);
        });
}

Status task_create_pr(Context& context, rpc::TaskCreatePr params) {
    complete_with_cwd(context, params, params.id.has_value());
    if (params.body) {
        TRY(params.body, text_argument(*params.body));
    }
    auto reply = context.call_json(params.k_name, written(params));
    if (!reply && is_not_picked(reply.error()) && may_ask(context, false)) {
        TRY(picked_after_question(context, reply.error()));
        reply = context.call_json(params.k_name, written(params));
    }
    return print<rpc::TaskCreatePr>(context, reply, [&](const rpc::TaskReply& created) {
        return output::task_line(created.task, context.style) +
               output::notes_text(output::with_short_ids(created.notes, created.task), context.style);
    });
}

Status task_update_branch(Context& context, rpc::TaskUpdateBranch params) {
    complete_with_cwd(context, params, params.id.has_value());
    return answer(context, params, [&](const rpc::TaskReply& reply) {
        return output::task_line(reply.task, context.style) +
               output::notes_text(output::with_short_ids(reply.notes, reply.task), context.style);
    });
}

Status task_restore(Context& context, rpc::TaskRestore params) {
    complete_with_cwd(context, params, params.id.has_value());
    return answer(context, params, [&](const rpc::TaskRestore::Reply& reply) {
        const std::string at = reply.commit.empty() ? "" : " is at " + printable(reply.commit.substr(0, 12));
        return "branch " + printable(reply.branch) + at + "\n" +
               (reply.task ? output::task_line(*reply.task, context.style) : std::string()) +
               output::notes_text(reply.notes, context.style);
    });
}

Status task_delete(Context& context, rpc::TaskDelete params, bool yes) {
    TRY(const auto task, identified(context, params));
    const bool ends = !task.status.empty();
    const auto question = ends ? "T" + task.name.substr(1) + " has not ended; its status is " + task.status +
                                     ".\nCancel it and delete its TASK.md, history and logs?"
                               : "Delete " + task.name + " with its TASK.md, history and logs?";
    const auto command = std::string("orange delete") + (params.force ? " --force" : "") +
                         (params.id ? " " + *params.id : std::string());
    TRY(asked(context, yes, question, command));
    // The question said that the task will end. --yes alone only means that it may be deleted.
    if (may_ask(context, yes) && ends) params.force = true;
    watch_progress(context, params.id);
    TRY(const auto reply, context.call_json(params.k_name, written(params)));
    if (context.json) return put_json(reply);
    output::put("deleted " + printable(output::text_of(reply, "short_id")) + "\n");
    auto typed = connection::reply_as<rpc::TaskDelete::Reply>(rpc::TaskDelete::k_name, reply);
    if (typed) output::put(output::notes_text(typed->notes, context.style));
    return 0;
}

}  // namespace orange::commands
