#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "common/base/sha256.hpp"
#include "common/base/text.hpp"
#include "daemon/agents/harness.hpp"
#include "daemon/process/environment.hpp"

namespace orange::agents {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t k_size_limit = 256 * 1024;

bool is_looked_up(const Harness& harness) {
    return harness.program.find('/') == std::string::npos;
}

FoundProgram locate(const Harness& harness, const fs::path& folder, const ProgramSearch& search) {
    if (is_looked_up(harness)) return search.find(harness.program);
    std::error_code error;
    const auto path = fs::absolute(folder / harness.program, error).lexically_normal();
    const bool found = fs::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
    return {found ? path.string() : std::string{}, {}, {}};
}

Result<std::string> read_file(const fs::path& path) {
    std::error_code error;
    const auto size = fs::is_regular_file(path, error) ? fs::file_size(path, error) : 0;
    if (error) return io_error("reading " + path.string(), error.value());
    if (size > k_size_limit) return {ErrorCode::invalid_argument, path.string() + " is too large for a definition"};
    std::ifstream in(path, std::ios::binary);
    if (!in) return {ErrorCode::io, "reading " + path.string() + ": it cannot be opened"};
    return std::string(std::istreambuf_iterator<char>(in), {});
}

/// Returns the text of a program that stands beside its definition, since any person who can write the definition can
/// write the program, too. For a large program, returns its size and time.
std::string facts_of_own_program(const HarnessEntry& entry) {
    if (entry.program.empty() || entry.harness.program.find('/') == std::string::npos) return {};
    if (const auto text = read_file(entry.program)) return *text;
    std::error_code error;
    const auto written = fs::last_write_time(entry.program, error).time_since_epoch().count();
    return std::to_string(fs::file_size(entry.program, error)) + " " +
           std::to_string(static_cast<std::int64_t>(written));
}

/// Returns "shipped 1.2.3" for "shipped 1.2.3 0123456789abcdef"; empty for a user's definition.
std::string_view origin_of(std::string_view hash) {
    const auto end = hash.rfind(' ');
    return end == std::string_view::npos ? std::string_view{} : hash.substr(0, end);
}

void collect(const fs::path& folder, std::map<std::string, fs::path>& into) {
    std::error_code error;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
        const auto& path = at->path();
        if (path.extension() == ".yml" && !path.filename().string().starts_with('.')) into[path.stem().string()] = path;
    }
}

}  // namespace

bool is_changed(const std::string& hash_before, const std::string& hash_now, const std::string& earlier_hash) {
    const auto before = origin_of(hash_before), now = origin_of(hash_now);
    const bool other_version = !before.empty() && !now.empty() && before != now;
    return hash_before != hash_now && hash_before != earlier_hash && !other_version;
}

HarnessLibrary::HarnessLibrary(fs::path shipped, fs::path user, ProgramSearch search)
    : shipped_(std::move(shipped)), user_(std::move(user)), search_(std::move(search)) {}

const Result<Harness>& HarnessLibrary::parsed(const fs::path& path, const std::string& text) const {
    auto known = parsed_.find(path);
    if (known == parsed_.end() || known->second.text != text) {
        known = parsed_.insert_or_assign(path, Parsed{text, load_harness(text, path.string())}).first;
    }
    return known->second.harness;
}

HarnessEntry HarnessLibrary::read(const fs::path& path) const {
    HarnessEntry entry;
    entry.path = path;
    entry.harness.name = path.stem().string();
    const auto text = read_file(path);
    const auto harness = text ? parsed(path, *text) : Result<Harness>(text.error());
    if (!harness) {
        entry.problem = harness.error().message;
        return entry;
    }
    entry.harness = *harness;
    if (text->find("composer:") != std::string::npos) {
        entry.warning =
            "the definition uses screen.composer, which no longer lets Orange type. Name the prompt instead "
            "(prompt: {above, empty, below}) in " +
            path.string();
    }
    auto found = locate(entry.harness, path.parent_path(), search_);
    entry.program = std::move(found.file);
    entry.path_variable = std::move(found.path);
    entry.found_in = std::move(found.source);
    const std::string origin = path.parent_path() == shipped_ ? "shipped " ORANGE_VERSION " " : "";
    const auto whole = *text + '\n' + facts_of_own_program(entry);
    entry.hash = origin + sha256(whole);
    entry.earlier_hash = origin + fast_hash(whole);
    return entry;
}

std::vector<HarnessEntry> HarnessLibrary::list() const {
    std::map<std::string, fs::path> paths;
    collect(shipped_, paths);
    collect(user_, paths);
    std::vector<HarnessEntry> entries;
    entries.reserve(paths.size());
    for (const auto& [name, path] : paths) entries.push_back(read(path));
    return entries;
}

Result<HarnessEntry> HarnessLibrary::find(const std::string& name) const {
    std::map<std::string, fs::path> paths;
    collect(shipped_, paths);
    collect(user_, paths);
    const auto found = paths.find(name);
    if (found == paths.end()) {
        std::vector<std::string> names;
        names.reserve(paths.size());
        for (const auto& entry : paths) names.push_back(entry.first);
        return {ErrorCode::not_found, "there is no harness \"" + name + "\"; known: " + join(names, ", ")};
    }
    auto entry = read(found->second);
    if (!entry.problem.empty()) {
        return {ErrorCode::invalid_argument, "harness " + name + " cannot be used:\n" + entry.problem};
    }
    return entry;
}

std::optional<std::string> HarnessLibrary::first_installed() const {
    const auto entries = list();
    std::optional<std::string> untried;
    for (const char* name : k_default_names) {
        const auto found = std::find_if(entries.begin(), entries.end(),
                                        [&](const HarnessEntry& entry) { return entry.harness.name == name; });
        if (found == entries.end() || found->program.empty()) continue;
        if (found->harness.tried) return std::string(name);
        if (!untried) untried = name;
    }
    if (untried) return untried;
    std::optional<std::string> own;
    for (const auto& entry : entries) {
        if (entry.path.parent_path() == shipped_ || entry.program.empty()) continue;
        if (own) return std::nullopt;  // the human has to say which
        own = entry.harness.name;
    }
    return own;
}

Error HarnessLibrary::not_installed(const HarnessEntry& entry) const {
    const auto& harness = entry.harness;
    const bool by_command = !harness.install.empty();
    auto text = "harness " + harness.name + " is not installed" + (by_command ? "" : harness.how_to_install()) + ". ";
    if (is_looked_up(harness)) {
        text += "Orange found no program " + harness.program +
                ". If it starts in your terminal, run `orange daemon reload` there. `orange harness show " +
                harness.name + "` lists the searched folders" + (by_command ? ". To install it:" : "");
    } else {
        text += "Its program is " + harness.program + " beside " + entry.path.string() +
                ", which does not exist or is not executable";
    }
    if (by_command) text += harness.how_to_install();
    return {ErrorCode::not_found, std::move(text)};
}

void HarnessLibrary::take_client_path(std::string_view path) {
    std::vector<std::string> programs;
    for (const auto& entry : list()) {
        if (entry.problem.empty() && is_looked_up(entry.harness)) programs.push_back(entry.harness.program);
    }
    search_.remember_client_path(path, programs);
}

}  // namespace orange::agents
