#include "client/output/events.hpp"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "common/base/text.hpp"

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

std::string agent_sentence(const std::string& what, const Json& event) {
    std::string sentence = agent_of(event) + " " + what;
    if (what == "started" || what == "was restarted") {
        if (const auto harness = text_of(event, "harness"); !harness.empty()) sentence += " (" + harness + ")";
    } else if (const auto status = first_of(event, {"exit_status", "exit"}); !status.empty()) {
        sentence += ", exit status " + status;
    }
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

/// Sections that a write of TASK.md left out.
std::string lost_sentence(const Json& event) {
    const auto sections = text_of(event, "sections");
    const auto kept = "; the text before it is kept as " + text_of(event, "kept");
    if (text_of(event, "put_back") != "true") return "a write of TASK.md left out: " + sections + kept;
    return "a write of TASK.md without frontmatter left out: " + sections + ", put back" + kept;
}

struct Named {
    const char* type;
    const char* sentence;
    const char* object;  ///< the member that is named after it, or nothing
};
constexpr Named k_simple[] = {
    {"task.created", "created", ""},
    {"task.cancelled", "cancelled", ""},
    {"task.merged", "merged as", "commit"},
    {"summary.changed", "summary:", "to"},
    {"branch.changed", "branch:", "to"},
    {"branch.updated", "branch updated with", "base"},
    {"workspace.acquired", "workspace", "workspace"},
    {"workspace.released", "workspace released:", "workspace"},
    {"workspace.snapshot", "uncommitted work kept as", "ref"},
    {"repository.changed", "git hooks or config of the repository changed:", "what"},
    {"harness.changed", "started with a changed harness definition:", "harness"},
    {"review.started", "review round", "round"},
    {"frontmatter.restored", "frontmatter of TASK.md restored", ""},
    {"body.conflict", "two edits of TASK.md conflict; the other one is in", "kept"},
    {"history.repaired", "an incomplete line of the history was removed, bytes:", "bytes"},
    {"spawn.failed", "could not be started", ""},
    {"task.deleted", "deleted", ""},
    {"pr.created", "pull request", "url"},
    {"pr.merged", "pull request merged", ""},
    {"pr.closed", "pull request closed", ""},
};

}  // namespace

std::string text_of(const Json& json, const char* key) {
    if (!json.is_object()) return {};
    const auto found = json.find(key);
    return found == json.end() || found->is_null() ? std::string{} : scalar(*found);
}

std::vector<Json> causes_first(const Json& events) {
    if (!events.is_array()) return {};
    std::vector<Json> sorted(events.begin(), events.end());
    // What a transition brought about may have happened in the same millisecond; only transitions have `at`.
    const auto rank = [](const Json& event) { return std::pair(time_of(event), text_of(event, "at").empty()); };
    std::ranges::stable_sort(sorted, {}, rank);
    return sorted;
}

std::string time_of(const Json& event) {
    return first_of(event, {"at", "timestamp"});
}

std::string event_sentence(const Json& event) {
    if (!event.is_object()) return scalar(event);
    const auto type = text_of(event, "type");
    if (type == "status.changed") return status_sentence(event);
    if (type == "notification") return text_of(event, "message");
    if (type == "auto.advanced") return with_reason(moved(event) + ", automatically", event);
    if (type == "agent.spawned") return agent_sentence("started", event);
    if (type == "agent.respawned") return agent_sentence("was restarted", event);
    if (type == "agent.exited") return agent_sentence("ended", event);
    if (type == "agent.crashed") return agent_sentence("crashed", event);
    if (type == "session.lost") return agent_sentence("was lost with its tmux server", event);
    if (type == "agent.notified") return agent_sentence("got a message", event);
    if (type == "message.dropped") return agent_sentence("did not get a message", event);
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
