#include "client/output/events.hpp"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <utility>

#include "common/base/forges.hpp"
#include "common/base/text.hpp"
#include "common/model/settings.hpp"
#include "common/model/usage.hpp"

namespace orange::output {
namespace {

std::string scalar(const Json& value) {
    return value.is_string() ? printable(value.get_ref<const std::string&>()) : printable(dump(value));
}

std::string first_of(const Json& event, std::initializer_list<const char*> keys) {
    for (const char* key : keys) {
        if (auto text = text_of(event, key); !text.empty()) return text;
    }
    return {};
}

std::string with_reason(std::string sentence, const Json& event) {
    const auto why = first_of(event, {"reason", "why", "error", "message"});
    return why.empty() ? sentence : sentence + ": " + why;
}

std::string agent_of(const Json& event) {
    const auto role = text_of(event, "role");
    return role.empty() ? "the agent" : "the " + role;
}

std::string moved(const Json& event) {
    return text_of(event, "from") + " → " + text_of(event, "to");
}

std::int64_t number_of(const Json& event, const char* key) {
    const auto found = event.find(key);
    return found != event.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

/// Returns ", 41k tokens" for the end of an agent; empty if its program told nothing.
std::string exit_tokens(const Json& event) {
    const auto all =
        number_of(event, "tokens_input") + number_of(event, "tokens_cache_write") + number_of(event, "tokens_output");
    return all > 0 ? ", " + tokens_text(all) + " tokens" : std::string();
}

std::string agent_sentence(const std::string& what, const Json& event) {
    std::string sentence = agent_of(event) + " " + what;
    if (what == "started" || what == "was restarted") {
        const auto harness = text_of(event, "harness"), model = text_of(event, "model");
        if (!harness.empty()) sentence += " (" + harness + (model.empty() ? "" : ", " + model) + ")";
    } else if (const auto status = first_of(event, {"exit_status", "exit"});
               !status.empty() && (what != "crashed" || text_of(event, "reason").empty())) {
        sentence += ", exit status " + status;
    }
    sentence += exit_tokens(event);
    return with_reason(std::move(sentence), event);
}

std::string status_sentence(const Json& event) {
    std::string sentence = moved(event);
    if (const auto by = text_of(event, "by"); !by.empty()) sentence += ", by the " + by;
    if (event.value("attested", Json(true)) == Json(false)) sentence += ", unverified review";
    return with_reason(std::move(sentence), event);
}

std::string unknown_sentence(const Json& event) {
    std::string sentence = text_of(event, "type");
    for (const auto& [key, value] : event.items()) {
        if (key != "type" && key != "timestamp") sentence += " " + printable(key) + "=" + scalar(value);
    }
    return sentence;
}

/// Returns the message without the leading project and branch, which the reader knows.
std::string message_of(const Json& event) {
    const auto message = text_of(event, "message");
    const auto end = message.find(": ");
    const auto name = message.substr(0, end);
    const bool is_task =
        end != std::string::npos && name.find('/') != std::string::npos && name.find(' ') == std::string::npos;
    return is_task ? message.substr(end + 2) : message;
}

/// Describes lines that an edit removed from TASK.md.
std::string lost_sentence(const Json& event) {
    const auto sections = text_of(event, "sections");
    const auto removed = "an edit of TASK.md removed another author's lines of " + sections;
    const auto kept = text_of(event, "kept");
    if (text_of(event, "put_back") == "true") return removed + "; Orange restored them once";
    return removed + "; they are kept as " + kept;
}

/// Returns "pull request #7 is open, checks failing, review changes_requested, conflicts".
std::string pull_sentence(const Json& event) {
    auto sentence = pull_name(text_of(event, "number"), std::nullopt) + " is " + text_of(event, "state");
    for (const char* key : {"checks", "review"}) {
        const auto value = text_of(event, key);
        if (!value.empty() && value != "none") sentence += ", " + std::string(key) + " " + value;
    }
    return sentence + (text_of(event, "conflicts") == "true" ? ", conflicts" : "");
}

/// Returns "keeps 3.1 GiB of untracked files of shop--1, 40 s so far".
std::string keeping_sentence(const Json& event) {
    return "keeps " + size_text(number_of(event, "bytes")) + " of untracked files of " + text_of(event, "workspace") +
           ", " + text_of(event, "seconds") + " s so far";
}

/// Returns "the branch has 3 commits, +120 -4".
std::string counted_sentence(const Json& event) {
    const auto commits = text_of(event, "commits");
    return "the branch has " + commits + (commits == "1" ? " commit, +" : " commits, +") + text_of(event, "added") +
           " -" + text_of(event, "removed");
}

/// Returns "its work clashes with 7c1d in cart.py, 2 hunks".
std::string clashes_sentence(const Json& event) {
    const auto text = text_of(event, "text");
    return text.empty() ? "its work has no clashes any more" : "its work clashes " + text;
}

/// Returns "request 2 was denied by the human: npm install; the agent was told: use the lock file".
std::string permit_sentence(const std::string& type, const Json& event) {
    const auto request = "request " + text_of(event, "number");
    const auto what = ": " + first_of(event, {"request", "tool"});
    if (type == "permit.asked") return "the " + text_of(event, "role") + " asks, " + request + what;
    const auto decision = text_of(event, "decision"), text = text_of(event, "text");
    const auto done =
        std::string(decision == "allow" ? " was allowed" : " was denied") + " by the " + text_of(event, "by");
    if (type == "permit.over") {
        return request + (decision.empty() ? " is over" : done) + ", " + text_of(event, "how") + what;
    }
    return request + done + what + (text.empty() ? "" : "; the agent was told: " + text);
}

struct Named {
    const char* type;
    const char* sentence;
    const char* object;  ///< the member that follows the sentence; empty: none
};
constexpr Named k_simple[] = {
    {"task.created", "created", ""},
    {"task.cancelled", "cancelled", ""},
    {"task.merged", "merged as", "commit"},
    {"summary.changed", "summary is now:", "to"},
    {"branch.changed", "branch is now", "to"},
    {"blockers.changed", "waits for:", "blockers"},
    {"blocker.done", "a task that it waited for is done:", "blocker"},
    {"blocker.gone", "a task that it waits for will never be done:", "blocker"},
    {"child.done", "a sub-task is done:", "child"},
    {"children.unapproved", "sub-tasks that wait for approval:", "children"},
    {"children.trouble", "sub-tasks that need help or were given up:", "children"},
    {"attempt.picked", "you picked the attempt", "name"},
    {"task.approved", "approved by the", "by"},
    {"answer.accepted", "answer to a notification:", "does"},
    {"branch.updated", "merged into the branch:", "base"},
    {"workspace.acquired", "workspace acquired:", "workspace"},
    {"workspace.released", "workspace released:", "workspace"},
    {"workspace.snapshot", "uncommitted work kept as", "ref"},
    {"repository.changed", "git hooks or config of the repository changed:", "what"},
    {"harness.changed", "started with a changed harness definition:", "harness"},
    {"review.started", "started review round", "round"},
    {"frontmatter.restored", "frontmatter of TASK.md restored", ""},
    {"task_file.moved", "what stood in the place of TASK.md was moved, unread, to", "kept"},
    {"task_file.unread", "TASK.md is too large and is not read; bytes:", "bytes"},
    {"body.conflict", "two edits of TASK.md conflict; the older text is kept as", "kept"},
    {"history.repaired", "removed an incomplete line of the history, bytes:", "bytes"},
    {"agent.out_of_processes", "as many processes as it may; it could start no more:", "role"},
    {"agent.out_of_memory", "memory was used up; processes of the agent that were ended:", "processes"},
    {"agent.waits", "waits for its start: the", "role"},
    {"agent.queued", "waits for resources at", "executor"},
    {"agent.begun", "the agent has begun in", "executor"},
    {"budget.changed", "its budget is", "to"},
    {"budget.stopped", "its agents were stopped:", "text"},
    {"executor.changed", "its agents run in", "to"},
    {"executor.returned", "a run that was ended is shown again, and is ended again, in", "executor"},
    {"executor.stopped", "ended what was left of a run in", "executor"},
    {"spawn.failed", "could not be started", ""},
    {"task.deleted", "deleted", ""},
    {"task.returned", "its folder is there again", ""},
    {"checks.started", "check:", "command"},
    {"preview.started", "being tried:", "command"},
    {"preview.ready", "can be tried at", "url"},
    {"preview.ended", "is not tried any more: the command", "why"},
    {"task.needs", "needs you:", "text"},
    {"status.asked", "moves when the checks pass, to", "to"},
    {"status.dropped", "does not move to", "to"},
    {"pr.created", "pull request opened:", "url"},
    {"pr.adopted", "pull request found:", "url"},
};

}  // namespace

std::string text_of(const Json& json, const char* key) {
    if (!json.is_object()) return {};
    const auto found = json.find(key);
    return found == json.end() || found->is_null() ? std::string{} : scalar(*found);
}

std::vector<Json> causes_first(const Json& events) {
    if (!events.is_array()) return {};
    // A transition is written after its consequences, and its `at` is earlier, or in the same millisecond.
    const auto rank = [](const Json& event) {
        const int place = text_of(event, "type") == "task.merged" ? 0 : text_of(event, "at").empty() ? 2 : 1;
        return std::pair(time_of(event), place);
    };
    std::vector<Json> sorted;
    for (const auto& event : events) {
        // The order of the lines is the order of events, whatever the clock was set to: an event passes only lines that
        // are not later than its own.
        const auto written = text_of(event, "timestamp");
        auto at = sorted.end();
        while (at != sorted.begin() && rank(*std::prev(at)) > rank(event) &&
               text_of(*std::prev(at), "timestamp") <= written) {
            --at;
        }
        sorted.insert(at, event);
    }
    return sorted;
}

std::string time_of(const Json& event) {
    return first_of(event, {"at", "timestamp"});
}

std::string event_sentence(const Json& event) {
    if (!event.is_object()) return scalar(event);
    const auto type = text_of(event, "type");
    if (type == "status.changed") return status_sentence(event);
    if (type == "changes.counted") return counted_sentence(event);
    if (type == "clashes.changed") return clashes_sentence(event);
    if (type == "notification") return "notification: " + message_of(event);
    if (type == "auto.advanced") return with_reason(moved(event) + ", automatically", event);
    if (type == "agent.spawned") return agent_sentence("started", event);
    if (type == "agent.respawned") return agent_sentence("was restarted", event);
    if (type == "agent.exited") {
        const auto left = text_of(event, "left");
        const auto state = text_of(event, "state");
        if (!state.empty()) return agent_sentence("was ended by its executor: " + state, event);
        return agent_sentence(event.contains("usage_limit") ? "ended at its usage limit" : "ended", event) +
               (left.empty() ? "" : "; still running: " + left);
    }
    if (type == "agent.crashed") return agent_sentence("crashed", event);
    if (type == "session.lost") return agent_sentence("was lost with its tmux server", event);
    if (type == "agent.activity") return agent_sentence("is " + text_of(event, "activity"), event);
    if (type == "agent.usage") {
        return agent_of(event) + " has used " + tokens_text(number_of(event, "tokens")) + " tokens so far";
    }
    if (type == "agent.reminded") return agent_sentence("was reminded", event);
    if (type == "agent.resumed") return agent_sentence("continues its conversation", event);
    if (type == "agent.resume_failed") {
        return agent_sentence("could not continue its conversation, and begins a new one", event);
    }
    if (type == "agent.notified") return agent_sentence("got a message", event);
    if (type == "message.dropped") return agent_sentence("did not get a message", event);
    const auto with = text_of(event, "merged_with");
    const auto merged = with.empty() ? std::string() : " merged with " + with;
    if (type == "checks.ended" || type == "checks.failed") {
        return "the check " + text_of(event, "command") + " ended, exit status " + text_of(event, "exit_status") +
               (merged.empty() ? "" : ", on the branch" + merged);
    }
    if (type == "checks.passed") return "the checks passed on " + text_of(event, "commit") + merged;
    if (type == "workspace.keeping") return keeping_sentence(event);
    if (type == "pr.changed") return pull_sentence(event);
    if (type.starts_with("permit.")) return permit_sentence(type, event);
    if (type == "section.lost") return lost_sentence(event);
    if (type == "hook.failed") {
        return with_reason(first_of(event, {"hook", "action"}) + " failed", event);
    }
    for (const auto& known : k_simple) {
        if (type != known.type) continue;
        std::string sentence = known.sentence;
        if (*known.object) sentence += " " + text_of(event, known.object);
        return with_reason(std::move(sentence), event);
    }
    return unknown_sentence(event);
}

}  // namespace orange::output
