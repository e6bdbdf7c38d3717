#include "client/commands/skill_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <sstream>

#include "client/connection/child.hpp"
#include "client/connection/start_daemon.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "common/config/home_check.hpp"
#include "common/model/json.hpp"

namespace orange::commands {
namespace {

namespace fs = std::filesystem;

fs::path manifest_of(const Paths& paths) {
    return paths.home / "skills.json";
}

Result<std::string> text_of_file(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    if (!in || in.bad()) return io_error("cannot read " + file.string(), errno);
    return text.str();
}

/// Under another name first, so that nobody reads half of it.
Result<void> replace_file(const fs::path& file, const std::string& text, mode_t mode) {
    const auto other = file.parent_path() / ("." + file.filename().string() + "." + std::to_string(::getpid()));
    const int fd = ::open(other.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode);
    if (fd < 0) return io_error("cannot write " + file.string(), errno);
    std::size_t done = 0;
    while (done < text.size()) {
        const auto n = ::write(fd, text.data() + done, text.size() - done);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) break;
        done += static_cast<std::size_t>(n);
    }
    const bool whole = done == text.size() && ::fsync(fd) == 0;
    const int number = errno;
    ::close(fd);
    if (whole && ::rename(other.c_str(), file.c_str()) == 0) return {};
    const int reason = whole ? errno : number;
    ::unlink(other.c_str());
    return io_error("cannot write " + file.string(), reason);
}

/// Those that were missing, deepest first.
Result<std::vector<fs::path>> make_folders(const fs::path& folder) {
    std::vector<fs::path> missing;
    std::error_code error;
    for (auto at = folder; !at.empty() && at != at.root_path() && !fs::exists(at, error); at = at.parent_path())
        missing.push_back(at);
    fs::create_directories(folder, error);
    if (error) return io_error("cannot create " + folder.string(), error.value());
    return missing;
}

Result<InstalledSkill> entry_of(const Json& json) {
    InstalledSkill skill;
    for (const char* key : {"harness", "file", "hash"}) {
        if (!json.is_object() || !json.contains(key) || !json.at(key).is_string())
            return {ErrorCode::invalid_argument, std::string("an entry has no \"") + key + "\""};
    }
    skill.harness = json.at("harness").get<std::string>();
    skill.file = json.at("file").get<std::string>();
    skill.hash = json.at("hash").get<std::string>();
    if (!skill.file.is_absolute())
        return {ErrorCode::invalid_argument, skill.file.string() + " is not an absolute path"};
    for (const auto& folder : json.value("folders", Json::array())) {
        if (folder.is_string()) skill.folders.emplace_back(folder.get<std::string>());
    }
    return skill;
}

}  // namespace

Result<std::vector<SkillTarget>> skill_targets() {
    TRY(auto oranged, connection::find_oranged());
    const auto listed = connection::output_of({oranged.string(), "--agents"}).value_or("");
    std::vector<SkillTarget> targets;
    for (const auto line : split_lines(listed)) {
        const auto cells = split(line, '\t');
        if (cells.size() < 4) continue;
        targets.push_back({std::string(cells[0]), !cells[1].empty(), fs::path(std::string(cells[3]))});
    }
    if (targets.empty())
        return {ErrorCode::unavailable, oranged.string() + " --agents lists no agent; install Orange again"};
    return targets;
}

Result<std::vector<InstalledSkill>> read_manifest(const Paths& paths) {
    std::vector<InstalledSkill> skills;
    const auto file = manifest_of(paths);
    std::error_code error;
    if (!fs::exists(file, error)) return skills;
    const auto broken = [&](const std::string& why) {
        return Error(ErrorCode::invalid_argument, file.string() + " is broken: " + why +
                                                      "\nOrange then does not know which skill files it wrote. "
                                                      "To start over:\n  mv " +
                                                      shell_word(file.string()) + " " +
                                                      shell_word(file.string() + ".broken"));
    };
    TRY(auto text, text_of_file(file));
    const auto json = parse_json(text);
    if (!json) return broken(json.error().message);
    TRY(check_schema(*json));
    if (!json->is_object() || !json->contains("skills") || !json->at("skills").is_array())
        return broken("there is no list \"skills\"");
    for (const auto& one : json->at("skills")) {
        auto entry = entry_of(one);
        if (!entry) return broken(entry.error().message);
        skills.push_back(std::move(*entry));
    }
    return skills;
}

Result<void> write_manifest(const Paths& paths, const std::vector<InstalledSkill>& skills) {
    const auto file = manifest_of(paths);
    if (skills.empty()) {
        std::error_code error;
        fs::remove(file, error);
        if (error) return io_error("cannot remove " + file.string(), error.value());
        return {};
    }
    TRY(make_home(paths.home));
    Json list = Json::array();
    for (const auto& skill : skills) {
        Json folders = Json::array();
        for (const auto& folder : skill.folders) folders.push_back(folder.string());
        list.push_back({{"harness", skill.harness},
                        {"file", skill.file.string()},
                        {"hash", skill.hash},
                        {"folders", std::move(folders)}});
    }
    return replace_file(file, Json{{"schema", k_schema}, {"skills", std::move(list)}}.dump(2) + "\n", 0600);
}

Result<std::string> shipped_skill() {
    TRY(auto installation, find_installation());
    const auto file = installation.share / "skills" / "orange" / "SKILL.md";
    auto text = text_of_file(file);
    if (!text) return {ErrorCode::not_found, text.error().message + "; install Orange again"};
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

SkillState state_of(const fs::path& file, const InstalledSkill* recorded, const std::string& shipped) {
    struct stat info {};
    if (::lstat(file.c_str(), &info) != 0) return SkillState::absent;
    const auto text = text_of_file(file);
    if (text && *text == shipped) return SkillState::current;
    if (!recorded || !S_ISREG(info.st_mode)) return SkillState::foreign;
    return text && content_hash(*text) == recorded->hash ? SkillState::stale : SkillState::edited;
}

Result<InstalledSkill> write_skill(const SkillTarget& target, const fs::path& file, const std::string& text) {
    InstalledSkill skill{target.harness, file, content_hash(text), {}};
    TRY(skill.folders, make_folders(file.parent_path()));
    TRY(replace_file(file, text, 0644));
    return skill;
}

Result<void> remove_skill(const InstalledSkill& skill) {
    if (::unlink(skill.file.c_str()) != 0 && errno != ENOENT)
        return io_error("cannot remove " + skill.file.string(), errno);
    for (const auto& folder : skill.folders) {
        if (::rmdir(folder.c_str()) != 0) break;  // somebody uses it
    }
    return {};
}

}  // namespace orange::commands
