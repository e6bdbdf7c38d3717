#include "daemon/agents/binds.hpp"

#include <fnmatch.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/agents/skills.hpp"

namespace orange::agents {

std::string real_path(const std::string& path) {
    std::error_code error;
    const auto real = std::filesystem::weakly_canonical(path, error);
    return error ? path : real.string();
}

namespace {

namespace fs = std::filesystem;

bool is_below(const std::string& path, const std::string& folder) {
    return !folder.empty() && path.starts_with(folder + "/");
}

bool contains(const std::string& folder, const std::string& path) {
    return folder == path || folder == "/" || is_below(path, folder);
}

/// Returns the path without "..", "." and a slash at its end.
std::string plain_path(const std::string& path) {
    auto plain = fs::path(path).lexically_normal().string();
    if (plain.size() > 1 && plain.ends_with('/')) plain.pop_back();
    return plain;
}

/// Returns the folder of the npm package that the program is a part of, else the program's own. A program of npm needs
/// the files beside and above it.
std::string package_of(const fs::path& program, const std::string& home) {
    std::error_code error;
    for (auto folder = program.parent_path(); is_below(folder.string(), home); folder = folder.parent_path()) {
        if (fs::exists(folder / "package.json", error)) return folder.string();
    }
    return program.parent_path().string();
}

/// Returns the files and folders that exist of an item of `config_reads`. Others, such as sockets, are no settings.
std::vector<std::string> files_of(const std::string& item, const Environment& env) {
    const fs::path path = folder_in(item, env);
    const auto pattern = path.filename().string();
    std::error_code error;
    std::vector<std::string> files;
    if (!path.is_absolute()) return files;
    for (fs::directory_iterator each(path.parent_path(), error), end; !error && each != end; each.increment(error)) {
        if (::fnmatch(pattern.c_str(), each->path().filename().c_str(), 0) != 0) continue;
        struct stat facts {};
        const bool is_there = ::stat(each->path().c_str(), &facts) == 0;
        if (is_there && (S_ISDIR(facts.st_mode) || S_ISREG(facts.st_mode))) files.push_back(each->path().string());
    }
    std::ranges::sort(files);
    return files;
}

/// Returns the folders outside of HOME that variables of the lists name, as CODEX_HOME.
std::vector<std::string> emptied_by(const Harness& harness, const Environment& env) {
    std::vector<std::string> folders;
    const auto home = real_path(variable_in(env, "HOME"));
    for (const auto* list : {&harness.config_binds, &harness.config_reads}) {
        for (const auto& item : *list) {
            const auto slash = item.find('/');
            if (!item.starts_with('$') || slash == item.npos) continue;
            const auto folder = in_real_home(folder_in(item.substr(0, slash), env), env);
            struct stat facts {};
            const bool is_there = ::stat(folder.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode);
            if (is_there && folder.starts_with('/') && !is_below(folder, home)) folders.push_back(folder);
        }
    }
    return folders;
}

/// True for a file that a program may replace by another one, as it does with its settings: what is shown to it can be
/// neither replaced nor removed.
bool is_replaced(const std::string& path) {
    constexpr off_t k_largest = 16 << 20;
    struct stat facts {};
    return ::stat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode) && (facts.st_mode & S_IXUSR) == 0 &&
           facts.st_size <= k_largest;
}

}  // namespace

Result<void> make_config_folders(const Harness& harness, const Environment& env) {
    const auto make = [&](const std::string& item) -> Result<void> {
        const auto slash = item.find('/');
        const bool has_base = slash != 0 && slash != item.npos;
        const auto base = has_base ? plain_path(folder_in(item.substr(0, slash + 1), env)) : std::string();
        const fs::path below = base.empty() ? std::string() : item.substr(slash + 1);
        std::error_code error;
        if (!below.has_filename() || below.has_extension() || !fs::is_directory(base, error)) {
            return {};
        }
        auto folder = fs::path(base);
        for (const auto& part : below) {
            folder /= part;
            if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
                return io_error("making " + folder.string() + ", to which " + harness.name + " writes", errno);
            }
        }
        return {};
    };
    for (const auto& item : harness.config_binds) TRY(make(item));
    return {};
}

Result<void> make_shown_folder(const std::string& folder, const std::string& what) {
    const fs::path path = folder;
    for (const auto& each : {path.parent_path(), path}) {
        if (::mkdir(each.c_str(), 0700) != 0 && errno != EEXIST) return io_error("making " + each.string(), errno);
    }
    std::error_code error;
    if (fs::symlink_status(path, error).type() == fs::file_type::directory) return {};
    return Error(ErrorCode::conflict, what + " " + folder + " is not a folder");
}

std::string in_real_home(const std::string& path, const Environment& env) {
    if (!path.starts_with('/')) return path;
    const auto plain = plain_path(path), home = plain_path(variable_in(env, "HOME"));
    const bool is_in_home = plain == home || is_below(plain, home);
    return is_in_home ? real_path(home) + plain.substr(home.size()) : plain;
}

void name_real_home(Environment& env, std::vector<std::string>& words) {
    const Environment before = env;
    if (real_path(variable_in(before, "HOME")) == plain_path(variable_in(before, "HOME"))) return;
    const auto renamed = [&](const std::string& list) {
        std::vector<std::string> real;
        for (const auto path : split(list, ':')) {
            const bool is_in_home = is_below(std::string(path), variable_in(before, "HOME"));
            real.push_back(is_in_home ? in_real_home(std::string(path), before) : std::string(path));
        }
        return join(real, ":");
    };
    for (auto& [name, value] : env) value = renamed(value);
    for (auto& word : words) word = renamed(word);
    env["HOME"] = real_path(variable_in(before, "HOME"));
}

std::vector<Bind> binds_of(const Harness& harness, const std::string& program, const Environment& env) {
    const auto home = real_path(variable_in(env, "HOME"));
    const auto orange_home = in_real_home(variable_in(env, "ORANGE_HOME"), env);
    std::vector<Bind> binds;
    const auto add = [&](std::string path, Bind::Kind kind) {
        path = in_real_home(path, env);
        const bool shows_all = contains(path, home) || contains(path, orange_home);
        const bool is_known = std::ranges::find(binds, path, &Bind::path) != binds.end();
        if (!shows_all && !is_known) binds.push_back({std::move(path), kind});
    };
    for (const auto& folder : emptied_by(harness, env)) add(folder, Bind::Kind::empty);
    const auto emptied = binds;
    const auto add_hidden = [&](const std::string& folder) {
        const auto path = in_real_home(folder, env);
        const bool is_emptied =
            std::ranges::any_of(emptied, [&](const Bind& bind) { return is_below(path, bind.path); });
        if (is_emptied || is_below(path, home) || is_below(path, orange_home)) add(path, Bind::Kind::read);
    };
    const auto search_path = variable_in(env, "PATH");  // outlives the loop
    for (const auto folder : split(search_path, ':')) {
        if (!is_below(in_real_home(std::string(folder), env), orange_home)) add_hidden(std::string(folder));
    }
    add_hidden(fs::path(program).parent_path().string());
    add_hidden(package_of(real_path(program), home));
    for (const auto& item : harness.config_binds) {
        const auto path = folder_in(item, env);
        if (path.starts_with('/')) add(path, Bind::Kind::write);
    }
    for (const auto& item : harness.config_reads) {
        for (const auto& path : files_of(item, env)) {
            const bool is_written = std::ranges::any_of(
                binds, [&](const Bind& bind) { return bind.kind == Bind::Kind::write && contains(path, bind.path); });
            if (!is_written) add(path, is_replaced(path) ? Bind::Kind::copy : Bind::Kind::read);
        }
    }
    return binds;
}

std::vector<std::string> words_of(const std::vector<Bind>& binds, const Executor& executor, const Environment& env) {
    const auto home = real_path(variable_in(env, "HOME"));
    const auto orange_home = in_real_home(variable_in(env, "ORANGE_HOME"), env);
    const auto& emptied = executor.emptied.empty() ? executor.readable : executor.emptied;
    std::map<std::string, const std::vector<std::string>*> shown = {{orange_home, &emptied}};
    std::vector<std::string> words;
    const auto add = [&](const std::string& path, const std::vector<std::string>& known) {
        if (!shown.emplace(path, &known).second) return;
        const auto more = expanded(known, {{{"path", path}}, {}});
        words.insert(words.end(), more.begin(), more.end());
    };
    for (const auto& bind : binds) {
        std::error_code error;
        const bool is_there = is_below(bind.path, orange_home) || fs::exists(bind.path, error);
        if (!is_there) continue;
        if (bind.kind == Bind::Kind::read) add(bind.path, executor.readable);
        if (bind.kind == Bind::Kind::write) add(bind.path, executor.writable);
        if (bind.kind == Bind::Kind::empty) add(bind.path, emptied);
    }
    if (executor.above.empty()) return words;
    const auto seen = shown;
    const auto is_empty = [&](const std::string& folder) {
        return std::ranges::none_of(
            seen, [&](const auto& each) { return contains(each.first, folder) && each.second != &emptied; });
    };
    for (const auto& [path, kind] : seen) {
        for (auto folder = fs::path(path).parent_path(); is_below(folder.string(), home); folder = folder.parent_path())
            if (is_empty(folder.string())) add(folder.string(), executor.above);
    }
    return words;
}

Result<void> check_visible(const Executor& executor, const HarnessEntry& harness, const Environment& env,
                           const std::vector<std::string>& options) {
    std::vector<std::string> needed = {harness.program};
    if (const auto name = interpreter_of(harness.program); !name.empty()) {
        if (auto found = find_program(name, variable_in(env, "PATH")); !found.empty()) needed.push_back(found);
    }
    const auto binds = binds_of(harness.harness, harness.program, env);
    const auto is_shown = [&](const std::string& path) {
        return std::ranges::any_of(binds, [&](const Bind& bind) { return contains(bind.path, path); }) ||
               std::ranges::any_of(options, [&](const std::string& word) { return contains(word, path); });
    };
    for (const auto& program : needed) {
        for (const auto& path : {in_real_home(program, env), real_path(program)}) {
            const auto hidden =
                std::ranges::find_if(executor.hides, [&](const auto& it) { return is_below(path, it); });
            if (hidden == executor.hides.end() || is_shown(path)) continue;
            return Error(ErrorCode::conflict, "executor " + executor.name + " hides " + *hidden + ", where " +
                                                  harness.harness.name + " needs " + printable(path) +
                                                  ". Install the program in another folder");
        }
    }
    return {};
}

}  // namespace orange::agents
