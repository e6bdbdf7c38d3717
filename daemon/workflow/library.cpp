#include "daemon/workflow/library.hpp"

#include <set>

#include "common/base/sha256.hpp"
#include "common/base/suggest.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/workflow/renamed.hpp"

namespace orange::workflow {
namespace {

constexpr std::string_view k_suffix = ".yml";

/// Returns true if the name is safe as a file name: it neither leaves the folder nor is hidden in it.
bool is_safe_name(std::string_view name) {
    return !name.empty() && name.size() <= 40 && name.front() != '-' &&
           name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_-") == std::string_view::npos;
}

}  // namespace

Library::Library(FileSystem& files, std::filesystem::path shipped, std::filesystem::path user)
    : files_(files), shipped_(std::move(shipped)), user_(std::move(user)) {}

std::vector<std::string> Library::names() {
    std::set<std::string> found;
    for (const auto& folder : {user_, shipped_}) {
        const auto entries = files_.list(folder);
        if (!entries) continue;
        for (const auto& entry : *entries) {
            if (!entry.ends_with(k_suffix)) continue;
            const auto name = entry.substr(0, entry.size() - k_suffix.size());
            if (is_safe_name(name)) found.insert(name);
        }
    }
    return {found.begin(), found.end()};
}

Result<Library::Located> Library::locate(const std::string& name) {
    if (is_safe_name(name)) {
        for (const auto& folder : {user_, shipped_}) {
            const auto path = folder / (name + std::string(k_suffix));
            auto text = files_.read(path);
            if (text) return Located{path, std::move(*text)};
            if (text.error().code != ErrorCode::not_found)
                return in_context("reading the workflow " + name, text.error());
        }
    }
    const auto known = names();
    auto hint = suggestion(name, known);
    if (hint.ends_with("?")) hint += " Known: " + join(known, ", ");
    return Error(ErrorCode::not_found, "there is no workflow \"" + printable(name) + "\"" + hint);
}

Result<void> Library::refresh(const std::string& name) {
    auto located = locate(name);
    if (!located) {
        // If the file cannot be read now, keep its last definition; if it is gone, drop it.
        const auto cached = current_.find(name);
        if (located.error().code == ErrorCode::not_found) {
            if (cached != current_.end()) current_.erase(cached);
        } else if (cached != current_.end() && cached->second.definition) {
            cached->second.problem = located.error().message;
            cached->second.text.clear();
            return {};
        }
        return std::move(located).error();
    }
    Cached& cached = current_[name];
    if (cached.path == located->path.string() && cached.text == located->text) return {};
    cached.path = located->path.string();
    cached.text = std::move(located->text);
    auto loaded = load(cached.text, cached.path, name);
    cached.problem = describe(loaded.problems, cached.path);
    const bool reloaded = cached.definition != nullptr;
    if (!loaded.ok()) {
        log_(name, "does not validate" + std::string(reloaded ? "; the last version that did stays in force: " : ": ") +
                       cached.problem);
        return {};
    }
    if (reloaded) log_(name, "was edited; new tasks use " + cached.path);
    cached.definition = std::make_shared<const engine::Definition>(std::move(loaded.definition));
    cached.good_text = cached.text;
    return {};
}

Result<Library::DefinitionPtr> Library::find(const std::string& name) {
    TRY(refresh(name));
    const Cached& cached = current_.at(name);
    if (cached.definition) return cached.definition;
    return Error(ErrorCode::workflow_invalid, "workflow " + name + " does not validate:\n" + cached.problem);
}

Result<std::string> Library::pin(const std::string& name) {
    TRY(const auto definition, find(name));
    const std::string hash = definition->hash;
    if (pinned_.contains(hash)) return hash;
    const auto path = pin_path(hash);
    const std::string& text = current_.at(name).good_text;
    const auto there = files_.read(path);
    if (!there || *there != text) {
        if (auto written = files_.replace(path, text); !written)
            return in_context("pinning the workflow " + name, written.error());
    }
    pinned_[hash] = definition;
    return hash;
}

Result<Library::DefinitionPtr> Library::pinned(const std::string& name, const std::string& hash) {
    if (hash.empty()) return find(name);
    if (const auto found = pinned_.find(hash); found != pinned_.end()) return found->second;
    const std::string what = "the definition of the workflow " + printable(name) + " that this task began with";
    const std::string way_out =
        ". Move the task to the current definition, or to another workflow: orange task update --workflow " +
        printable(name);
    if (!is_content_hash(hash)) {
        return Error(ErrorCode::invalid_argument,
                     what + " is unknown, because \"" + printable(hash) + "\" is not a hash" + way_out);
    }
    const auto path = pin_path(hash);
    const auto text = files_.read(path);
    if (!text && text.error().code != ErrorCode::not_found) return in_context("reading " + what, text.error());
    if (!text || !is_hash_of(hash, *text)) {
        const auto current = find(name);
        if (current && is_hash_of(hash, current_.at(name).good_text)) return *current;
        return Error(text ? ErrorCode::workflow_invalid : ErrorCode::not_found,
                     what + " (" + path.string() + ") " + (text ? "was changed" : "is gone") + way_out);
    }
    auto loaded = load(*text, path.string(), name);
    if (!loaded.ok()) {
        return Error(ErrorCode::workflow_invalid,
                     what + " no longer validates" + way_out + "\n" + describe(loaded.problems, path.string()));
    }
    return pinned_[hash] = std::make_shared<const engine::Definition>(std::move(loaded.definition));
}

std::vector<Entry> Library::list() {
    std::vector<Entry> entries;
    for (const auto& name : names()) {
        Entry entry;
        entry.name = name;
        if (const auto refreshed = refresh(name); !refreshed) {
            entry.problem = refreshed.error().message;
        } else {
            const Cached& cached = current_.at(name);
            entry.path = cached.path;
            entry.shipped = std::filesystem::path(cached.path).parent_path() == shipped_;
            entry.problem = cached.problem;
            entry.last_good = !cached.problem.empty() && cached.definition;
        }
        entry.shadows = !entry.shipped && files_.read(shipped_ / (name + std::string(k_suffix)));
        entry.valid = entry.problem.empty();
        entries.push_back(std::move(entry));
    }
    return entries;
}

Result<std::string> Library::text(const std::string& name) {
    TRY(auto located, locate(name));
    return std::move(located.text);
}

Result<Library::Copy> Library::copy(const std::string& name, const std::string& as, bool force) {
    TRY(auto located, locate(name));
    auto text = std::move(located.text);
    if (as == name) {
        auto shipped = files_.read(shipped_ / (name + std::string(k_suffix)));
        if (!shipped) {
            return Error(ErrorCode::conflict,
                         located.path.string() + " is your own file; give the copy another name (--as NAME)");
        }
        text = std::move(*shipped);
    }
    TRY(auto written, renamed(text, as));
    Copy copy{user_ / (as + std::string(k_suffix)), false};
    const auto there = files_.read(copy.path);
    if (!there && there.error().code != ErrorCode::not_found) return there.error();
    if (there && !force) {
        return Error(ErrorCode::conflict,
                     copy.path.string() + " already exists; choose another name (--as NAME) or replace it (--force)");
    }
    copy.replaced = there.has_value();
    TRY(files_.replace(copy.path, written));
    return copy;
}

std::filesystem::path Library::pin_path(const std::string& hash) const {
    return user_ / ".pinned" / (hash + std::string(k_suffix));
}

}  // namespace orange::workflow
