#include "daemon/forge/github_threads.hpp"

#include <algorithm>

#include "common/base/text.hpp"
#include "daemon/forge/github_answers.hpp"

namespace orange::forge {
namespace {

constexpr std::size_t k_longest_reply = 8000;
constexpr std::size_t k_longest_login = 100;
constexpr std::size_t k_longest_path = 1000;
constexpr std::size_t k_longest_address = 500;
constexpr std::size_t k_longest_id = 200;
constexpr std::size_t k_longest_quote = 16 << 10;
constexpr std::size_t k_most_authors = 30;
constexpr std::int64_t k_last_line = 100'000'000;
constexpr std::string_view k_bot = "[bot]";

bool is_oid(std::string_view text) {
    return (text.size() == 40 || text.size() == 64) &&
           text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// A login goes into the path of a question.
bool is_login(std::string_view text) {
    constexpr std::string_view k_allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    return !text.empty() && text.size() <= k_longest_login &&
           text.find_first_not_of(k_allowed) == std::string_view::npos;
}

/// Returns the name of a text's author; empty if GitHub names none that can be asked for.
std::string login_of(const Json& comment) {
    const auto* author = comment.contains("author") ? &comment.at("author") : nullptr;
    if (!author || !author->is_object()) return {};
    auto login = text_member(*author, "login");
    if (!is_login(login)) return {};
    // A program and a person may have the same login, and only the person's rights are a person's.
    if (text_member(*author, "__typename") == "Bot") login += k_bot;
    return login;
}

std::int64_t line_in(const Json& thread, const char* field) {
    if (!thread.contains(field) || !thread.at(field).is_number_integer()) return 0;
    const auto line = thread.at(field).get<std::int64_t>();
    return line >= 1 && line <= k_last_line ? line : 0;
}

bool is_plain_path(std::string_view path) {
    if (path.empty() || path.size() > k_longest_path || path.front() == '/' || printable(path) != path) return false;
    const auto parts = split(path, '/');
    return std::none_of(parts.begin(), parts.end(),
                        [](std::string_view part) { return part.empty() || part == "." || part == ".."; });
}

/// Returns the last lines of a side in a hunk, which ends with the lines that were commented; empty if it does not show
/// so many.
std::string quoted_in(std::string_view hunk, DiffSide side, std::int64_t wanted) {
    const char other = side == DiffSide::now ? '-' : '+';
    auto lines = split(hunk, '\n');
    std::string quoted;
    std::int64_t taken = 0;
    for (auto line = lines.rbegin(); line != lines.rend() && taken < wanted; ++line) {
        if (line->starts_with("@@")) break;
        if (line->empty() || line->front() == other || line->front() == '\\') continue;
        quoted = std::string(line->substr(1)) + (taken == 0 ? "" : "\n") + quoted;
        if (quoted.size() > k_longest_quote) return {};
        ++taken;
    }
    return taken == wanted && quoted.find('\0') == std::string::npos ? quoted : std::string();
}

CommentAnchor anchor_of(const Json& thread) {
    CommentAnchor anchor;
    std::string hunk;
    if (const auto* first = nodes_of(thread, "first"); first && !first->empty() && first->front().is_object()) {
        const auto& opening = first->front();
        hunk = text_member(opening, "diffHunk");
        if (opening.contains("originalCommit")) anchor.commit = text_member(opening.at("originalCommit"), "oid");
    }
    if (text_member(thread, "diffSide") == "LEFT") anchor.side = DiffSide::before;
    // The numbers of the commit on which the thread began stay true; the others are null once the lines have changed.
    auto line = line_in(thread, "originalLine");
    auto start = line_in(thread, "originalStartLine");
    if (line == 0) {
        line = line_in(thread, "line");
        start = line_in(thread, "startLine");
    }
    anchor.path = text_member(thread, "path");
    const bool is_known = is_oid(anchor.commit) && is_plain_path(anchor.path);
    if (!is_known) {
        anchor.commit.clear();
        anchor.path = ellipsized(printable(anchor.path), k_longest_path);
    }
    anchor.end = std::max<std::int64_t>(line, 1);  // a remark about a whole file has no line
    anchor.line = start > 0 && start <= anchor.end ? start : anchor.end;
    if (line > 0) anchor.text = quoted_in(hunk, anchor.side, anchor.end - anchor.line + 1);
    return anchor;
}

struct Author {
    std::string login;
    bool is_likely = false;
};

void read_texts(const Json& comments, PullThread& thread, std::vector<Author>& authors) {
    for (const auto& comment : comments) {
        if (!comment.is_object() || is_set(comment, "isMinimized") || text_member(comment, "state") == "PENDING") {
            continue;
        }
        PullReply reply;
        reply.id = text_member(comment, "id");
        reply.text = written_text(text_member(comment, "body"), k_longest_reply);
        const auto is_same = [&](const PullReply& other) { return other.id == reply.id; };
        if (reply.id.empty() || reply.id.size() > k_longest_id || reply.text.empty()) continue;
        if (std::any_of(thread.said.begin(), thread.said.end(), is_same)) continue;
        reply.at = from_rfc3339(text_member(comment, "createdAt")).value_or(Timestamp{});
        reply.url = ellipsized(printable(text_member(comment, "url")), k_longest_address);
        auto login = login_of(comment);
        if (!login.empty()) {
            // The word of GitHub for the author says who is worth a question, and gives nobody a right.
            const auto called = text_member(comment, "authorAssociation");
            authors.push_back({login, called == "OWNER" || called == "MEMBER" || called == "COLLABORATOR"});
        }
        reply.author = login.empty() ? "(unknown)" : std::move(login);
        thread.said.push_back(std::move(reply));
    }
}

/// The newest authors come first, and strangers cannot push out those who are likely to have the right.
std::vector<std::string> worth_asking(std::vector<Author> authors) {
    std::reverse(authors.begin(), authors.end());
    std::stable_partition(authors.begin(), authors.end(), [](const Author& author) { return author.is_likely; });
    std::vector<std::string> asked;
    for (auto& author : authors) {
        if (asked.size() == k_most_authors) break;
        if (std::find(asked.begin(), asked.end(), author.login) == asked.end()) asked.push_back(author.login);
    }
    return asked;
}

}  // namespace

Result<FoundThreads> threads_in(const Json& repository) {
    const auto strange = [&] { return strange_answer("a pull request's review threads", dump(repository)); };
    if (!repository.is_object() || !repository.contains("pullRequest")) return strange();
    const auto* threads = nodes_of(repository.at("pullRequest"), "reviewThreads");
    if (!threads) return strange();
    FoundThreads found;
    std::vector<Author> authors;
    for (const auto& json : *threads) {
        const auto* comments = nodes_of(json, "comments");
        PullThread thread;
        thread.id = text_member(json, "id");
        if (!comments || thread.id.empty() || thread.id.size() > k_longest_id || printable(thread.id) != thread.id) {
            return strange();
        }
        thread.resolved = is_set(json, "isResolved");
        thread.anchor = anchor_of(json);
        // A thread may be so long that its beginning is not among its newest texts.
        if (const auto* first = nodes_of(json, "first")) read_texts(*first, thread, authors);
        read_texts(*comments, thread, authors);
        if (!thread.said.empty()) found.threads.push_back(std::move(thread));
    }
    found.authors = worth_asking(std::move(authors));
    return found;
}

std::string permission_path(std::string_view author) {
    const bool is_bot = author.ends_with(k_bot);
    if (is_bot) author.remove_suffix(k_bot.size());
    return "collaborators/" + std::string(author) + (is_bot ? "%5Bbot%5D" : "") + "/permission";
}

Result<bool> may_push_in(std::string_view answer) {
    const auto json = parse_json(answer);
    const auto permission = json ? text_member(*json, "permission") : std::string();
    if (permission.empty()) return strange_answer("a person's rights", answer);
    return permission == "admin" || permission == "maintain" || permission == "write";
}

}  // namespace orange::forge
