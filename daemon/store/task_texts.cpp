#include "daemon/store/task_texts.hpp"

#include <algorithm>

#include "common/base/try.hpp"
#include "daemon/store/line_merge.hpp"
#include "daemon/store/task_file.hpp"

namespace orange::store {

std::string body_of(const std::string& text) {
    return split_task_text(text).body;
}

bool is_blank(std::string_view text) {
    return text.find_first_not_of(std::string_view("\0 \t\r\n", 5)) == std::string_view::npos;
}

bool has_all_lines(const std::string& body, const std::string& text) {
    const auto there = lines_of(body);
    return std::ranges::all_of(lines_of(text), [&](const auto line) { return there.contains(line); });
}

bool seems_cut(const std::string& text, const std::string& body_before) {
    const auto parts = split_task_text(text);
    const bool stops_within_a_line = body_before.ends_with('\n') && !parts.body.ends_with('\n');
    return !parts.has_frontmatter || stops_within_a_line || !has_all_lines(parts.body, body_before);
}

bool is_kept_text(std::string_view name) {
    return name.starts_with(k_kept_prefix) || name.starts_with("TASK.md.conflict-");
}

std::vector<std::string> kept_texts(FileSystem& files, const Path& folder) {
    std::vector<std::string> kept;
    for (const auto& name : files.list(folder).value_or(std::vector<std::string>())) {
        if (is_kept_text(name)) kept.push_back((folder / name).string());
    }
    return kept;
}

Result<std::string> read_body(FileSystem& files, const Path& task_file) {
    TRY(const auto facts, files.facts_of(task_file));
    if (facts.kind != FileFacts::Kind::file || facts.size > k_largest_text) {
        return {ErrorCode::io, task_file.string() + " is no file of at most 1 MiB, and is not read"};
    }
    TRY(const auto text, files.read(task_file));
    return body_of(text);
}

}  // namespace orange::store
