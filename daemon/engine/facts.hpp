#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/check.hpp"
#include "daemon/engine/children.hpp"
#include "daemon/engine/definition.hpp"

/// Gates on facts: what the daemon has found of a task's branch and sub-tasks is judged here, and found out in
/// runner/facts.hpp.
namespace orange::engine {

using Argvs = std::vector<std::vector<std::string>>;

/// The facts about one commit, as far as the gates name them (facts_wanted).
struct Facts {
    bool known = false;                ///< somebody has looked; else no gate on facts holds
    std::string unknown = {};          ///< why the branch could not be looked at
    std::string unknown_commits = {};  ///< why they could not be counted
    std::string unknown_merge = {};    ///< why it could not be tried
    std::string commit = {};           ///< what the branch is at
    std::string base = {};             ///< what `commits` are counted from, as "main"
    std::int64_t commits = 0;
    std::vector<std::string> uncommitted = {};
    std::string target = {};                  ///< what it is to merge into, as "origin/main"
    std::vector<std::string> conflicts = {};  ///< files
    std::string reviewed = {};                ///< the commit that the reviewer was given
    Argvs project_checks = {};
    std::optional<CheckRecord> checked = {};  ///< how checks went last, on whatever commit
    std::string log = {};                     ///< where their output is
    std::optional<bool> own_work = {};        ///< the branch has work that the default branch has not
    Children children = {};                   ///< the task's
};

/// The facts that the gates on the ways out of the task's state name together, as far as their conditions hold. Only
/// the way to `to` counts; if it is empty, all do.
GateFacts facts_wanted(const Definition& definition, const Task& task, std::string_view to);

/// The commands that have to succeed for the gate; none if it names none, or the project has none.
Argvs checks_of(const GateFacts& gate, const Facts& facts);
/// Tells lists of commands apart.
std::string hash_of(const Argvs& checks);

/// Why what the gate names is not so, as a sentence that says what to do; nothing where it is, or where only checks
/// have to run to find it out.
std::optional<std::string> fact_problem(const GateFacts& gate, const Facts& facts);
/// The checks have not run on this commit.
bool awaits_checks(const GateFacts& gate, const Facts& facts);
bool checks_failed(const GateFacts& gate, const Facts& facts);

/// "the checks have not run on 1a2b3c4d5e6f: make test", and when they do.
std::string awaited_text(const GateFacts& gate, const Facts& facts, const std::string& to);

/// "at least 1 commit, nothing uncommitted and that make test succeeds". `project_checks`: unset if no project is
/// meant.
std::string facts_text(const GateFacts& gate, const std::optional<Argvs>& project_checks);

}  // namespace orange::engine
