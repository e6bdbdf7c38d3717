#include "daemon/agents/executor.hpp"

#include <algorithm>
#include <chrono>
#include <sstream>

#include "common/base/sha256.hpp"
#include "common/base/suggest.hpp"
#include "common/base/text.hpp"
#include "daemon/agents/placeholders.hpp"

namespace orange::agents {
namespace {

constexpr std::string_view k_suffix = ".yml";
constexpr std::size_t k_longest_definition = 256 * 1024;

/// Returns true if the name is safe as a file name: it neither leaves the folder nor is hidden in it.
bool is_file_name(std::string_view name) {
    return !name.empty() && name.size() <= 40 && name.front() != '-' &&
           name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_-") == std::string_view::npos;
}

}  // namespace

bool Executor::hides_files() const {
    return std::ranges::find(separates, "files") != separates.end();
}

bool Executor::takes(std::string_view placeholder) const {
    return std::ranges::any_of(run, [&](const std::string& word) { return mentions(word, placeholder); });
}

bool Executor::limits_network() const {
    const bool has_open_commands = !inside.empty() && std::ranges::find(inside, "{network}") == inside.end();
    return !without_network.empty() && takes("network") && !has_open_commands;
}

std::string name_in_executor(std::string_view run) {
    return "orange-" + std::string(run);
}

std::vector<std::string> expanded(const std::vector<std::string>& words, const ExecutorValues& values) {
    std::vector<std::string> out;
    for (const auto& word : words) {
        const auto pieces = pieces_of(word);
        const bool is_alone = pieces.size() == 1 && pieces.front().placeholder;
        const auto list = is_alone ? values.lists.find(pieces.front().text) : values.lists.end();
        if (list == values.lists.end()) {
            out.push_back(filled(word, values.words));
        } else {
            out.insert(out.end(), list->second.begin(), list->second.end());
        }
    }
    return out;
}

std::string memory_word(std::int64_t bytes) {
    constexpr std::int64_t k_mebibyte = 1 << 20;
    return std::to_string(std::max<std::int64_t>(bytes / k_mebibyte, 1)) + "M";
}

std::optional<ProbedRun> probed(std::string_view output, std::string_view name,
                                const std::vector<std::string>& queued) {
    for (const auto line : split_lines(output)) {
        std::istringstream words{std::string(line)};
        std::string first;
        ProbedRun run;
        if (!(words >> first) || first != name) continue;
        words >> run.state;
        std::getline(words, run.place);
        run.place = printable(trim(run.place));
        run.is_queued = std::ranges::find(queued, run.state) != queued.end();
        run.state = printable(run.state);
        return run;
    }
    return std::nullopt;
}

std::map<std::string, std::filesystem::path> ExecutorLibrary::paths() const {
    std::map<std::string, std::filesystem::path> found;
    for (const auto& folder : {shipped_, user_}) {
        for (const auto& file : files_.list(folder).value_or(std::vector<std::string>())) {
            if (!file.ends_with(k_suffix) || file.starts_with('.')) continue;
            found[file.substr(0, file.size() - k_suffix.size())] = folder / file;
        }
    }
    return found;
}

ExecutorEntry ExecutorLibrary::read(const std::filesystem::path& path) const {
    ExecutorEntry entry;
    entry.path = path;
    entry.executor.name = path.stem().string();
    auto text = files_.read(path);
    if (text && text->size() > k_longest_definition) {
        text = Error(ErrorCode::invalid_argument, path.string() + " is too large for a definition");
    }
    auto loaded = text ? load_executor(*text, path.string()) : Result<Executor>(text.error());
    if (!loaded) {
        entry.problem = loaded.error().message;
        return entry;
    }
    entry.executor = std::move(*loaded);
    entry.hash = sha256(*text);
    entry.text = std::move(*text);
    return entry;
}

std::vector<ExecutorEntry> ExecutorLibrary::list() const {
    std::vector<ExecutorEntry> entries;
    for (const auto& [name, path] : paths()) entries.push_back(read(path));
    return entries;
}

Result<ExecutorEntry> ExecutorLibrary::find(const std::string& name) const {
    const auto known = paths();
    const auto found = known.find(name);
    if (found == known.end() || !is_file_name(name)) {
        std::vector<std::string> names;
        for (const auto& entry : known) names.push_back(entry.first);
        return {ErrorCode::not_found, "there is no executor \"" + printable(name) + "\"" + suggestion(name, names)};
    }
    auto entry = read(found->second);
    if (entry.problem.empty()) return entry;
    return {ErrorCode::invalid_argument, "executor " + name + " cannot be used:\n" + entry.problem};
}

Result<std::string> ExecutorLibrary::pin(const ExecutorEntry& entry) const {
    const auto path = pin_path(entry.hash);
    const auto there = files_.read(path);
    if (there && *there == entry.text) return entry.hash;
    if (auto written = files_.replace(path, entry.text); !written) {
        return in_context("keeping the definition of the executor " + entry.executor.name, written.error());
    }
    return entry.hash;
}

Result<Executor> ExecutorLibrary::pinned(const std::string& name, const std::string& hash) const {
    const auto what = "the definition of the executor " + printable(name) + " that this task began with";
    const auto way_out =
        ". To move the task to the present definition, or to another executor:\n  orange task update --executor " +
        printable(name);
    if (!is_content_hash(hash)) {
        return {ErrorCode::invalid_argument,
                what + " is unknown, because \"" + printable(hash) + "\" is not a hash" + way_out};
    }
    const auto path = pin_path(hash);
    const auto text = files_.read(path);
    if (!text && text.error().code != ErrorCode::not_found) return in_context("reading " + what, text.error());
    if (!text || !is_hash_of(hash, *text)) {
        return {text ? ErrorCode::invalid_argument : ErrorCode::not_found,
                what + " (" + path.string() + ") " + (text ? "was changed" : "is gone") + way_out};
    }
    // The pinned file is named by its hash, but messages must name the executor.
    auto loaded = load_executor(*text, name + std::string(k_suffix));
    if (loaded) return loaded;
    return {ErrorCode::invalid_argument, what + " cannot be used any more" + way_out + "\n" + loaded.error().message};
}

void ExecutorLibrary::note_usable(const TaskId& task, const std::string& hash) {
    usable_[{task, hash}] = async::now();
}

bool ExecutorLibrary::take_usable(const TaskId& task, const std::string& hash) {
    constexpr std::chrono::seconds k_fresh{10};
    const auto now = async::now();
    std::erase_if(usable_, [&](const auto& each) { return now - each.second > k_fresh; });
    return usable_.erase({task, hash}) > 0;
}

Error executor_not_installed(const Executor& executor, const std::string& path) {
    auto text = "executor " + executor.name + " is not installed: there is no program " +
                printable(executor.run.front()) + " in " + printable(path);
    if (!executor.install.empty()) {
        text += ". To install it:\n  " + executor.install;
    } else if (!executor.install_hint.empty()) {
        text += "; " + executor.install_hint;
    }
    return {ErrorCode::not_found, std::move(text)};
}

}  // namespace orange::agents
