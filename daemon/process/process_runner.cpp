#include "daemon/process/process_runner.hpp"

#include "common/base/text.hpp"

namespace orange {

namespace {

constexpr std::size_t k_longest_reason = 500, k_longest_text = 2000;

/// Returns the line without its prefix "fatal: " or "error: ".
std::string_view words_of(std::string_view line) {
    for (const std::string_view mark : {"fatal: ", "error: "}) {
        if (line.starts_with(mark)) return line.substr(mark.size());
    }
    return line;
}

bool is_advice(std::string_view line) {
    return line.empty() || line.starts_with("hint:") || line == "Please make sure you have the correct access rights" ||
           line == "and the repository exists.";
}

/// Joins the lines into one that begins with the last "fatal: "; empty if there is none.
std::string fatal_first(std::string_view said) {
    std::string last, others;
    for (auto line : split_lines(said)) {
        line = trim(line);
        if (is_advice(line)) continue;
        if (!line.starts_with("fatal: ")) {
            others += "; " + std::string(words_of(line));
            continue;
        }
        if (!last.empty()) others += "; " + last;
        last = words_of(line);
    }
    if (last.empty() || others.empty()) return last;
    if (last.ends_with('.')) last.pop_back();
    return last + " (" + others.substr(2) + ")";
}

}  // namespace

std::string reason_in(const Completed& completed) {
    const auto said = trim(completed.err.empty() ? completed.out : completed.err);
    const auto fatal = fatal_first(said);
    if (!fatal.empty()) return ellipsized(printable(fatal), k_longest_reason);
    return ellipsized(printable(words_of(said), true), k_longest_text);
}

Error command_failed(const std::vector<std::string>& argv, const Completed& completed) {
    const auto command = join(argv, " ");
    const auto status = std::to_string(completed.exit_status);
    auto message = "`" + ellipsized(printable(command), 200) + "` failed with exit status " + status;
    if (const auto reason = reason_in(completed); !reason.empty()) message = reason + "\n" + message;
    return {ErrorCode::external_failed,
            std::move(message),
            {{"command", command}, {"exit_status", status}, {"stderr", completed.err}}};
}

}  // namespace orange
