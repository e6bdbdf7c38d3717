#include "client/output/attempts.hpp"

#include <algorithm>
#include <charconv>

#include "client/output/table.hpp"
#include "client/output/tasks.hpp"
#include "client/output/usage.hpp"
#include "common/base/shell_words.hpp"
#include "common/base/text.hpp"

namespace orange::output {
namespace {

constexpr std::size_t k_most_files = 8;  ///< that a sentence names
constexpr const char* k_unknown = "–";
constexpr const char* k_unpicked = "unpicked";

using Attempt = rpc::ComparedAttempt;

bool has_ended(const Attempt& attempt) {
    return attempt.unpicked || attempt.means == "done" || attempt.means == "cancelled";
}

std::string count_cell(const Attempt& attempt, std::int64_t rpc::ChangeCounts::*count) {
    return attempt.changes ? std::to_string((*attempt.changes).*count) : k_unknown;
}

std::string lines_of(const Attempt& attempt) {
    if (!attempt.changes) return k_unknown;
    return "+" + std::to_string(attempt.changes->added) + " -" + std::to_string(attempt.changes->removed);
}

std::string tokens_of_attempt(const Attempt& attempt) {
    if (attempt.tokens <= 0) return attempt.at_least ? k_unknown : "0";
    return (attempt.at_least ? "≥" : "") + tokens_text(attempt.tokens);
}

Cell checks_cell(const Attempt& attempt) {
    if (attempt.checks == "passed") return {attempt.checks, k_green};
    if (attempt.checks == "failed") return {attempt.checks, k_red};
    return {k_unknown, k_dim};
}

Cell verdict_cell(const Attempt& attempt) {
    if (attempt.verdict.empty()) return {k_unknown, k_dim};
    return {attempt.verdict, attempt.verdict == "PASS" ? k_green : k_red};
}

Look look_of(const Attempt& attempt) {
    return attempt.picked ? k_bold : attempt.unpicked ? k_dim : k_plain;
}

/// Returns what has no room in the row: "4f2b  claude 2.1.0, opus-4.1; verdict by codex; $1.20".
std::string details_of(const Attempt& attempt) {
    auto program = attempt.harness + (attempt.version.empty() ? "" : " " + attempt.version);
    if (!attempt.model.empty()) program += ", " + attempt.model;
    std::vector<std::string> parts = {std::move(program)};
    if (!attempt.verdict_by.empty()) parts.push_back("verdict by " + attempt.verdict_by);
    if (const auto cost = money_text(attempt.money); !cost.empty()) {
        parts.push_back((attempt.at_least ? "≥" : "") + cost);
    }
    if (attempt.changes && attempt.changes->uncommitted) parts.emplace_back("some of it is not committed");
    return attempt.short_id + "  " + join(parts, "; ");
}

/// Titles are short, so that ten columns fit 80: rounds of review are RND, commits are COM.
Table table_of(const rpc::TaskCompare::Reply& reply) {
    std::size_t name = 1;
    for (const auto& each : reply.rows) name = std::max(name, columns(clean(each.name)));
    constexpr std::size_t k_most_name = 20, k_least_status = 6;
    Table table({{"ATTEMPT", std::min(name, k_most_name)},
                 {"STATUS", k_least_status},
                 {"CHECKS"},
                 {"REVIEW"},
                 {"RND", 0, 5},
                 {"COM", 0, 3},
                 {"FILES", 0, 4},
                 {"LINES", 0, 1},
                 {"TIME", 0, 2},
                 {"TOKENS", 0, 2}});
    for (const auto& each : reply.rows) {
        const auto look = look_of(each);
        const auto time = time_text(each.worked);
        table.row({{each.name, look},
                   {each.unpicked ? k_unpicked : each.status, look},
                   checks_cell(each),
                   verdict_cell(each),
                   {std::to_string(each.rounds)},
                   {count_cell(each, &rpc::ChangeCounts::commits)},
                   {count_cell(each, &rpc::ChangeCounts::files)},
                   {lines_of(each)},
                   {time.empty() ? k_unknown : time},
                   {tokens_of_attempt(each)}});
        table.remark(details_of(each), k_dim);
        if (!each.note.empty()) table.remark("! " + each.note, k_yellow);
        if (each.picked) table.remark("picked", k_bold);
    }
    return table;
}

std::string files_of(const std::vector<std::string>& files, std::int64_t not_listed) {
    std::vector<std::string> named;
    for (const auto& file : files) {
        if (named.size() == k_most_files) break;
        named.push_back(printable(file));
    }
    const auto more = files.size() - named.size() + static_cast<std::size_t>(not_listed);
    return join(named, ", ") + (more > 0 ? " and " + std::to_string(more) + " more" : "");
}

std::vector<std::string> sentences_of(const rpc::TaskCompare::Reply& reply) {
    std::vector<std::string> sentences;
    if (!reply.common.empty()) sentences.push_back("All of them change " + files_of(reply.common, reply.common_more));
    for (const auto& each : reply.rows) {
        if (each.only.empty()) continue;
        sentences.push_back("Only " + printable(each.name) + " changes " + files_of(each.only, each.only_more));
    }
    for (const auto& note : reply.notes) sentences.push_back(printable(note, true));
    return sentences;
}

/// Returns the sentences about what a person can do next, and the commands for it.
std::string next_steps(const rpc::TaskCompare::Reply& reply, const Style& style) {
    const auto id = short_id(reply.task);
    const bool ends = reply.task.means == "done" || reply.task.means == "cancelled";
    if (ends) return {};
    const auto picked = std::ranges::find(reply.rows, true, &Attempt::picked);
    if (picked != reply.rows.end()) {
        return wrapped(printable(picked->name) + " is picked. To merge it:", "", style.width) + "  orange merge " + id +
               "\n";
    }
    std::vector<const Attempt*> open;
    for (const auto& each : reply.rows) {
        if (!has_ended(each)) open.push_back(&each);
    }
    if (open.empty()) return {};
    std::string text = wrapped("Pick one; the others are cancelled, and their work is kept:", "", style.width);
    for (const auto* each : open) text += "  orange pick " + id + " " + attempt_word(*each) + "\n";
    if (open.size() < 2) return text;
    return text + "To see how two of them differ:\n  orange compare " + id + " --diff " + attempt_word(*open[0]) + " " +
           attempt_word(*open[1]) + "\n";
}

/// Returns "codex (working, 2 commits)".
std::string loser_of(const Attempt& attempt) {
    auto text = printable(attempt.name) + " (" + printable(attempt.status);
    if (attempt.changes && attempt.changes->commits > 0) {
        text += ", " + counted(static_cast<std::size_t>(attempt.changes->commits), "commit");
    }
    return text + ")";
}

}  // namespace

Comparison compared(const rpc::TaskCompare::Reply& reply, const Style& style) {
    Comparison found;
    auto plain = style;
    plain.colour = false;
    std::size_t attempt = 0;
    const auto text = table_of(reply).render(plain);
    for (const auto line : split_lines(text)) {
        const bool is_title = found.lines.empty();
        const bool is_remark = line.starts_with(' ');  // a row begins with the name of its attempt
        if (!is_title && !is_remark) ++attempt;
        const bool warns = is_remark && trim(line).starts_with('!');
        const auto look = is_title || (is_remark && !warns) ? k_dim
                          : warns                           ? k_yellow
                                                            : look_of(reply.rows[attempt - 1]);
        found.lines.emplace_back(std::string(line), look);
        found.of_line.push_back(attempt);
    }
    for (const auto& sentence : sentences_of(reply)) {
        const auto rows = wrapped(sentence, "", style.width);
        for (const auto row : split_lines(rows)) {
            found.lines.emplace_back(std::string(row));
            found.of_line.push_back(0);
        }
    }
    return found;
}

std::string compare_page(const rpc::TaskCompare::Reply& reply, const Style& style) {
    if (reply.rows.empty()) return "No attempt is left.\n";
    auto text = table_of(reply).render(style);
    for (const auto& sentence : sentences_of(reply)) text += wrapped(sentence, "", style.width);
    return text + next_steps(reply, style);
}

Result<Attempt> attempt_named(const rpc::TaskCompare::Reply& reply, std::string_view word) {
    const auto& rows = reply.rows;
    for (const auto& each : rows) {
        if (each.name == word || each.id == word || each.short_id == word) return each;
    }
    std::size_t number = 0;
    const auto read = std::from_chars(word.data(), word.data() + word.size(), number);
    const bool is_number = read.ec == std::errc() && read.ptr == word.data() + word.size();
    if (is_number && number >= 1 && number <= rows.size()) return rows[number - 1];
    constexpr std::size_t k_least_of_id = 4;  // fewer are a number
    const auto begins = [&](const Attempt& each) { return word.size() >= k_least_of_id && each.id.starts_with(word); };
    if (std::ranges::count_if(rows, begins) == 1) return *std::ranges::find_if(rows, begins);
    std::vector<std::string> names;
    for (const auto& each : rows) names.push_back(printable(each.name));
    return Error(ErrorCode::not_found, "task " + short_id(reply.task) + " has no attempt \"" + printable(word) +
                                           "\". Its attempts are " + join(names, ", ") + ":\n  orange compare " +
                                           short_id(reply.task));
}

std::string attempt_word(const Attempt& attempt) {
    const bool is_word = shell_word(attempt.name) == attempt.name;
    return printable(is_word ? attempt.name : attempt.short_id);
}

std::vector<std::string> pick_facts(const rpc::TaskCompare::Reply& reply, const Attempt& picked) {
    std::vector<std::string> losers;
    for (const auto& each : reply.rows) {
        if (each.id != picked.id && !has_ended(each)) losers.push_back(loser_of(each));
    }
    if (losers.empty()) return {};
    return {"This cancels " + join(losers, " and ") + ". " + (losers.size() == 1 ? "Its" : "Their") + " work is kept."};
}

std::string summary_of(const rpc::TaskView& task) {
    const auto& summary = task.fields.summary;
    if (task.attempt.empty()) return summary;
    return task.attempt + (summary.empty() ? "" : ": " + summary);
}

std::string status_word(const rpc::TaskView& task) {
    return task.unpicked ? k_unpicked : task.fields.status;
}

}  // namespace orange::output
