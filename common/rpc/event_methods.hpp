#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/model/fields.hpp"
#include "common/rpc/empty.hpp"

/// Parameters and results of `events.*`, and the notifications of a subscription.
namespace orange::rpc {

/// Selects events; without any field, all of them.
struct EventSelector {
    std::optional<std::string> task;
    std::optional<std::string> project;
    std::vector<std::string> types;
    void describe(auto& v) {
        v.optional("task", task, "only this task's");
        v.optional("project", project, "only this project's");
        v.optional("types", types, "only these: a whole type, or what stands before its dot (agent)");
    }
};

struct EventsSubscribe : EventSelector {
    static constexpr const char* k_name = "events.subscribe";
    std::optional<std::string> since;
    std::optional<std::string> screen;
    void describe(auto& v) {
        v.optional("since", since, "a cursor: everything after it is sent first; absent: only what comes");
        EventSelector::describe(v);
        v.sparse("screen", screen, "also send a notification `screen` when an agent of this task writes");
    }
    struct Reply {
        std::string cursor;
        bool resync = false;
        void describe(auto& v) {
            v.required("cursor", cursor, "where the stream is now");
            v.required("resync", resync, "events after `since` are lost: read the state again");
        }
    };
};

struct EventsUnsubscribe : Empty {
    static constexpr const char* k_name = "events.unsubscribe";
    using Reply = Empty;
};

/// The notification `event` of a subscription: a line of a history, its task, and the cursor after it.
struct EventNotification {
    static constexpr const char* k_name = "event";
    std::string cursor;
    std::string task;
    std::string short_id;
    std::string project;
    std::string summary;
    Json event = Json::object();
    void describe(auto& v) {
        v.required("cursor", cursor, "pass as `since` to continue after this event");
        v.required("task", task, "whose event it is");
        v.optional("short_id", short_id, "the shortest beginning of its id, at least four characters, that names it");
        v.required("project", project, "its project");
        v.optional("summary", summary, "what the task is about, as it is now; empty where it is gone");
        v.required("event", event, "as in history.jsonl");
    }
};

/// The notification `screen`, for a subscription with `screen`.
struct ScreenNotification {
    static constexpr const char* k_name = "screen";
    std::string task;
    void describe(auto& v) { v.required("task", task, "whose agent has written to its terminal"); }
};

/// The last notification of a connection that the daemon closes because its reader is too slow.
struct DroppedNotification {
    static constexpr const char* k_name = "dropped";
    std::string reason;
    void describe(auto& v) { v.required("reason", reason, "why the connection is closed, and how to go on"); }
};

struct EventsList : EventSelector {
    static constexpr const char* k_name = "events.list";
    std::optional<std::string> since;
    int limit = 50;
    void describe(auto& v) {
        v.optional("since", since, "a cursor: everything after it, without a limit; absent: the last ones");
        v.optional("limit", limit, "how many of the last ones, 1 to 4096");
        EventSelector::describe(v);
    }
    struct Reply {
        std::vector<EventNotification> events;
        std::string cursor;
        bool resync = false;
        /// Written by the daemon in pieces, since there may be thousands.
        static constexpr const char* k_pieces = "events";
        std::vector<EventNotification>& pieces() { return events; }
        void describe(auto& v) {
            v.required("events", events, "oldest first, as the notification `event` has them");
            v.required("cursor", cursor, "where the stream is now");
            v.required("resync", resync, "nobody can tell what came after `since`; these are the last ones");
        }
    };
};

}  // namespace orange::rpc
