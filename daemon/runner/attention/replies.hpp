#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/model/json.hpp"
#include "daemon/runner/attention/notifier.hpp"
#include "daemon/runner/attention/permits.hpp"
#include "daemon/runner/attention/reply_tokens.hpp"

namespace orange {

/// The evidence, in the history, of an answer that came through a token.
inline constexpr const char* k_reply_evidence = "via reply";

/// Takes answers to notifications. The command `notify` of config.yml gets a token for each thing that the human can do
/// about a need. The program `reply` of config.yml, which this class keeps running, prints lines `TOKEN text`. A token
/// answers, approves, rejects or acknowledges, once, and only while the need lasts.
class Replies : Owner {
  public:
    /// Performs a method of docs/protocol.md as the human.
    using Call = std::function<Awaitable<Result<void>>(std::string method, Json params)>;
    /// Notifies the human.
    using Tell = std::function<void(std::string text)>;

    Replies(Runner& runner, Call call, Tell tell);

    /// Returns the JSON that the command `notify` reads, and makes the tokens in it.
    Awaitable<std::string> input_of(std::vector<News> news);

    /// Keeps the program running until stop(). If it ends, it is started again, each time after a longer pause.
    Awaitable<void> run();
    /// Applies the settings after config.yml was read again.
    void settings_changed();
    void stop();
    /// Returns why no answer can arrive; empty if no problem is known.
    std::string problem() const;

  private:
    Awaitable<std::set<std::string>> count_changes(std::vector<News> news);
    Json described(const TaskRecord& record, const News& news, bool is_counted);
    /// Returns the open request with that number; nullptr if there is none.
    std::shared_ptr<const OpenPermit> asked_by(std::int64_t number, const TaskId& task) const;
    /// `told`: the number of the request that the notification is about.
    Json choices_of(const TaskRecord& record, const Needs& needs, std::int64_t told);
    Awaitable<Result<Completed>> run_program(std::vector<std::string> argv);
    void read(std::string_view output);
    void add_line(std::string line);
    bool are_too_many();
    Awaitable<void> work();
    Awaitable<void> take(std::string line);
    /// Returns why the choice cannot be taken; empty if it can.
    std::string obstacle(const ReplyChoice& choice, const std::string& text) const;
    void refuse(const std::string& key, const std::string& why);

    Call call_;
    Tell tell_;
    ReplyTokens tokens_{world_};
    async::Wakeup changed_{world_.executor};
    std::shared_ptr<Stop> stop_;     ///< stops the running program; null: none runs
    std::vector<std::string> argv_;  ///< the running program
    std::string problem_;
    bool stopped_ = false;
    std::string line_;                 ///< the beginning of a line that is not complete
    std::deque<std::string> waiting_;  ///< lines
    bool is_working_ = false;
    async::Moment minute_{};  ///< the beginning of the minute whose lines are counted
    int lines_ = 0;
    std::set<std::string> told_;  ///< refusals that the human was notified of
};

}  // namespace orange
