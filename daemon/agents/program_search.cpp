#include "daemon/agents/program_search.hpp"

#include <fstream>

#include "common/base/text.hpp"
#include "common/model/json.hpp"
#include "daemon/log/log.hpp"
#include "daemon/process/environment.hpp"

namespace orange::agents {
namespace {

constexpr const char* k_client = "your terminal";
constexpr std::size_t k_longest_path = 64 * 1024;

bool has_interpreter(const std::string& file, const std::string& path) {
    const auto interpreter = interpreter_of(file);
    return interpreter.empty() || !find_program(interpreter, path).empty();
}

/// Returns the folders that a client may add: absolute ones outside of `never`.
std::string acceptable(std::string_view path, const Path& never) {
    std::vector<std::string> folders;
    for (const auto folder : split(path, ':')) {
        const auto plain = Path(std::string(folder) + "/").lexically_normal().string();
        const bool below = !never.empty() && plain.starts_with(never.string() + "/");
        if (folder.starts_with('/') && !below && is_valid_utf8(folder)) folders.emplace_back(folder);
    }
    return join(folders, ":");
}

}  // namespace

ProgramSearch::ProgramSearch(std::vector<SearchPath> paths, FileSystem& files, Path kept, Path never)
    : paths_(std::move(paths)), files_(&files), kept_file_(std::move(kept)), never_(std::move(never)) {
    read_kept();
}

/// An unusable file is no loss: the next client gives its PATH again.
void ProgramSearch::read_kept() {
    const auto text = files_->read(kept_file_);
    if (!text) return;
    const auto json = Json::parse(*text, nullptr, false);
    if (!json.is_object() || !json.contains("paths") || !json.at("paths").is_object()) return;
    for (const auto& [program, path] : json.at("paths").items()) {
        if (path.is_string()) kept_[program] = acceptable(path.get<std::string>(), never_);
    }
}

void ProgramSearch::remember_client_path(std::string_view path, const std::vector<std::string>& programs) {
    if (path.size() > k_longest_path) return;
    client_ = acceptable(path, never_);
    const auto before = kept_;
    for (const auto& program : programs) {
        if (!find_program(program, client_).empty()) kept_[program] = client_;
    }
    if (kept_ == before || !files_) return;
    const Json json = {{"schema", 1}, {"paths", kept_}};
    if (auto written = files_->replace(kept_file_, json.dump(2) + "\n"); !written) {
        log::warn("agents", written.error().message);
    }
}

FoundProgram ProgramSearch::find(const std::string& program) const {
    auto places = paths_;
    if (const auto kept = kept_.find(program); kept != kept_.end()) places.push_back({k_client, kept->second, {}});
    FoundProgram cannot_run;
    for (const auto& place : places) {
        FoundProgram found{find_program(program, place.path), place.path, place.source};
        if (found.file.empty()) continue;
        if (has_interpreter(found.file, found.path)) return found;
        if (cannot_run.file.empty()) cannot_run = std::move(found);
    }
    return cannot_run;
}

std::string ProgramSearch::searched() const {
    auto places = paths_;
    if (!client_.empty()) places.push_back({k_client, client_, {}});
    std::vector<std::string> texts;
    texts.reserve(places.size());
    for (const auto& place : places) {
        texts.push_back("of " + place.source + " (" + (place.problem.empty() ? place.path : place.problem) + ")");
    }
    return "PATH " + (texts.empty() ? "of no shell" : join(texts, ", "));
}

std::string interpreter_of(const std::string& program) {
    std::ifstream in(program, std::ios::binary);
    std::string line(256, '\0');
    in.read(line.data(), static_cast<std::streamsize>(line.size()));
    line.resize(static_cast<std::size_t>(in.gcount()));
    constexpr std::string_view k_env = "#!/usr/bin/env ";
    if (!line.starts_with(k_env)) return {};
    const auto words = split(std::string_view(line).substr(k_env.size(), line.find('\n') - k_env.size()), ' ');
    for (const auto word : words) {
        if (!word.empty() && !word.starts_with('-')) return std::string(trim(word));
    }
    return {};
}

}  // namespace orange::agents
