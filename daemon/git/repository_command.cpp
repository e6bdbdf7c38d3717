#include "daemon/git/repository_command.hpp"

#include "common/base/sha256.hpp"
#include "daemon/git/small_files.hpp"

namespace orange::git {
namespace {

constexpr std::size_t k_longest = std::size_t{1} << 20;
constexpr std::string_view k_folder = ".orange/";
constexpr std::string_view k_ssh_consent = "core.sshCommand ";

}  // namespace

std::string trusted_ssh(const Project& project) {
    for (const auto& entry : project.trusted) {
        if (entry.starts_with(k_ssh_consent)) return entry.substr(k_ssh_consent.size());
    }
    return {};
}

void trust_ssh(Project& project, const std::string& value) {
    std::erase_if(project.trusted, [](const std::string& entry) { return entry.starts_with(k_ssh_consent); });
    project.trusted.push_back(std::string(k_ssh_consent) + value);
}

bool is_repository_command(const std::string& name) {
    return name == ".orange/setup" || name == ".orange/teardown" || name == ".orange/dev";
}

std::optional<RepositoryCommand> repository_command(int folder, const std::string& name) {
    const auto inner = open_folder_at(folder, ".orange", ".orange");
    if (!inner) return std::nullopt;
    auto text = small_file_at(inner->get(), name.substr(k_folder.size()), k_longest);
    if (!text) return std::nullopt;
    RepositoryCommand command{name, std::move(*text), {}};
    command.hash = sha256(command.text);
    return command;
}

std::optional<RepositoryCommand> repository_command(const std::string& path, const std::string& name) {
    const auto folder = open_folder(path);
    return folder ? repository_command(folder->get(), name) : std::nullopt;
}

}  // namespace orange::git
