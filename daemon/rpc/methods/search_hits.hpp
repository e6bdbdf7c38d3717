#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "common/rpc/search_methods.hpp"

/// The pure part of `task.search`: the words for grep, its output, and the places that it has found.
namespace orange::rpc {

/// Refuses a text that grep would not search as one line, and an expression that could use up time and memory.
Result<void> check_search(const TaskSearch& params);

/// Returns the words of grep; the names of tasks' folders follow.
std::vector<std::string> grep_words(const TaskSearch& params);

/// A place in a file.
struct Match {
    std::uintmax_t at = 0;  ///< the offset of its first byte
    std::uintmax_t end = 0;
    std::int64_t line = 0;
};

/// The matches in a file, oldest first; of many the last ones.
struct FileMatches {
    std::string task;   ///< "shop/7JJC…"
    std::string below;  ///< "logs/worker-9aX….log"
    std::deque<Match> last;
    std::int64_t dropped = 0;
};

/// Reads what grep prints (FILE, NUL, LINE:OFFSET:MATCH) as it comes, in bounded memory. When there is enough,
/// the task whose matches come then is finished, and later ones are left for the next call.
class GrepOutput {
  public:
    static constexpr std::size_t k_enough = 5000, k_of_a_file = 100;

    void take(std::string_view output);
    const std::vector<FileMatches>& files() const { return files_; }
    bool is_full() const { return full_; }

  private:
    void add_line();

    std::vector<FileMatches> files_;
    std::size_t kept_ = 0;
    std::string head_;        ///< the beginning of the present line
    std::size_t length_ = 0;  ///< of the present line
    bool full_ = false;
};

/// Returns the line of `text` around a byte, cut to what is near to it, printable.
std::string excerpt(std::string_view text, std::size_t at);

/// A text in an event of a history.
struct EventText {
    std::string text;
    std::size_t at = 0;  ///< where the match is in it
};
/// Returns the text of a history's line that has this byte; nothing if the byte is not in a text that an agent, a
/// person or a program wrote, but in a name, an id or a number.
std::optional<EventText> event_text(std::string_view line, std::size_t at);

}  // namespace orange::rpc
