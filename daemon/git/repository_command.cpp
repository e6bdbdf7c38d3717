#include "daemon/git/repository_command.hpp"

#include "common/base/sha256.hpp"
#include "daemon/git/small_files.hpp"

namespace orange::git {
namespace {

constexpr std::size_t k_longest = std::size_t{1} << 20;
constexpr std::string_view k_folder = ".orange/";

}  // namespace

bool is_repository_command(const std::string& name) {
    return name == ".orange/setup" || name == ".orange/teardown";
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
