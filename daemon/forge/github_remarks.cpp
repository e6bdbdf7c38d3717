#include <algorithm>
#include <map>

#include "common/base/text.hpp"
#include "daemon/forge/github_answers.hpp"

namespace orange::forge {
namespace {

constexpr std::size_t k_longest_remark = 2000;
constexpr std::size_t k_longest_name = 100;
constexpr std::size_t k_longest_url = 500;
constexpr std::size_t k_most_remarks = 50;

struct Said {
    std::string when;  ///< RFC 3339 in UTC, so that text sorts by time; "" if unknown
    PullRemark remark;
};

std::string author_of(const Json& json) {
    const auto name = json.contains("author") ? text_member(json.at("author"), "login") : std::string();
    return name.empty() ? "ghost" : ellipsized(printable(name), k_longest_name);
}

void say(std::vector<Said>& all, std::string when, std::string author, std::string where, const std::string& text,
         const std::string& url = "") {
    all.push_back({std::move(when),
                   {std::move(author), ellipsized(printable(where), k_longest_name * 3),
                    written_text(text, k_longest_remark), ellipsized(printable(url), k_longest_url)}});
}

/// Adds the reviews. An author's approval withdraws the author's earlier remarks.
void add_reviews(const Json& reviews, std::vector<Said>& all) {
    std::map<std::string, std::size_t> opinions;  // of each author: the index of the last one
    for (std::size_t i = 0; i < reviews.size(); ++i) {
        const auto state = text_member(reviews[i], "state");
        if (state == "APPROVED" || state == "CHANGES_REQUESTED" || state == "DISMISSED") {
            opinions[author_of(reviews[i])] = i;
        }
    }
    for (std::size_t i = 0; i < reviews.size(); ++i) {
        const auto& review = reviews[i];
        const auto author = author_of(review);
        const auto state = text_member(review, "state");
        const auto body = text_member(review, "body");
        const auto last = opinions.find(author);
        const bool changes = state == "CHANGES_REQUESTED" && last->second == i;
        const bool comment =
            state == "COMMENTED" && !trim(body).empty() &&
            (last == opinions.end() || last->second < i || text_member(reviews[last->second], "state") != "APPROVED");
        if (changes) say(all, text_member(review, "submittedAt"), author, "review: changes requested", body);
        if (comment) say(all, text_member(review, "submittedAt"), author, "review", body);
    }
}

void add_comments(const Json& comments, std::vector<Said>& all) {
    for (const auto& comment : comments) {
        if (!comment.is_object() || is_set(comment, "isMinimized")) continue;
        say(all, text_member(comment, "createdAt"), author_of(comment), "", text_member(comment, "body"));
    }
}

void add_check(const Json& check, std::vector<Said>& all) {
    static const std::vector<std::string> bad = {"FAILURE",   "TIMED_OUT",       "ACTION_REQUIRED",
                                                 "CANCELLED", "STARTUP_FAILURE", "ERROR"};
    const bool is_run = text_member(check, "__typename") == "CheckRun";
    const auto verdict = text_member(check, is_run ? "conclusion" : "state");
    if (std::find(bad.begin(), bad.end(), verdict) == bad.end()) return;
    const auto title = text_member(check, is_run ? "title" : "description");
    auto text = to_lower(verdict);
    std::replace(text.begin(), text.end(), '_', ' ');
    if (!title.empty()) text += ": " + title;
    if (const auto summary = text_member(check, "summary"); !summary.empty()) text += "\n" + summary;
    say(all, text_member(check, is_run ? "completedAt" : "createdAt"), "",
        "check " + text_member(check, is_run ? "name" : "context"), text,
        text_member(check, is_run ? "detailsUrl" : "targetUrl"));
}

bool add_checks(const Json& pull, std::vector<Said>& all) {
    const auto* commits = nodes_of(pull, "commits");
    if (!commits) return false;
    if (commits->empty()) return true;
    const auto& last = commits->back();
    if (!last.is_object() || !last.contains("commit") || !last.at("commit").is_object() ||
        !last.at("commit").contains("statusCheckRollup")) {
        return false;
    }
    const auto& rollup = last.at("commit").at("statusCheckRollup");
    if (rollup.is_null()) return true;
    const auto* contexts = nodes_of(rollup, "contexts");
    if (!contexts) return false;
    for (const auto& check : *contexts) add_check(check, all);
    return true;
}

}  // namespace

Result<std::vector<PullRemark>> remarks_in(const Json& repository) {
    const auto strange = [&] { return strange_answer("a pull request's reviews", dump(repository)); };
    if (!repository.is_object() || !repository.contains("pullRequest")) return strange();
    const auto& pull = repository.at("pullRequest");
    const auto* reviews = nodes_of(pull, "reviews");
    const auto* comments = nodes_of(pull, "comments");
    std::vector<Said> all;
    if (!reviews || !comments || !add_checks(pull, all)) return strange();
    add_reviews(*reviews, all);
    add_comments(*comments, all);
    std::stable_sort(all.begin(), all.end(), [](const Said& a, const Said& b) { return a.when < b.when; });
    std::vector<PullRemark> remarks;
    const auto skipped = all.size() > k_most_remarks ? all.size() - k_most_remarks : 0;
    for (std::size_t i = skipped; i < all.size(); ++i) remarks.push_back(std::move(all[i].remark));
    return remarks;
}

}  // namespace orange::forge
