#include "daemon/runner/review/comment_places.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "common/base/shown_path.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "common/model/json.hpp"
#include "common/model/patch.hpp"
#include "daemon/store/sections.hpp"

namespace orange::review {
namespace {

/// So many letters and digits make lines that stand once in a file those that were commented on.
constexpr std::ptrdiff_t k_distinct = 8;

CommentPlace outdated(const CommentAnchor& anchor) {
    return {CommentPlace::Kind::outdated, anchor.path, anchor.line, anchor.end};
}

CommentPlace standing(const CommentAnchor& anchor, const std::string& path, std::int64_t line) {
    const bool is_here = path == anchor.path && line == anchor.line;
    return {is_here ? CommentPlace::Kind::here : CommentPlace::Kind::moved, path, line,
            line + anchor.end - anchor.line};
}

/// Returns the line that the anchor's first line has after the change, if all of its lines stand together there.
std::int64_t line_now(const PatchFile& file, const CommentAnchor& anchor) {
    const auto first = line_after(file, anchor.line);
    for (auto line = anchor.line; first > 0 && line <= anchor.end; ++line) {
        if (line_after(file, line) != first + line - anchor.line) return 0;
    }
    return first;
}

/// The place that the anchor's lines seem to have: without a line, only the file is known; without a path, nothing.
struct Candidate {
    std::string path;
    std::int64_t line = 0;
};

Candidate candidate_after(const Patch& patch, const CommentAnchor& anchor) {
    const auto changed = std::ranges::find(patch.files, anchor.path, &PatchFile::before);
    if (changed == patch.files.end()) return {anchor.path, anchor.line};
    if (changed->now.empty() || changed->is_binary) return {};
    return {changed->now, line_now(*changed, anchor)};
}

/// Takes the place only if the very lines stand there; otherwise they may stand at one other place of the file.
CommentPlace place_in(const std::map<std::string, std::string>& texts, const CommentAnchor& anchor,
                      const Candidate& candidate) {
    const auto text = texts.find(candidate.path);
    if (text == texts.end()) return outdated(anchor);
    auto line = candidate.line;
    const auto there = lines_of(text->second, line, line + anchor.end - anchor.line);
    if (!there || (!anchor.text.empty() && as_text(*there) != anchor.text))
        line = only_place_of(text->second, anchor.text);
    if (line == 0) return outdated(anchor);
    return standing(anchor, candidate.path, line);
}

/// Returns the contents of these files of a commit or tree, as far as git has them: one process for all.
Awaitable<std::map<std::string, std::string>> texts_of(Git& git, std::string repository, std::string tree,
                                                       std::set<std::string> paths) {
    std::map<std::string, std::string> texts;
    GitCommand command;
    command.place = std::move(repository);
    command.args = {"cat-file", "--batch"};
    for (const auto& path : paths) command.input += tree + ":" + path + "\n";
    const auto read = co_await git_output(git, std::move(command));
    if (!read) co_return texts;
    std::string_view rest = *read;
    for (const auto& path : paths) {
        const auto end = rest.find('\n');
        if (end == std::string_view::npos) break;
        const auto words = split(rest.substr(0, end), ' ');
        rest.remove_prefix(end + 1);
        const auto size = words.size() == 3 ? whole_number(words[2]) : std::nullopt;
        if (!size) continue;  // git has no such file
        const auto bytes = static_cast<std::size_t>(*size);
        if (rest.size() <= bytes) break;  // it was cut off
        if (words[1] == "blob") texts[path] = rest.substr(0, bytes);
        rest.remove_prefix(bytes + 1);
    }
    co_return texts;
}

/// Returns what differs between two commits or trees, with no line around; nullopt if git cannot say.
Awaitable<std::optional<std::string>> difference(Git& git, std::string repository, std::string from, std::string to) {
    GitCommand command;
    command.place = std::move(repository);
    command.args = {"-c",
                    "diff.renameLimit=1000",
                    "diff",
                    "--patch",
                    "--unified=0",
                    "--inter-hunk-context=0",
                    "-M",
                    "--no-color",
                    "--no-ext-diff",
                    "--no-textconv",
                    "--src-prefix=a/",
                    "--dst-prefix=b/",
                    "--ignore-submodules=all",
                    "--end-of-options",
                    from,
                    to,
                    "--"};
    const auto text = co_await git_output(git, std::move(command));
    if (!text) co_return std::nullopt;
    co_return *text;
}

}  // namespace

std::optional<std::string> lines_of(std::string_view text, std::int64_t first, std::int64_t last) {
    if (first < 1 || last < first) return std::nullopt;
    std::size_t begin = 0, end = 0;
    for (std::int64_t line = 1;; ++line) {
        if (end >= text.size()) return std::nullopt;
        if (line == first) begin = end;
        end = std::min(text.find('\n', end), text.size());
        if (line == last) break;
        ++end;
    }
    return std::string(text.substr(begin, end - begin));
}

std::int64_t only_place_of(std::string_view text, std::string_view lines) {
    const auto is_word = [](unsigned char c) {
        return c >= 0x80 || (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
    };
    if (std::ranges::count_if(lines, is_word) < k_distinct) return 0;
    std::int64_t found = 0;
    for (std::size_t at = text.find(lines); at != std::string_view::npos; at = text.find(lines, at + 1)) {
        const auto end = at + lines.size();
        if ((at > 0 && text[at - 1] != '\n') || (end < text.size() && text[end] != '\n')) continue;
        if (found > 0) return 0;
        found = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    }
    return found;
}

std::string as_text(std::string text) {
    if (is_valid_utf8(text)) return text;
    const auto parsed = parse_json(dump(Json(text)));
    return parsed && parsed->is_string() ? parsed->get<std::string>() : std::string();
}

bool is_object_id(std::string_view text) {
    return (text.size() == 40 || text.size() == 64) &&
           text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool is_file_path(std::string_view path) {
    if (path.empty() || path.find_first_of(std::string_view("\n\0", 2)) != std::string_view::npos) return false;
    while (true) {
        const auto end = path.find('/');
        const auto name = path.substr(0, end);
        if (name.empty() || name == "." || name == "..") return false;
        if (end == std::string_view::npos) return true;
        path.remove_prefix(end + 1);
    }
}

Awaitable<Result<std::string>> file_in(Git& git, std::string repository, std::string tree, std::string path) {
    GitCommand command;
    command.place = std::move(repository);
    command.args = {"cat-file", "blob", tree + ":" + path};
    CO_TRY(auto read, co_await git.run(std::move(command)));
    const auto shown = shown_path(path);
    if (!read.ok()) {
        co_return Error(ErrorCode::invalid_argument,
                        "the task's work has no file " + shown + "; paths begin at the root of the repository");
    }
    if (read.out.find('\0') != std::string::npos) {
        co_return Error(ErrorCode::invalid_argument,
                        shown + " is binary and has no lines; say what you think of it in the text of the rejection");
    }
    co_return std::move(read.out);
}

Awaitable<std::vector<CommentPlace>> places_in(Git& git, std::string repository, std::string target,
                                               std::vector<CommentAnchor> anchors) {
    std::map<std::string, std::optional<std::string>> differences;  // from → what differs
    std::map<std::string, Patch> patches;
    std::vector<Candidate> candidates;
    std::set<std::string> paths;
    for (const auto& anchor : anchors) {
        if (!differences.contains(anchor.commit)) {
            std::optional<std::string> text;
            if (anchor.commit == target) text = std::string();
            if (!anchor.commit.empty() && !target.empty() && !text) {
                text = co_await difference(git, repository, anchor.commit, target);
            }
            const auto& kept = differences[anchor.commit] = std::move(text);
            if (kept) patches[anchor.commit] = parse_patch(*kept, true);
        }
        const auto patch = patches.find(anchor.commit);
        candidates.push_back(patch == patches.end() ? Candidate() : candidate_after(patch->second, anchor));
        if (is_file_path(candidates.back().path)) paths.insert(candidates.back().path);
    }
    std::map<std::string, std::string> texts;
    if (!paths.empty()) texts = co_await texts_of(git, std::move(repository), std::move(target), std::move(paths));
    std::vector<CommentPlace> places;
    for (std::size_t i = 0; i < anchors.size(); ++i) places.push_back(place_in(texts, anchors[i], candidates[i]));
    co_return places;
}

std::optional<std::string_view> section_in(std::string_view body, const std::string& heading) {
    std::optional<std::string_view> found;
    for (const auto& block : store::blocks_of(body)) {
        if (block.heading != heading || heading.empty()) continue;
        const auto end = block.text.find('\n');
        found = end == std::string_view::npos ? std::string_view() : block.text.substr(end + 1);
    }
    return found;
}

CommentPlace place_in_section(const CommentAnchor& anchor, std::string_view section) {
    if (lines_of(section, anchor.line, anchor.end) == anchor.text) return standing(anchor, "", anchor.line);
    const auto line = only_place_of(section, anchor.text);
    if (line == 0) return outdated(anchor);
    return standing(anchor, "", line);
}

}  // namespace orange::review
