#include "daemon/engine/facts.hpp"

#include <algorithm>

#include "common/base/sha256.hpp"
#include "common/base/text.hpp"
#include "daemon/engine/edges.hpp"

namespace orange::engine {
namespace {

constexpr std::size_t k_short_commit = 12, k_named_files = 5;

std::string short_commit(const std::string& commit) {
    return commit.substr(0, k_short_commit);
}

std::string files_text(const std::vector<std::string>& files) {
    std::vector<std::string> named;
    for (std::size_t i = 0; i < files.size() && i < k_named_files; ++i) named.push_back(printable(files[i]));
    auto text = join(named, ", ");
    if (files.size() > k_named_files) text += " and " + std::to_string(files.size() - k_named_files) + " more";
    return text;
}

/// Returns the last result if it is about this commit and these commands.
const CheckRecord* result_of(const GateFacts& gate, const Facts& facts) {
    if (!facts.checked || facts.checked->commit != facts.commit) return nullptr;
    return is_hash_of(facts.checked->checks, checks_of(gate, facts)) ? &*facts.checked : nullptr;
}

/// Returns why a required fact could not be determined; empty if all could.
std::string unknown_of(const GateFacts& gate, const Facts& facts) {
    if (!facts.unknown.empty()) return facts.unknown;
    if (gate.commits > 0 && !facts.unknown_commits.empty()) return facts.unknown_commits;
    return gate.merges ? facts.unknown_merge : std::string();
}

std::string failure_text(const CheckRecord& failed, const std::string& log) {
    auto text = "the check `" + failed.failed + "` " + (failed.why.empty() ? "failed" : failed.why) + " on " +
                short_commit(failed.commit) + "\n";
    for (const auto line : split_lines(failed.tail)) text += "    " + std::string(line) + "\n";
    text += "Make it pass, commit, and ask again.";
    return log.empty() ? text : text + " Its whole output is in\n    " + log;
}

}  // namespace

GateFacts facts_wanted(const Definition& definition, const Task& task, std::string_view to) {
    GateFacts wanted;
    for (const auto& target : definition.targets_from(task.status)) {
        if (!to.empty() && target != to) continue;
        for (const auto* edge : definition.between(task.status, target)) {
            if (!edge->gate || !holds(edge->when, task)) continue;
            const auto& facts = edge->gate->facts;
            wanted.commits = std::max(wanted.commits, facts.commits);
            wanted.clean = wanted.clean || facts.clean;
            wanted.merges = wanted.merges || facts.merges;
            wanted.reviewed_head = wanted.reviewed_head || facts.reviewed_head;
            wanted.checks = wanted.checks || facts.checks;
            wanted.argvs.insert(wanted.argvs.end(), facts.argvs.begin(), facts.argvs.end());
        }
    }
    return wanted;
}

Argvs checks_of(const GateFacts& gate, const Facts& facts) {
    if (!gate.checks) return {};
    return gate.argvs.empty() ? facts.project_checks : gate.argvs;
}

namespace {

std::string text_of_checks(const Argvs& checks) {
    std::string text;
    for (const auto& argv : checks) {
        for (const auto& word : argv) text += word + '\0';
        text += '\n';
    }
    return text;
}

}  // namespace

std::string hash_of(const Argvs& checks) {
    return sha256(text_of_checks(checks));
}

bool is_hash_of(const std::string& hash, const Argvs& checks) {
    return orange::is_hash_of(hash, text_of_checks(checks));
}

std::optional<std::string> fact_problem(const GateFacts& gate, const Facts& facts) {
    if (!gate.any()) return std::nullopt;
    if (!facts.known) return "the task's branch was not looked at";
    const bool checks = !checks_of(gate, facts).empty();
    const bool needs_branch = gate.commits > 0 || gate.clean || gate.merges || gate.reviewed_head || checks;
    if (!needs_branch) return std::nullopt;
    const auto unknown = unknown_of(gate, facts);
    if (!unknown.empty()) return "the task's branch could not be examined: " + unknown;
    if (facts.commits < gate.commits) {
        return "the branch has " + counted(static_cast<std::size_t>(facts.commits), "commit") + " that " + facts.base +
               " has not, and at least " + std::to_string(gate.commits) + (gate.commits == 1 ? " is" : " are") +
               " required. Commit your work";
    }
    if ((gate.clean || checks) && !facts.uncommitted.empty()) {
        return "not everything is committed: " + files_text(facts.uncommitted) +
               ". Commit these files, or remove them" + (gate.clean ? "" : "; the checks are about a commit");
    }
    if (gate.merges && !facts.conflicts.empty()) {
        return "the branch does not merge into " + facts.target + " without a conflict, in " +
               files_text(facts.conflicts) + ". Merge " + facts.target + " into it, resolve the conflict and commit";
    }
    if (gate.reviewed_head && facts.reviewed != facts.commit) {
        return "the review is not about " + short_commit(facts.commit) + ", which the branch is on" +
               (facts.reviewed.empty() || facts.reviewed == "none"
                    ? std::string(": no reviewer was given it")
                    : ": the reviewer was given " + short_commit(facts.reviewed)) +
               ". It has to be reviewed again";
    }
    if (checks_failed(gate, facts)) return failure_text(*facts.checked, facts.log);
    return std::nullopt;
}

bool awaits_checks(const GateFacts& gate, const Facts& facts) {
    return !checks_of(gate, facts).empty() && result_of(gate, facts) == nullptr;
}

bool checks_failed(const GateFacts& gate, const Facts& facts) {
    const auto* result = result_of(gate, facts);
    return gate.checks && result != nullptr && !result->passed;
}

std::string awaited_text(const GateFacts& gate, const Facts& facts, const std::string& to) {
    std::vector<std::string> names;
    for (const auto& argv : checks_of(gate, facts)) names.push_back(join(argv, " "));
    return "the checks have not run on " + short_commit(facts.commit) + ": " + printable(join(names, ", ")) +
           ". They run when somebody asks for " + to;
}

std::string facts_text(const GateFacts& gate, const std::optional<Argvs>& project_checks) {
    std::vector<std::string> parts;
    if (gate.commits > 0) {
        parts.push_back("at least " + counted(static_cast<std::size_t>(gate.commits), "commit"));
    }
    if (gate.clean) parts.emplace_back("nothing uncommitted");
    if (gate.merges) parts.emplace_back("no conflict with the default branch");
    if (gate.reviewed_head) parts.emplace_back("a review of the last commit");
    const auto argvs = gate.argvs.empty() ? project_checks.value_or(Argvs()) : gate.argvs;
    if (gate.checks && gate.argvs.empty() && !project_checks) parts.emplace_back("the project's checks");
    if (gate.checks && !argvs.empty()) {
        std::vector<std::string> names;
        for (const auto& argv : argvs) names.push_back(printable(join(argv, " ")));
        parts.push_back("that " + join(names, ", ") + (names.size() == 1 ? " succeeds" : " succeed"));
    }
    return listed(std::move(parts), " and ");
}

}  // namespace orange::engine
