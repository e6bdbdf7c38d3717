#include "client/commands/skill_files.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "client/commands/files.hpp"
#include "client/connection/child.hpp"
#include "client/connection/start_daemon.hpp"
#include "common/base/sha256.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"

namespace orange::commands {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view k_mark = "<!-- Written by `orange install`, which leaves a changed page alone: ",
                           k_mark_end = " -->\n";

std::string marked(const std::string& text) {
    return text + std::string(k_mark) + sha256(text) + std::string(k_mark_end);
}

}  // namespace

Result<std::vector<SkillTarget>> skill_targets() {
    TRY(auto oranged, connection::find_oranged());
    const auto listed = connection::output_of({oranged.string(), "--agents"}).value_or("");
    std::vector<SkillTarget> targets;
    for (const auto line : split_lines(listed)) {
        const auto cells = split(line, '\t');
        if (cells.size() < 4) continue;
        const fs::path folder{std::string(cells[3])};
        targets.push_back(
            {std::string(cells[0]), !cells[1].empty(), folder.empty() ? fs::path() : folder / "orange" / "SKILL.md"});
    }
    if (targets.empty())
        return {ErrorCode::unavailable, oranged.string() + " --agents lists no agent; install Orange again"};
    return targets;
}

Result<std::string> shipped_skill() {
    TRY(auto installation, find_installation());
    const auto file = installation.share / "skills" / "orange" / "SKILL.md";
    auto text = text_of_file(file);
    if (!text) return {ErrorCode::not_found, "cannot read " + file.string() + "; install Orange again"};
    return std::move(*text);
}

std::string_view name_of(SkillState state) {
    switch (state) {
        case SkillState::absent:
            return "new";
        case SkillState::current:
            return "up to date";
        case SkillState::stale:
            return "older";
        case SkillState::edited:
            return "edited";
        case SkillState::foreign:
            return "not Orange's";
    }
    return "";
}

FoundSkill look_at_skill(const fs::path& file, const std::string& shipped) {
    struct stat info {};
    if (::lstat(file.c_str(), &info) != 0) return {};
    const auto whole = text_of_file(file);
    if (!whole) return {SkillState::foreign};
    const auto mark = whole->rfind(k_mark);
    const auto text = whole->substr(0, mark);
    const auto rest = mark == std::string::npos ? "" : whole->substr(mark + k_mark.size());
    const bool is_whole = rest.ends_with(k_mark_end) &&
                          is_hash_of(std::string_view(rest).substr(0, rest.size() - k_mark_end.size()), text);
    const bool is_own = is_whole && S_ISREG(info.st_mode);
    if (text == shipped && (is_whole || mark == std::string::npos)) return {SkillState::current, is_own};
    if (is_own) return {SkillState::stale, true};
    return {mark != std::string::npos && S_ISREG(info.st_mode) ? SkillState::edited : SkillState::foreign};
}

Result<void> write_skill(const fs::path& file, const std::string& text) {
    return replace_file(file, marked(text));
}

Result<void> remove_skill(const fs::path& file) {
    if (::unlink(file.c_str()) != 0 && errno != ENOENT) return io_error("cannot remove " + file.string(), errno);
    // The folders orange, skills, and that of the program, but never a person's home.
    const char* home = std::getenv("HOME");
    auto folder = file.parent_path();
    for (int i = 0; i < 3 && folder != (home ? home : "") && ::rmdir(folder.c_str()) == 0; ++i) {
        folder = folder.parent_path();
    }
    return {};
}

}  // namespace orange::commands
