#include "daemon/shim/read_only.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

namespace orange::shim {
namespace {

using Words = std::vector<ShellWord>;
using Texts = std::vector<std::string_view>;

/// No option of these writes, or starts a program.
const std::set<std::string_view> k_harmless = {
    "ls",   "cat",     "head", "tail", "wc",     "grep",     "egrep",    "fgrep",   "cut",       "tr",     "nl",
    "tac",  "rev",     "echo", "pwd",  "true",   "false",    ":",        "stat",    "diff",      "cmp",    "basename",
    "comm", "dirname", "du",   "fold", "expand", "realpath", "readlink", "which",   "type",      "sleep",  "seq",
    "jq",   "column",  "od",   "df",   "id",     "whoami",   "md5sum",   "sha1sum", "sha256sum", "hexdump"};

/// A pattern that could become the name of a file that looks like an option.
bool may_be_option(const ShellWord& word) {
    return word.globs && word.text.find_first_of("*?[") == 0;
}

bool begins_with_any(std::string_view word, const Texts& beginnings) {
    return std::any_of(beginnings.begin(), beginnings.end(), [&](auto each) { return word.starts_with(each); });
}

/// Of each of these the beginnings of words that it must not be given.
const std::map<std::string_view, Texts> k_harmless_without = {
    {"find", {"-exec", "-ok", "-delete", "-fprint", "-fls"}},
    {"rg", {"--pre", "--hostname-bin"}},
    {"printf", {"-v"}},
};

const std::set<std::string_view> k_git = {"blame",    "cat-file",  "describe", "diff",     "grep",
                                          "log",      "ls-files",  "ls-tree",  "name-rev", "merge-base",
                                          "rev-list", "rev-parse", "shortlog", "show",     "status"};
const std::set<std::string_view> k_git_options = {"--no-pager", "-P", "--no-optional-locks"};
const std::set<std::string_view> k_git_branch = {"--show-current", "-a", "-r", "-v", "-vv", "--all", "--remotes"};
/// git takes the beginning of a long option for the whole. -O is a program for grep, and an order for the others.
const Texts k_git_refused = {"--ou", "--ext", "--textc", "--op"};

/// `sed -n 10,20p FILE…`: addresses in lines, and nothing but print.
bool is_sed_print(const Texts& words) {
    if (words.size() < 2 || words[0] != "-n") return false;
    const auto& script = words[1];
    const bool plain = std::all_of(script.begin(), script.end(), [](char c) {
        return (c >= '0' && c <= '9') || std::string_view("$,;p ").find(c) != std::string_view::npos;
    });
    const auto options = std::any_of(words.begin() + 2, words.end(), [](auto word) { return word.starts_with('-'); });
    return plain && !options;
}

bool is_git_query(const Texts& texts) {
    std::size_t at = 1;
    while (at < texts.size() && (k_git_options.contains(texts[at]) || texts[at] == "-C")) {
        at += texts[at] == "-C" ? 2 : 1;  // where it leads is looked at elsewhere
    }
    if (at >= texts.size()) return false;
    const auto command = texts[at++];
    if (command == "branch") {
        return std::all_of(texts.begin() + static_cast<std::ptrdiff_t>(at), texts.end(),
                           [](auto word) { return k_git_branch.contains(word); });
    }
    if (!k_git.contains(command)) return false;
    const auto refused = [&](std::string_view word) {
        return begins_with_any(word, k_git_refused) || (command == "grep" && word.starts_with("-O"));
    };
    return std::none_of(texts.begin() + static_cast<std::ptrdiff_t>(at), texts.end(), refused);
}

/// Neither -o FILE nor an option in letters that takes a program.
bool is_plain_sort(const Texts& words) {
    return std::none_of(words.begin(), words.end(), [](auto word) {
        return word.starts_with("--") || (word.starts_with('-') && word.find_first_of("oTS") != std::string_view::npos);
    });
}

}  // namespace

bool only_reads(const Words& words) {
    Texts texts;
    for (const auto& word : words) texts.emplace_back(word.text);
    if (texts.empty()) return false;
    const auto name = texts.front();
    if (k_harmless.contains(name)) return true;
    // A variable or a pattern could hold an option.
    if (std::any_of(words.begin(), words.end(), [](const auto& word) { return word.unknown || may_be_option(word); })) {
        return false;
    }
    const Texts arguments(texts.begin() + 1, texts.end());
    if (name == "git") return is_git_query(texts);
    if (name == "sed") return is_sed_print(arguments);
    if (name == "sort") return is_plain_sort(arguments);
    if (name == "command") return arguments.size() == 2 && arguments[0] == "-v";
    if (name == "uniq") {  // its second file is written
        return std::all_of(arguments.begin(), arguments.end(), [](auto word) { return word.starts_with('-'); });
    }
    const auto refused = k_harmless_without.find(name);
    return refused != k_harmless_without.end() && std::none_of(arguments.begin(), arguments.end(), [&](auto word) {
               return begins_with_any(word, refused->second);
           });
}

}  // namespace orange::shim
