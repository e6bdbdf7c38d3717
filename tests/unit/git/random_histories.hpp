#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

/// Random histories for `git fast-import`: a branch `target`, and two branches `ours` and `theirs` that begin on it and
/// change the same few files in all ways that a merge treats differently. A seed gives the same histories on every
/// machine.
namespace orange::test {

struct HistoryFile {
    std::string mode;
    std::string text;  ///< of a submodule: its commit
    bool operator==(const HistoryFile&) const = default;
};
using HistoryTree = std::map<std::string, HistoryFile>;

/// Adds a file. As in git, no path is a file and a folder at once: what is in its way is removed.
inline void put_file(HistoryTree& tree, const std::string& path, HistoryFile file) {
    for (auto slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
        tree.erase(path.substr(0, slash));
    }
    std::erase_if(tree, [&](const auto& entry) { return entry.first.starts_with(path + "/"); });
    tree[path] = std::move(file);
}

/// Takes all that `theirs` has changed since `base` into `ours`, whole files at a time, as a person may resolve a
/// merge.
inline HistoryTree taken_over(const HistoryTree& base, HistoryTree ours, const HistoryTree& theirs) {
    for (const auto& [path, file] : base) {
        if (!theirs.contains(path)) ours.erase(path);
    }
    for (const auto& [path, file] : theirs) {
        const auto before = base.find(path);
        if (before == base.end() || before->second != file) put_file(ours, path, file);
    }
    return ours;
}

class RandomHistories {
  public:
    explicit RandomHistories(std::uint64_t seed) : dice_(seed) {}

    /// Adds the branches `N/target`, `N/ours` and `N/theirs`.
    void add(int number) {
        const auto name = std::to_string(number) + "/";
        const auto base = first_tree();
        Line target{commit(base, {}), base};
        Line ours = target;
        if (one_in(3)) go_on(target, 2);
        Line theirs = target;
        const auto fork = target.tree;
        go_on(target, 2);
        if (one_in(8)) {  // both have the same change, as after a cherry-pick
            edit(ours.tree);
            theirs.tree = taken_over(base, theirs.tree, ours.tree);
        }
        go_on(ours, 4);
        if (one_in(12)) {  // theirs begins with the work of ours
            theirs = ours;
        } else {
            go_on(theirs, 4);
        }
        if (one_in(6)) theirs = merged(theirs, target, fork);
        if (one_in(6)) {  // each merges an earlier state of the other one: two commits are the newest in common
            const auto earlier = ours;
            ours = merged(ours, theirs, base);
            theirs = merged(theirs, earlier, base);
        }
        go_on(ours, 2);
        go_on(theirs, 2);
        for (const auto& [branch, line] : {std::pair{"target", target}, {"ours", ours}, {"theirs", theirs}}) {
            stream_ += "reset refs/heads/" + name + branch + "\nfrom :" + std::to_string(line.commit) + "\n\n";
        }
    }

    /// Returns the input of `git fast-import`.
    const std::string& stream() const { return stream_; }

  private:
    struct Line {
        int commit = 0;  ///< its mark
        HistoryTree tree;
    };

    std::size_t below(std::size_t end) { return static_cast<std::size_t>(dice_() % end); }
    bool one_in(std::size_t times) { return below(times) == 0; }
    template <class Range>
    const auto& one_of(const Range& range) {
        return *std::next(range.begin(), static_cast<std::ptrdiff_t>(below(range.size())));
    }

    static HistoryTree first_tree();
    static std::string lines(const std::string& of, int count, const std::string& end);

    int commit(const HistoryTree& tree, const std::vector<int>& parents);
    void go_on(Line& line, std::size_t most_edits);
    Line merged(const Line& line, const Line& other, const HistoryTree& base);

    void edit(HistoryTree& tree);
    void edit_lines(HistoryTree& tree);
    void change_ends_of_lines(HistoryTree& tree);
    void change_mode(HistoryTree& tree);
    void rename_file(HistoryTree& tree);
    void rename_folder(HistoryTree& tree);
    void file_for_folder(HistoryTree& tree);
    void new_file(HistoryTree& tree);
    void change_attributes(HistoryTree& tree);
    HistoryFile some_file();
    std::string some_new_path();
    std::string some_folder(const HistoryTree& tree);
    std::string some_path(const HistoryTree& tree);

    std::mt19937_64 dice_;
    std::string stream_;
    int marks_ = 0;
};

inline std::string RandomHistories::lines(const std::string& of, int count, const std::string& end) {
    std::string text;
    for (int i = 0; i < count; ++i) text += std::to_string(i) + " of " + of + end;
    return text;
}

inline HistoryTree RandomHistories::first_tree() {
    const auto plain = [](const std::string& path, int count) {
        return std::pair{path, HistoryFile{"100644", lines(path, count, "\n")}};
    };
    HistoryTree tree{plain("README", 8),           plain("src/a.c", 20),        plain("src/b.c", 20),
                     plain("src/sub/c.c", 14),     plain("lib/core/x.c", 16),   plain("lib/core/y.c", 16),
                     plain("lib/core/in/z.c", 12), plain("docs/one two.md", 9), plain("docs/n\xc3\xa4he.md", 9),
                     plain("names.union", 6),      plain("versions.lock", 6),   plain("eol.txt", 9)};
    tree["docs/dos.txt"] = {"100644", lines("dos", 12, "\r\n")};
    tree["docs/\"two\nlines\".md"] = {"100644", lines("two", 6, "\n")};
    tree["run.sh"] = {"100755", lines("run", 8, "\n")};
    tree["picture.bin"] = {"100644", std::string("\0\1\2picture\0\n", 12)};
    tree["empty"] = {"100644", ""};
    tree["link"] = {"120000", "src/a.c"};
    tree["module"] = {"160000", std::string(40, '1')};
    tree[".gitattributes"] = {"100644", "*.union merge=union\n*.lock -merge\neol.txt eol=crlf\n"};
    return tree;
}

inline int RandomHistories::commit(const HistoryTree& tree, const std::vector<int>& parents) {
    const auto quoted = [](const std::string& path) {
        std::string text = "\"";
        for (const char c : path) {
            if (c == '"') text += '\\';
            text += c == '\n' ? std::string("\\n") : std::string(1, c);
        }
        return text + "\"";
    };
    // Each commit is on a branch of its own, so that its parents are those that are named.
    const auto mark = std::to_string(++marks_);
    stream_ += "commit refs/made/" + mark + "\nmark :" + mark + "\ncommitter T <t@localhost> 1700000000 +0000\n";
    stream_ += "data " + std::to_string(mark.size()) + "\n" + mark + "\n";
    for (std::size_t i = 0; i < parents.size(); ++i) {
        stream_ += (i == 0 ? "from :" : "merge :") + std::to_string(parents[i]) + "\n";
    }
    stream_ += "deleteall\n";
    for (const auto& [path, file] : tree) {
        if (file.mode == "160000") {
            stream_ += "M 160000 " + file.text + " " + quoted(path) + "\n";
            continue;
        }
        stream_ += "M " + file.mode + " inline " + quoted(path) + "\n";
        stream_ += "data " + std::to_string(file.text.size()) + "\n" + file.text + "\n";
    }
    stream_ += "\n";
    return marks_;
}

/// Makes up to `most_edits` edits, in one commit or in several.
inline void RandomHistories::go_on(Line& line, std::size_t most_edits) {
    const auto edits = below(most_edits + 1);
    for (std::size_t i = 0; i < edits; ++i) {
        edit(line.tree);
        if (i + 1 == edits || one_in(2)) line.commit = commit(line.tree, {line.commit});
    }
}

inline RandomHistories::Line RandomHistories::merged(const Line& line, const Line& other, const HistoryTree& base) {
    Line made{0, taken_over(base, line.tree, other.tree)};
    made.commit = commit(made.tree, {line.commit, other.commit});
    return made;
}

inline void RandomHistories::edit(HistoryTree& tree) {
    switch (below(26)) {
        case 0:
            return change_ends_of_lines(tree);
        case 1:
            return change_mode(tree);
        case 2:
        case 3:
            return rename_file(tree);
        case 4:
        case 5:
        case 6:
            return rename_folder(tree);
        case 7:
            return file_for_folder(tree);
        case 8:
        case 9:
            return new_file(tree);
        case 10:
            return change_attributes(tree);
        case 11:
            if (tree.size() > 4) tree.erase(some_path(tree));
            return;
        case 12:
            return put_file(tree, "module", {"160000", std::string(40, static_cast<char>('1' + below(3)))});
        default:
            return edit_lines(tree);
    }
}

/// Changes, inserts or removes a line of some file; of a link or a submodule it changes where that leads.
inline void RandomHistories::edit_lines(HistoryTree& tree) {
    auto& file = tree.at(some_path(tree));
    if (file.mode == "160000") {
        file.text = std::string(40, static_cast<char>('4' + below(3)));
        return;
    }
    if (file.mode == "120000") {
        file.text = "to-" + std::to_string(below(3));
        return;
    }
    std::vector<std::string> all;
    for (std::size_t at = 0; at < file.text.size();) {
        const auto end = file.text.find('\n', at);
        const auto next = end == std::string::npos ? file.text.size() : end + 1;
        all.push_back(file.text.substr(at, next - at));
        at = next;
    }
    const auto line = "changed " + std::to_string(below(40)) + "\n";
    const auto at = below(one_in(2) ? std::min(all.size() + 1, std::size_t{4}) : all.size() + 1);
    const auto how = below(5);
    if (at == all.size() || how == 0) {
        all.insert(all.begin() + static_cast<std::ptrdiff_t>(at), line);
    } else if (how == 1) {
        all.erase(all.begin() + static_cast<std::ptrdiff_t>(at));
    } else {
        all[at] = line;
    }
    file.text.clear();
    for (const auto& part : all) file.text += part;
    if (one_in(10) && !file.text.empty()) file.text.pop_back();
}

/// Gives a file the other kind of line ends. With `eol` in .gitattributes git would call the file changed as soon as it
/// is checked out.
inline void RandomHistories::change_ends_of_lines(HistoryTree& tree) {
    const auto path = some_path(tree);
    auto& file = tree.at(path);
    if (!file.mode.starts_with("100") || path.ends_with("eol.txt")) return;
    std::string text;
    const bool is_dos = file.text.find('\r') != std::string::npos;
    for (const char c : file.text) {
        if (c == '\r') continue;
        if (c == '\n' && !is_dos) text += '\r';
        text += c;
    }
    file.text = text;
}

/// Makes a file executable or not, or a link of it.
inline void RandomHistories::change_mode(HistoryTree& tree) {
    auto& file = tree.at(some_path(tree));
    if (!file.mode.starts_with("100")) return;
    if (one_in(4)) {
        file = {"120000", "README"};
    } else {
        file.mode = file.mode == "100644" ? "100755" : "100644";
    }
}

inline void RandomHistories::rename_file(HistoryTree& tree) {
    const auto path = some_path(tree);
    auto file = tree.at(path);
    tree.erase(path);
    const auto slash = path.rfind('/');
    const auto name = slash == std::string::npos ? path : path.substr(slash + 1);
    put_file(tree, one_in(2) ? some_new_path() : one_of(std::vector<std::string>{"src/", "docs/", "moved/"}) + name,
             std::move(file));
}

/// Moves all files of a folder, or two halves of it to two places.
inline void RandomHistories::rename_folder(HistoryTree& tree) {
    const auto folder = some_folder(tree);
    if (folder.empty()) return;
    const std::vector<std::string> places{"moved/", "lib2/", "src/in/", "docs/", "lib/core/"};
    const auto to = one_of(places);
    const auto second = one_in(4) ? one_of(places) : to;
    std::vector<std::pair<std::string, HistoryFile>> moving;
    for (const auto& [path, file] : tree) {
        if (path.starts_with(folder)) moving.emplace_back(path.substr(folder.size()), file);
    }
    std::erase_if(tree, [&](const auto& entry) { return entry.first.starts_with(folder); });
    for (std::size_t i = 0; i < moving.size(); ++i) {
        put_file(tree, (i < moving.size() / 2 ? second : to) + moving[i].first, moving[i].second);
    }
}

/// Puts a file where a folder was, or a folder where a file was.
inline void RandomHistories::file_for_folder(HistoryTree& tree) {
    const auto folder = some_folder(tree);
    if (one_in(2) && !folder.empty()) return put_file(tree, folder.substr(0, folder.size() - 1), some_file());
    const auto path = some_path(tree);
    put_file(tree, path + "/inside", some_file());
}

inline void RandomHistories::new_file(HistoryTree& tree) {
    if (one_in(6)) return put_file(tree, "module2", {"160000", std::string(40, static_cast<char>('1' + below(2)))});
    put_file(tree, some_new_path(), some_file());
}

inline void RandomHistories::change_attributes(HistoryTree& tree) {
    const std::vector<std::string> rules{"*.c merge=union\n", "*.md -merge\n", "*.bin binary\n",
                                         "*.c conflict-marker-size=12\n", "README binary\n"};
    const std::vector<std::string> places{".gitattributes", "src/.gitattributes", "lib/core/.gitattributes"};
    const auto& place = one_of(places);
    const auto known = tree.find(place);
    auto text = known == tree.end() || !known->second.mode.starts_with("100") ? std::string() : known->second.text;
    if (!text.empty() && !text.ends_with('\n')) text += '\n';
    put_file(tree, place, {"100644", text + one_of(rules)});
}

inline HistoryFile RandomHistories::some_file() {
    if (one_in(8)) return {"120000", "target" + std::to_string(below(2))};
    return {one_in(6) ? "100755" : "100644",
            lines("new " + std::to_string(below(3)), static_cast<int>(3 + below(6)), one_in(5) ? "\r\n" : "\n")};
}

inline std::string RandomHistories::some_new_path() {
    return one_of(std::vector<std::string>{"added", "src/added.c", "src/sub/added.c", "lib/added.c", "lib/core/added.c",
                                           "lib/core/in/added.c", "docs/added.md", "moved/added", "a/b/c/added"});
}

/// Returns the path of a file, of a few files more often than of the others: both branches are to meet.
inline std::string RandomHistories::some_path(const HistoryTree& tree) {
    const auto hot = one_of(std::vector<std::string>{"src/a.c", "docs/dos.txt", "lib/core/x.c", "versions.lock"});
    return tree.contains(hot) && one_in(2) ? hot : one_of(tree).first;
}

/// Returns a folder with a slash at its end; empty if there is none.
inline std::string RandomHistories::some_folder(const HistoryTree& tree) {
    std::set<std::string> folders;
    for (const auto& [path, file] : tree) {
        for (auto slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
            folders.insert(path.substr(0, slash + 1));
        }
    }
    return folders.empty() ? std::string() : one_of(folders);
}

}  // namespace orange::test
