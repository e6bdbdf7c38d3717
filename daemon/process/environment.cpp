#include "daemon/process/environment.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "common/base/text.hpp"

extern char** environ;

namespace orange {
namespace {

bool is_dangerous(std::string_view name) {
    if (name == "ORANGE_HOME") return false;
    for (const std::string_view prefix : {"GIT_", "TMUX", "LD_", "DYLD_", "ORANGE_", "LISTEN_", "WATCHDOG_"}) {
        if (name.starts_with(prefix)) return true;
    }
    // Variables of a service manager for the daemon alone: a child must not answer for it, or be taken for it.
    for (const std::string_view of_service : {"NOTIFY_SOCKET", "INVOCATION_ID", "JOURNAL_STREAM", "MANAGERPID"}) {
        if (name == of_service) return true;
    }
    return name == "BASH_ENV" || name == "ENV";
}

/// SLURM_CONF and SLURM_JWT are how programs reach Slurm, also outside of a job.
bool is_of_job(std::string_view name) {
    if (name == "SLURM_CONF" || name == "SLURM_JWT") return false;
    for (const std::string_view prefix :
         {"SLURM_", "SLURMD_", "SRUN_", "SBATCH_", "SALLOC_", "PMI_", "PMI2_", "PMIX_"}) {
        if (name.starts_with(prefix)) return true;
    }
    return name == "CUDA_VISIBLE_DEVICES" || name == "ROCR_VISIBLE_DEVICES" || name == "GPU_DEVICE_ORDINAL";
}

bool is_executable_file(const std::string& file) {
    struct stat status {};
    return ::stat(file.c_str(), &status) == 0 && S_ISREG(status.st_mode) && ::access(file.c_str(), X_OK) == 0;
}

}  // namespace

Environment without_dangerous(Environment from) {
    std::erase_if(from, [](const auto& entry) { return is_dangerous(entry.first); });
    return from;
}

Environment variables_of_job(const Environment& all) {
    if (!all.contains("SLURM_JOB_ID")) return {};
    Environment found;
    for (const auto& [name, value] : all) {
        if (is_of_job(name)) found[name] = value;
    }
    return found;
}

Environment current_environment() {
    Environment all;
    for (char** entry = environ; entry && *entry; ++entry) {
        const std::string_view text = *entry;
        const auto equals = text.find('=');
        if (equals == std::string_view::npos || equals == 0) continue;
        all.emplace(text.substr(0, equals), text.substr(equals + 1));
    }
    return all;
}

Environment scrubbed_environment() {
    auto env = without_dangerous(current_environment());
    env["LC_ALL"] = "C";
    return env;
}

std::string joined_path(std::string_view first, std::string_view then) {
    std::vector<std::string> folders;
    for (const auto path : {first, then}) {
        for (const auto folder : split(path, ':')) {
            const bool there = std::find(folders.begin(), folders.end(), folder) != folders.end();
            if (!folder.empty() && !there) folders.emplace_back(folder);
        }
    }
    return join(folders, ":");
}

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    pointers.reserve(texts.size() + 1);
    for (const auto& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
    pointers.push_back(nullptr);
    return pointers;
}

std::string path_in(const Environment& env) {
    const auto path = env.find("PATH");
    return path == env.end() ? "/usr/local/bin:/usr/bin:/bin" : path->second;
}

std::string find_program(std::string_view name, std::string_view path) {
    if (name.empty()) return {};
    if (name.find('/') != std::string_view::npos) return std::string(name);
    for (const auto folder : split(path, ':')) {
        if (!folder.starts_with('/')) continue;
        auto file = std::string(folder) + "/" + std::string(name);
        if (is_executable_file(file)) return file;
    }
    return {};
}

}  // namespace orange
