#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// A clash is known before any merge: the work of two tasks cannot be merged one after the other without a person. The
/// daemon finds it out (daemon/runner/merging/forecast.hpp); all outputs say it with the words of here.
namespace orange {

/// A file that git cannot merge by itself.
struct ClashFile {
    std::string path;
    std::int64_t hunks = 0;  ///< places in it that differ; 0: not of lines (removed, renamed, binary), or not known

    void describe(auto& v) {
        v.required("path", path, "in the repository");
        v.sparse("hunks", hunks, "places in it; absent: it is not about lines, or not known");
    }
    bool operator==(const ClashFile&) const = default;
};

/// A clash of a task's work with the work of another one, or with the branch that it is merged into.
struct Clash {
    std::string with;      ///< the id of the other task; empty: the branch
    std::string short_id;  ///< the same for people
    std::string branch;    ///< the branch that the task is merged into; empty if `with` is set
    std::vector<ClashFile> files;
    std::int64_t more = 0;  ///< further files, which are not in `files`
    bool maybe = false;     ///< both change these files, and some of it is not committed yet

    void describe(auto& v) {
        v.sparse("with", with, "id of the other task; absent: it is with `branch`");
        v.sparse("short_id", short_id, "its short id");
        v.sparse("branch", branch, "the branch that the task is merged into, if the clash is with that");
        v.required("files", files, "the files that git cannot merge by itself, at most 10");
        v.sparse("more", more, "number of further files");
        v.sparse("maybe", maybe, "both change these files, and some of it is not committed yet");
    }
    bool operator==(const Clash&) const = default;
};

/// Files that a Clash names.
inline constexpr std::size_t k_clash_files = 10;

/// Returns "with 7c1d in cart.py, 2 hunks", "with main in cart.py and 3 more files", "with 7c1d in cart.py, not
/// committed yet".
std::string clash_text(const Clash& clash);
/// Returns the same as a clause: "clashes with 7c1d in cart.py, 2 hunks", or "may clash with 7c1d in cart.py, …".
std::string clash_clause(const Clash& clash);
/// Returns the files alone: "cart.py, 2 hunks".
std::string clash_files(const Clash& clash);

}  // namespace orange
