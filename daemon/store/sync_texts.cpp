#include "daemon/store/sync_texts.hpp"

#include "common/base/ids.hpp"
#include "common/base/text.hpp"
#include "daemon/files/file_facts.hpp"
#include "daemon/store/body_merge.hpp"
#include "daemon/store/task_file.hpp"

namespace orange::store {

Path displaced_name(const Path& path) {
    return path.parent_path() / (std::string(k_displaced) + random_id(10));
}

std::string body_of(const std::string& text) {
    return split_task_text(text).body;
}

bool is_blank(std::string_view text) {
    return text.find_first_not_of(std::string_view("\0 \t\r\n", 5)) == std::string_view::npos;
}

bool seems_cut(const std::string& text, const std::string& body_before) {
    const auto parts = split_task_text(text);
    const bool stops_within_a_line = body_before.ends_with('\n') && !parts.body.ends_with('\n');
    return !parts.has_frontmatter || stops_within_a_line ||
           without_lines_missing_in(parts.body, body_before) != body_before;
}

Result<std::optional<std::string>> read_any(FileSystem& files, const Path& path) {
    const auto facts = files.facts_of(path);
    if (!facts || facts->kind == FileFacts::Kind::link) return std::optional<std::string>{};
    if (facts->size > k_largest_text) {
        return Error(ErrorCode::invalid_argument,
                     path.string() + " has " + std::to_string(facts->size >> 20) + " MiB; a TASK.md may have " +
                         std::to_string(k_largest_text >> 20) + ": move what is too much into a file of its own");
    }
    auto content = files.read(path);
    if (content) return std::optional<std::string>(std::move(*content));
    if (content.error().code == ErrorCode::not_found) return std::optional<std::string>{};
    return content.error();
}

}  // namespace orange::store
