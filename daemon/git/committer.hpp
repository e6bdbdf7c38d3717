#pragma once

#include <map>
#include <string>
#include <vector>

#include "daemon/git/git.hpp"

/// Names the author of the commits that Orange makes: the user as in git's configuration, and "Orange
/// <orange@localhost>" for the parts that the configuration does not set.
namespace orange::git {

/// Returns user.name and user.email, each if the configuration (key → value) does not set it.
std::vector<std::string> missing_of(const std::map<std::string, std::string>& configured);

/// Asks git at `place` for its configuration and returns missing_of() of it.
Awaitable<Result<std::vector<std::string>>> missing_identity(Git& git, Place place);

/// Returns a sentence, without its full stop, that names the missing settings, and the command that sets them.
/// `missing` is not empty.
std::string missing_text(const std::vector<std::string>& missing);
std::string missing_command(const std::vector<std::string>& missing);

/// Returns the environment that gives git Orange's name or address for each missing setting.
Awaitable<Result<std::map<std::string, std::string>>> identity(Git& git, Place place);

}  // namespace orange::git
