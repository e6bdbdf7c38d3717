#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/model/json.hpp"
#include "daemon/runner/notifier.hpp"
#include "daemon/runner/reply_tokens.hpp"

namespace orange {

/// The evidence, in the history, of an answer that came this way.
inline constexpr const char* k_reply_evidence = "via reply";

/// Answers to notifications. The command `notify` of config.yml gets a token for each thing that the human can do about
/// a need. The program `reply` of config.yml, which this class keeps running, prints lines `TOKEN text`. A token
/// answers, approves, rejects or acknowledges, once, and only while the need lasts.
class Replies {
  public:
    /// Performs a method of docs/protocol.md as the human.
    using Call = std::function<Awaitable<Result<void>>(std::string method, Json params)>;
    /// Notifies the human.
    using Tell = std::function<void(std::string text)>;

    Replies(Runner& runner, Call call, Tell tell);
    Replies(const Replies&) = delete;
    Replies& operator=(const Replies&) = delete;

    /// Returns the JSON that the command `notify` reads, and makes the tokens in it.
    Awaitable<std::string> input_of(std::vector<News> news);

    /// Keeps the program running until stop(). One that ends is started again, each time after a longer pause.
    Awaitable<void> run();
    /// config.yml was read again.
    void settings_changed();
    void stop();
    /// Why no answer can arrive; empty if nothing is known to be wrong.
    std::string problem() const;

  private:
    Awaitable<std::set<std::string>> count_changes(std::vector<News> news);
    Json described(const TaskRecord& record, const std::string& text, bool is_counted);
    Json choices_of(const TaskRecord& record, const Needs& needs);
    Awaitable<Result<Completed>> run_program(std::vector<std::string> argv);
    void read(std::string_view output);
    void add_line(std::string line);
    bool are_too_many();
    Awaitable<void> work();
    Awaitable<void> take(std::string line);
    /// Returns why the choice cannot be taken; empty if it can.
    std::string obstacle(const ReplyChoice& choice, const std::string& text) const;
    void refuse(const std::string& key, const std::string& why);

    Runner& runner_;
    World& world_;
    Call call_;
    Tell tell_;
    ReplyTokens tokens_;
    async::Notifier changed_;
    std::shared_ptr<Stop> stop_;     ///< of the program that runs; null: none does
    std::vector<std::string> argv_;  ///< of that program
    std::string problem_;
    bool stopped_ = false;
    std::string line_;                 ///< the beginning of a line that is not complete
    std::deque<std::string> waiting_;  ///< lines
    bool is_working_ = false;
    async::Moment minute_{};  ///< the one whose lines are counted
    int lines_ = 0;
    std::set<std::string> told_;  ///< refusals that the human was notified of
};

}  // namespace orange
