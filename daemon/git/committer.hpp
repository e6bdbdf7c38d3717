#pragma once

#include <map>
#include <string>
#include <vector>

#include "daemon/git/git.hpp"

/// Who makes the commits that Orange makes: the user as git's configuration names the user, and
/// "Orange <orange@localhost>" for what that does not have.
namespace orange::git {

/// Returns those of user.name and user.email that the configuration (key → value) does not have.
std::vector<std::string> missing_of(const std::map<std::string, std::string>& configured);

/// Asks git at `place` for the same.
Awaitable<Result<std::vector<std::string>>> missing_identity(Git& git, Place place);

/// A sentence about what is missing, without its end, and the command that sets it. `missing` is not empty.
std::string missing_text(const std::vector<std::string>& missing);
std::string missing_command(const std::vector<std::string>& missing);

/// The environment that gives git Orange's name or address for what is missing.
Awaitable<Result<std::map<std::string, std::string>>> identity(Git& git, Place place);

}  // namespace orange::git
