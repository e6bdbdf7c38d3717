#include "daemon/runner/transitions/given_files.hpp"

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/agents/binds.hpp"
#include "daemon/runner/runner.hpp"
#include "daemon/store/task_folder.hpp"

namespace orange {

Result<GivenFiles> give_files(Runner& runner, TaskRecord& record, const std::vector<std::string>& uploads) {
    GivenFiles files;
    if (uploads.empty()) return files;
    const auto& world = runner.world;
    const auto folder = world.tasks.folder(record);
    TRY(files.taken, runner.uploads.give(uploads, folder));
    constexpr std::size_t k_date = 10;  // of 2026-11-21T10:49:03Z
    const auto date = to_rfc3339(world.clock.now()).substr(0, k_date);
    for (const auto& [upload, name] : files.taken) {
        // Behind a wall, a home that is a link has only its real path.
        auto path = agents::in_real_home((folder / store::k_files / name).string(), world.base_environment);
        files.lines += "- `" + path + "` (" + (upload.origin.empty() ? "" : "from " + upload.origin + ", ") +
                       size_text(upload.size) + ", " + date + ")\n";
        files.paths.push_back(std::move(path));
    }
    record.unwritten_files += files.lines;
    return files;
}

std::string message_with(std::string text, const GivenFiles& files) {
    if (files.paths.empty()) return text;
    text = trim(text);
    return text + (files.paths.size() == 1 ? " (file: " : " (files: ") + join(files.paths, ", ") + ")";
}

std::string feedback_with(std::string text, const GivenFiles& files) {
    if (files.paths.empty()) return text;
    std::vector<std::string> lines;
    for (const auto& path : files.paths) lines.push_back("- File: `" + path + "`");
    text = trim(text);
    return text + (text.empty() ? "" : "\n\n") + join(lines, "\n");
}

}  // namespace orange
