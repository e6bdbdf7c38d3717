#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/ids.hpp"
#include "daemon/agents/harness.hpp"
#include "daemon/files/file_system.hpp"

/// Reads the events of agents' programs. A program writes lines into a file of its run. Each line is one event, as a
/// word with text behind it, or as a JSON object. The harness definition says what each event means (docs/harnesses.md,
/// "Events").
namespace orange::agents {

/// Returns the meaning of a line; nullopt if the definition does not name its event.
std::optional<Statement> told_by(const Harness& harness, std::string_view line);

/// A conversation of a program, as its events name it.
struct Conversation {
    std::string id;
    std::string transcript;  ///< the program's file of it; empty: not told
    bool operator==(const Conversation&) const = default;
};

/// Returns the conversation that a line names, whatever its event is; nullopt if it names none, if its id is not one
/// that the definition permits, or if the event is the end of a conversation: another one may have begun.
std::optional<Conversation> conversation_in(const Harness& harness, std::string_view line);

/// True for the id of a conversation that is safe as a command-line argument.
bool is_conversation_id(std::string_view id);

/// Returns the file into which a run's program writes its events.
inline Path events_file(const Path& run_folder, const RunId& run) {
    return run_folder / (run.value + ".events");
}

/// Returns the file from which a run's program reads its messages, if its definition says `delivery: inbox`. Orange
/// adds a line of JSON for each: {"id", "text"}. When the message is a part of the conversation, the program writes the
/// event
/// {"event": "taken", "id"}.
inline Path inbox_file(const Path& run_folder, const RunId& run) {
    return run_folder / (run.value + ".inbox");
}

/// Returns the file that exists once a run without other signs was seen to work and to come to rest.
inline Path rest_file(const Path& run_folder, const RunId& run) {
    return run_folder / (run.value + ".rest");
}

/// A request of the program (permit.hpp), and what its later events tell of it.
struct AskedCall {
    std::string key;         ///< the id that the hook gave it
    std::string call;        ///< by which the call is known again
    std::string agent;       ///< the sub-agent that asked; empty: the agent itself
    bool made = false;       ///< the call was made: somebody allowed it
    std::int64_t later = 0;  ///< how many events of whoever asked came since
    bool gone_on = false;    ///< whoever asked one thing at a time has asked again, or got a message
    bool turn_over = false;  ///< the turn has ended since, and nothing that it began still runs
};

/// Reads what was added to such a file since the last read(). A line counts when it is complete. If much was added,
/// only the end is read. A file that became shorter is read from its beginning.
class EventReader {
  public:
    /// Returns true if there was a line that the definition names.
    bool read(const Harness& harness, FileSystem& files, const Path& path);

    const Statement& last() const { return last_; }
    /// If the last event is a request: it was answered, so the program works again, also one that does not tell it.
    void request_answered() {
        if (last_.asks) last_ = Statement{Activity::busy, {}};
    }
    /// True if the program said that it has taken that message.
    bool has_taken(const std::string& id) const { return taken_.contains(id); }
    /// Returns the conversation that was named last.
    const std::optional<Conversation>& conversation() const { return conversation_; }

    /// Returns what is known of the request with that key; nullptr if its event was not read, or is one of the older
    /// ones.
    const AskedCall* asked(const std::string& key) const;

    static constexpr std::size_t k_most_told = 100;
    /// Returns the paths of conversations' files that events have named, also events without an id: absolute, each
    /// once, the first k_most_told. The program, or its agent, may name any path.
    const std::vector<std::string>& told_files() const { return told_files_; }
    /// Returns the ids of conversations that events have named, also those that have ended: each once, the first
    /// k_most_told, all permitted by the definition.
    const std::vector<std::string>& told_ids() const { return told_ids_; }

  private:
    bool parse(const Harness& harness, std::string_view lines);
    void remember(const Harness& harness, std::string_view line);
    /// Returns true if the line is a request.
    bool follow_calls(const Harness& harness, std::string_view line, const std::optional<Statement>& told);

    std::uintmax_t at_ = 0;                                       ///< the offset up to which the file was read
    std::chrono::sys_time<std::chrono::nanoseconds> modified_{};  ///< the file's time at that read
    Statement last_;
    std::set<std::string> taken_;
    std::vector<AskedCall> calls_;  ///< the last requests
    std::optional<Conversation> conversation_;
    std::vector<std::string> told_files_;
    std::vector<std::string> told_ids_;
};

}  // namespace orange::agents
