#pragma once

#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "daemon/agents/harness.hpp"
#include "daemon/agents/trust_text.hpp"
#include "daemon/files/file_system.hpp"

/// A program's own question whether it may trust a repository, answered in the program's own file: with the user's
/// consent only, missing keys only, old or new and never half.
namespace orange::agents {

struct TrustKey {
    std::string name;   ///< projects."/repo".trust_level
    std::string value;  ///< what it has to be
    KeyState state = KeyState::missing;
    std::string found;  ///< where it is `different`
};

struct TrustPlan {
    Path file;  ///< the real one, behind links
    bool exists = false;
    std::string old_text;
    std::string new_text;
    std::vector<TrustKey> keys;

    bool given() const;
};

/// What is to be written so that the program trusts `repo`. Refused, with a sentence: a file that cannot be read or
/// understood, is no regular file or somebody else's, or a link to nothing.
Result<TrustPlan> plan_trust(FileSystem& files, const TrustFile& trust, const std::string& repo,
                             const std::string& home);

/// Plans again and writes; a file that somebody else wrote in between is planned anew. conflict where a key is there
/// with another value: that is the user's answer, and stays. Permissions of the file stay; a new one is 0600.
Result<TrustPlan> write_trust(FileSystem& files, const TrustFile& trust, const std::string& repo,
                              const std::string& home);

}  // namespace orange::agents
