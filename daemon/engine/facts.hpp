#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/check.hpp"
#include "daemon/engine/children.hpp"
#include "daemon/engine/definition.hpp"

/// Gates on facts. runner/branch/branch.hpp determines the facts of a task's branch and sub-tasks; these functions
/// judge them.
namespace orange::engine {

using Argvs = std::vector<std::vector<std::string>>;

/// The facts about one commit, as far as the gates name them (facts_wanted).
struct Facts {
    bool known = false;                ///< they were determined; false: no gate on facts holds
    std::string unknown = {};          ///< why the branch could not be examined
    std::string unknown_commits = {};  ///< why its commits could not be counted
    std::string unknown_merge = {};    ///< why the merge could not be tried
    std::string commit = {};           ///< the branch's newest commit
    std::string base = {};             ///< the ref from which `commits` are counted, as "main"
    std::int64_t commits = 0;
    std::vector<std::string> uncommitted = {};
    std::string target = {};                  ///< the branch to merge into, as "origin/main"
    std::vector<std::string> conflicts = {};  ///< files
    std::string reviewed = {};                ///< the commit that the reviewer was given
    Argvs project_checks = {};
    std::optional<CheckRecord> checked = {};  ///< the last result of checks, on any commit
    std::string log = {};                     ///< the file with their output
    std::optional<bool> own_work = {};        ///< the branch has changes that the default branch does not have
    Children children = {};                   ///< the task's sub-tasks
    bool attempts = false;                    ///< several agents are to try the task, each in a sub-task
};

/// Returns the facts that the gates on the ways out of the task's state require together, if their conditions hold. If
/// `to` is not empty, only the way to it counts.
GateFacts facts_wanted(const Definition& definition, const Task& task, std::string_view to);

/// Returns the commands that have to succeed for the gate; empty if it names none, or if the project has none.
Argvs checks_of(const GateFacts& gate, const Facts& facts);
/// Returns a hash that identifies a list of commands.
std::string hash_of(const Argvs& checks);
/// True if the hash is hash_of() of these checks, perhaps as an older version recorded it.
bool is_hash_of(const std::string& hash, const Argvs& checks);

/// Returns why a required fact does not hold, as a sentence that says what to do; nullopt if all hold, or if only
/// checks have to run.
std::optional<std::string> fact_problem(const GateFacts& gate, const Facts& facts);
/// True if the checks have not run on this commit.
bool awaits_checks(const GateFacts& gate, const Facts& facts);
bool checks_failed(const GateFacts& gate, const Facts& facts);

/// Returns "the checks have not run on 1a2b3c4d5e6f: make test", and when they run.
std::string awaited_text(const GateFacts& gate, const Facts& facts, const std::string& to);

/// Returns "at least 1 commit, nothing uncommitted and that make test succeeds". `project_checks` is unset if no
/// project is meant.
std::string facts_text(const GateFacts& gate, const std::optional<Argvs>& project_checks);

}  // namespace orange::engine
