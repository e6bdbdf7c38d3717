#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/model/needs.hpp"
#include "daemon/runner/world.hpp"

namespace orange {

/// Returns the folder of the tokens, in which the program `reply` runs.
inline Path replies_folder(const World& world) {
    return world.paths.home / "replies";
}

/// An action on a need of a task that a human can take by sending a token.
struct ReplyChoice {
    std::string hash;  ///< hash of the token, so that a reader of the file cannot send it
    TaskId task;
    Need need = Need::nothing;
    Timestamp since{};        ///< when the need began
    std::string does;         ///< reply, allow, deny, approve, reject or ack
    std::int64_t permit = 0;  ///< the number of the request that is allowed or denied
    bool used = false;

    void describe(auto& v) {
        v.required("hash", hash, "SHA-256 of the token");
        v.required("task", task, "the task");
        v.required("need", need, "the need that the notification was about");
        v.required("since", since, "since when the task has had this need");
        v.required("does", does, "reply, allow, deny, approve, reject or ack");
        v.sparse("permit", permit, "the number of the request that is allowed or denied");
        v.optional("used", used, "an answer with this token was accepted");
    }
};

/// The tokens of notifications. They are kept in replies/tokens.json, so that an answer also counts after a restart of
/// the daemon. Only the newest ones are kept.
class ReplyTokens {
  public:
    explicit ReplyTokens(World& world);

    /// Returns a new token for the choice. It outlives the daemon only after save().
    std::string add(ReplyChoice choice);
    /// Returns the choice of a token; null if the token is not known.
    ReplyChoice* find(const std::string& token);
    /// Saves the tokens. A failure is only logged: the tokens are valid until the daemon ends.
    void save() const;

    /// Returns true if the word has the form of a token: eight small letters and digits, at least one of each.
    static bool is_token(std::string_view word);

  private:
    World& world_;
    Path file_;
    std::vector<ReplyChoice> choices_;  ///< oldest first
};

}  // namespace orange
