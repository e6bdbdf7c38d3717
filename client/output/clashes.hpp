#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "client/output/terminal.hpp"
#include "common/model/clash.hpp"
#include "common/rpc/task_view.hpp"

/// Clashes of tasks in lists, pages and questions. Pure, printable.
namespace orange::output {

/// The mark of a task with clashes.
inline constexpr const char* k_clash_mark = "≠";

/// Returns "clashes with main in b.c; clashes with 7c1d in cart.py, 2 hunks; and 2 more"; empty without clashes.
/// Certain clashes come first, of these the ones with a branch, as in a list.
std::string clashes_text(std::vector<Clash> clashes);

/// Returns how a merge of the task makes others conflict: "After this, 7c1d will conflict in cart.py, 2 hunks". Those
/// that certainly conflict come first; after three the others are only counted.
std::vector<std::string> merge_clash_facts(const std::vector<Clash>& clashes);

/// The sentences below a list that may come in parts. Each pair of tasks is named once; after five sentences the others
/// are only counted.
class ClashNotes {
  public:
    void add(const std::vector<rpc::TaskView>& tasks);
    /// Returns wrapped lines; empty without clashes.
    std::string text(const Style& style) const;

  private:
    std::set<std::pair<std::string, std::string>> pairs_;
    struct Note {
        int rank;
        std::string id, sentence;  ///< of the task, for people
    };
    std::vector<Note> notes_;  ///< those that are named, and the first that is only counted
};

}  // namespace orange::output
