#include "daemon/agents/trust.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "common/base/ids.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/agents/placeholders.hpp"
#include "daemon/files/file_facts.hpp"

namespace orange::agents {
namespace {

namespace fs = std::filesystem;

constexpr off_t k_largest = off_t{16} << 20;
constexpr int k_attempts = 5;

Error refused(const Path& file, const std::string& why) {
    return Error(ErrorCode::invalid_argument, file.string() + " " + why);
}

/// Behind links: people keep such files in a repository of their own.
Result<Path> real_file(const Path& named) {
    struct stat facts {};
    if (::lstat(named.c_str(), &facts) != 0) {
        if (errno == ENOENT) return named;
        return io_error("looking at " + named.string(), errno);
    }
    std::error_code error;
    const auto real = fs::canonical(named, error);
    if (error) return refused(named, "is a link to nothing; nothing was changed");
    if (::stat(real.c_str(), &facts) != 0) return io_error("looking at " + real.string(), errno);
    if (!S_ISREG(facts.st_mode)) return refused(real, "is no regular file; nothing was changed");
    if (facts.st_uid != ::geteuid()) return refused(real, "belongs to another user; nothing was changed");
    if (facts.st_size > k_largest) return refused(real, "is too large for a configuration; nothing was changed");
    return real;
}

std::string shown(const std::vector<std::string>& path) {
    std::string out;
    for (const auto& part : path) {
        const bool plain = std::all_of(part.begin(), part.end(), [](unsigned char c) {
            return (c < 128 && std::isalnum(c) != 0) || c == '_' || c == '-';
        });
        out += (out.empty() ? "" : ".") + (plain ? part : "\"" + json_escaped(part) + "\"");
    }
    return out;
}

Result<void> swap_in(FileSystem& files, const TrustPlan& plan, bool& done) {
    if (!plan.exists) {
        auto created = files::create_new(files, plan.file, plan.new_text);
        done = created.has_value();
        if (!created && created.error().code != ErrorCode::conflict) return created;
        return {};
    }
    struct stat facts {};
    if (::stat(plan.file.c_str(), &facts) != 0) return io_error("looking at " + plan.file.string(), errno);
    const Path displaced =
        plan.file.parent_path() / ("." + plan.file.filename().string() + "." + random_id(10) + ".orange");
    TRY(files.exchange(plan.file, plan.new_text, displaced));
    const auto old = files.read(displaced);
    done = old && *old == plan.old_text;
    if (!done) {
        std::error_code error;  // somebody wrote after we had read: theirs goes back
        fs::rename(displaced, plan.file, error);
        return error ? Result<void>(io_error("putting back " + plan.file.string(), error.value())) : Result<void>{};
    }
    if (::chmod(plan.file.c_str(), facts.st_mode & 07777U) != 0) {
        return io_error("permissions of " + plan.file.string(), errno);
    }
    return files.remove(displaced);
}

}  // namespace

bool TrustPlan::given() const {
    return std::all_of(keys.begin(), keys.end(), [](const TrustKey& key) { return key.state == KeyState::there; });
}

Result<TrustPlan> plan_trust(FileSystem& files, const TrustFile& trust, const std::string& repo,
                             const std::string& home) {
    if (trust.file.empty()) return Error(ErrorCode::invalid_argument, "it asks for no trust");
    if (!is_valid_utf8(repo)) {
        return Error(ErrorCode::invalid_argument, printable(repo) + " is no UTF-8: it cannot be named in such a file");
    }
    const Path named = below_home(trust.file, home);
    if (!named.is_absolute() || (home.empty() && trust.file.starts_with('~')))
        return Error(ErrorCode::invalid_argument, "the agents' environment has no HOME");
    TRY(const auto real, real_file(named));
    TrustPlan plan;
    plan.file = real;
    auto text = files.read(plan.file);
    if (!text && text.error().code != ErrorCode::not_found) return text.error();
    plan.exists = text.has_value();
    if (text) plan.old_text = *text;
    plan.new_text = text ? *text : std::string(trust.format == "json" ? "{\n}\n" : "");
    for (const auto& wanted : trust.keys) {
        std::vector<std::string> path;
        for (const auto& part : wanted.path) path.push_back(filled(part, {{"repo", repo}}));
        auto edit = trust.format == "json" ? json_with_key(plan.new_text, path, wanted.value)
                                           : toml_with_key(plan.new_text, path, wanted.value);
        if (!edit) return refused(plan.file, edit.error().message);
        plan.keys.push_back(TrustKey{shown(path), wanted.value, edit->state, edit->found});
        plan.new_text = std::move(edit->text);
    }
    return plan;
}

Result<TrustPlan> write_trust(FileSystem& files, const TrustFile& trust, const std::string& repo,
                              const std::string& home) {
    for (int attempt = 0; attempt < k_attempts; ++attempt) {
        auto plan = plan_trust(files, trust, repo, home);
        if (!plan || plan->given()) return plan;
        for (const auto& key : plan->keys) {
            if (key.state != KeyState::different) continue;
            return Error(ErrorCode::conflict,
                         plan->file.string() + " says " + key.name + " = " + key.found +
                             " already, and Orange only adds what is missing: change it there, or start the program "
                             "once in the repository and answer its question");
        }
        bool done = false;
        TRY(swap_in(files, *plan, done));
        if (done) return plan;
    }
    return Error(ErrorCode::conflict, "another program keeps writing the file; try again");
}

}  // namespace orange::agents
