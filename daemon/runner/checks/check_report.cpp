#include "daemon/runner/checks/check_report.hpp"

#include <algorithm>
#include <utility>

#include "common/base/text.hpp"

namespace orange::checked {
namespace {

constexpr std::size_t k_tail_lines = 20, k_tail_columns = 160;
constexpr int k_time_is_over = 124, k_no_program = 127;  ///< the exit statuses of timeout(1) and of a shell

std::string what_was_tested(const CheckReport& report) {
    return report.merged_with.empty() ? std::string("the branch") : "the branch merged with " + report.merged_with;
}

}  // namespace

std::string as_list(const std::string& lines) {
    std::string text;
    for (const auto line : split_lines(lines)) text += "    " + std::string(line) + "\n";
    return text;
}

Result<CommandEnd> end_of(Result<Completed> done, std::chrono::milliseconds time_limit) {
    if (done) {
        const auto status = done->exit_status;
        return CommandEnd{status, "ended with exit status " + std::to_string(status), std::move(done->out)};
    }
    const auto& error = done.error();
    if (error.code == ErrorCode::timeout) {
        const auto seconds = std::to_string(time_limit.count() / 1000);
        const auto output = error.details.find("stderr");
        return CommandEnd{k_time_is_over, "did not end within " + seconds + " s",
                          output == error.details.end() ? "" : output->second};
    }
    if (error.code == ErrorCode::not_found) {
        return CommandEnd{k_no_program, "could not be started: " + error.message, {}};
    }
    return in_context("running a check", error);
}

CheckRecord record_of(const CheckReport& report, std::string hash, Timestamp at) {
    CheckRecord record{report.commit, std::move(hash), report.passed(), at, report.failed};
    record.seconds = report.seconds;
    record.merged_with = report.merged_with;
    if (report.passed()) return record;
    record.why = report.why;
    record.tail = report.tail;
    return record;
}

std::string spoken(const std::vector<std::string>& argv) {
    std::vector<std::string> words;
    for (const auto& word : argv) words.push_back(shell_word(word));
    return join(words, " ");
}

std::string last_lines(const std::string& output) {
    const auto lines = split_lines(output);
    std::string tail;
    for (auto i = lines.size() - std::min(lines.size(), k_tail_lines); i < lines.size(); ++i) {
        tail += (tail.empty() ? "" : "\n") + ellipsized(printable(lines[i]), k_tail_columns);
    }
    return tail;
}

Error setup_failed(const CheckReport& report) {
    return {ErrorCode::external_failed, "the checks run in " + report.place + ", and the setup command `" +
                                            report.failed + "` " + report.why + " there. Its output is in " +
                                            report.log.string() + "\n" + as_list(report.tail)};
}

Error refusal(const TaskId& id, const CheckReport& report, const std::string& merge, bool can_go_back) {
    auto text =
        "cannot merge " + id.value + ": the check `" + report.failed + "` " + report.why + "\n" + as_list(report.tail);
    if (!report.place.empty()) {
        text += "It ran on " + what_was_tested(report) + ", without the worktree's ignored files, in\n" +
                as_list(report.place);
    }
    text += "Its whole output is in\n" + as_list(report.log.string());
    auto command = merge;
    if (can_go_back) {
        const auto where = report.place.empty() ? std::string()
                                                : " in a checkout without ignored files, on " + what_was_tested(report);
        command =
            "orange task reject " + id.value + " " + shell_word("Make this check pass" + where + ": " + report.failed);
        text += "Send the work back, or merge it anyway:\n  " + command + "\n";
    } else {
        text += "To merge anyway:\n";
    }
    return {ErrorCode::conflict,
            text + "  " + merge + " --force",
            {{"why", "checks_failed"},
             {"check", report.failed},
             {"exit_status", std::to_string(report.exit_status)},
             {"log", report.log.string()},
             {"command", command}}};
}

}  // namespace orange::checked
