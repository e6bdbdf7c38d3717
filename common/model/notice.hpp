#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/clock.hpp"
#include "common/base/names.hpp"

/// Notices tell a task's human what happened. A task has at most one notice of each kind. The table in notice.cpp
/// defines what ends a notice, and whether the task needs help while it has the notice. `attention` in the frontmatter
/// is the text of the most urgent notice.
namespace orange {

enum class NoticeKind : int;  // the kinds are in notice_kinds.hpp, so that a new one compiles little again
std::string_view name_of(NoticeKind kind);
std::optional<NoticeKind> from_name(std::string_view name, NoticeKind);

struct Notice {
    NoticeKind kind{};
    std::string text;
    std::string command;
    std::string cause;
    Timestamp since{};

    void describe(auto& v) {
        v.required("kind", kind, "what kind of notice it is (docs/protocol.md)");
        v.required("text", text, "what happened, a sentence; the first line says it, more lines are details");
        v.sparse("command", command, "what to run, with the task's whole id; absent: it depends on the task's state");
        v.sparse("cause", cause, "what it is about, for programs: a role, a hook, a file");
        v.optional("since", since, "when it was raised");
    }
    bool operator==(const Notice&) const = default;
};

}  // namespace orange
