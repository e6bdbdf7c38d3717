#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/fakes/github/fake_github.hpp"
#include "tests/flows/transcript.hpp"
#include "tests/integration/sandbox.hpp"

/// Plays a transcript: the real daemon, tmux and git of a Sandbox, one project "shop" on one workflow, and agents that
/// are real processes in their own windows (tests/flows/scripted-agent), so that whoever calls is who the transcript
/// says.
namespace orange::tests {

class Stage {
  public:
    Stage(std::string name, const std::string& workflow, const Transcript& transcript);

    /// Throws, with the line and what is there instead, at the first thing that is not as it is written.
    void play();

  private:
    /// What a command left behind.
    struct Done {
        int status = 0;
        bool gone = false;  ///< the agent was ended before its command had
        std::string out;
        std::string err;
    };
    using Files = std::map<std::string, std::string>;

    [[noreturn]] void wrong(std::size_t line, const std::string& what);
    std::string filled_in(std::string text);
    const std::string& task(std::size_t label);

    void happen(const Step& step);
    Done by_human(const std::vector<std::string>& words);
    Done orange(std::vector<std::string> args);
    void note_new_tasks();
    Done rpc(const std::string& method, const std::string& params);
    void kill_session();
    Done by_github(const std::vector<std::string>& words);
    Done by_agent(const Event& event);
    std::filesystem::path folder_of_agent(const std::string& id, const std::string& role);
    bool tell(const std::filesystem::path& folder, const std::string& number);
    void judge(const Outcome& outcome, const Done& done);

    /// Every file of every task that a refused command must not change; returns when nothing is on its way any more.
    Files quiet_files();
    bool is_quiet(const std::string& id);
    Files files();

    void expect(const Step& step);
    /// Empty where it holds, else what there is instead.
    std::string differs(const std::string& id, const Clause& clause);
    std::string differs_task(const std::string& id, const Clause& clause);
    std::string differs_git(const std::string& id, const Clause& clause);
    std::string windows(const std::string& id);
    std::string logs(const std::string& id);
    std::string agent_file(const std::string& id, const std::string& role, const std::string& name);

    void expect_history(const Step& step);
    std::vector<std::string> events(const std::string& id);

    std::string name_;
    const Transcript& transcript_;
    Sandbox orange_;
    std::filesystem::path repo_;
    std::unique_ptr<test::FakeGitHub> github_;
    std::vector<std::string> tasks_;
    std::set<std::string> ended_;              ///< runs that were told to end
    std::map<std::string, std::size_t> told_;  ///< task → how much of its history is told
    std::size_t commands_ = 0;
};

/// The transcript of that cell, played.
void play_flow(const std::string& workflow, const std::string& flow);

/// tests/data/flows
std::filesystem::path flows_folder();

}  // namespace orange::tests
