#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "client/connection/connection.hpp"
#include "common/rpc/daemon_methods.hpp"
#include "common/rpc/event_methods.hpp"
#include "common/rpc/harness_methods.hpp"
#include "common/rpc/project_methods.hpp"
#include "common/rpc/task_methods.hpp"
#include "common/rpc/task_queries.hpp"
#include "common/rpc/workflow_methods.hpp"
#include "common/rpc/workspace_methods.hpp"

/// The whole of Orange in a temporary home: the real oranged, the real tmux on a server of its own, real git
/// repositories, the demo agent. Everything is gone when the Sandbox is; only processes that it started are ended.
namespace orange::tests {

struct Ran {
    int status = -1;
    std::string out;
    std::string err;
};

class Sandbox {
  public:
    /// Where the daemon's time comes from: the machine, or the test (pass()). The second is for tests of idle times,
    /// patience and polls; all others test the product as it is.
    enum class Time { of_machine, of_test };

    /// `config` is config.yml's text. The daemon runs when the constructor returns.
    /// `length`: of root()'s path, for tests of what is wrapped; then programs and share are reached below it, too.
    explicit Sandbox(const std::string& config = {}, std::size_t length = 0, Time time = Time::of_machine);
    ~Sandbox();
    Sandbox(const Sandbox&) = delete;
    Sandbox& operator=(const Sandbox&) = delete;

    std::filesystem::path root() const { return root_; }
    std::filesystem::path home() const { return root_ / "orange"; }

    /// `oranged`: another than the one that was built. `variables`: "NAME=value", before its other ones.
    void start_daemon(const std::filesystem::path& oranged = {}, std::vector<std::string> variables = {});
    void kill_daemon();  ///< SIGKILL
    int stop_daemon();   ///< SIGTERM; its exit status
    pid_t daemon_pid() const { return daemon_; }

    /// With Time::of_test: adds to the daemon's time at once, whatever the daemon is doing.
    void advance(std::chrono::milliseconds time);
    /// With Time::of_test: adds to the daemon's time while the daemon has no child whose deadline could pass.
    void pass(std::chrono::milliseconds time);
    /// The same for a time in which the daemon polls. Returns when it has polled.
    void pass_with_poll(std::chrono::milliseconds time);

    /// A repository with one commit on `main`, registered as a project of that name with the demo harness.
    std::filesystem::path add_project(const std::string& name, int pool_size = 2);
    /// A bare clone of a repository, which becomes its remote `origin`.
    std::filesystem::path add_origin(const std::filesystem::path& repo);
    /// A repository, not registered.
    std::filesystem::path make_repository(const std::string& name);

    /// Runs and wants exit 0; standard output without the last newline.
    std::string run(const std::vector<std::string>& argv, const std::filesystem::path& cwd = {});
    Ran try_run(const std::vector<std::string>& argv, const std::filesystem::path& cwd = {},
                const std::string& input = {});
    /// The real client, as a user would call it.
    Ran orange(std::vector<std::string> args, const std::filesystem::path& cwd = {}, const std::string& input = {});
    /// `sh -c` on a terminal of 80 columns without colours: `out` is what stands there in the end. Without `answers`
    /// standard input is empty, else each is typed at a question.
    Ran on_terminal(const std::string& command, const std::filesystem::path& cwd,
                    std::vector<std::string> answers = {});
    std::string git(std::vector<std::string> args, const std::filesystem::path& cwd);
    Ran tmux(std::vector<std::string> args);

    template <class Method>
    Result<typename Method::Reply> try_call(const Method& params) {
        return connection().call(params);
    }
    template <class Method>
    typename Method::Reply call(const Method& params) {
        auto reply = try_call(params);
        if (!reply) fail(std::string(Method::k_name) + ": " + reply.error().message);
        return std::move(*reply);
    }

    /// Creates a task with the demo harness; returns its id.
    std::string create(const std::string& project, const std::string& summary, bool no_spawn = false);
    Json fields(const std::string& id);
    /// As people are shown it.
    std::string short_id(const std::string& id);
    std::string status(const std::string& id);
    Result<rpc::TaskReply> update_status(const std::string& id, const std::string& status, bool force = false);
    std::vector<Json> history(const std::string& id, const std::string& type = {});
    /// "pending planning working …": the states that the history went through.
    std::string path_of(const std::string& id);
    std::string body(const std::string& id);
    std::filesystem::path worktree(const std::string& id);
    std::filesystem::path folder(const std::string& id);
    /// The run of that role in state.json; null where there is none.
    Json run_of(const std::string& id, const std::string& role);

    /// Waits until it holds; fails the test with `what`, the task's why and the log's tail otherwise.
    void eventually(const std::string& what, const std::function<bool()>& holds,
                    std::chrono::milliseconds deadline = std::chrono::seconds(60));
    void wait_for_status(const std::string& id, const std::string& status);

    connection::Connection& connection();
    [[noreturn]] void fail(const std::string& why);

  private:
    std::filesystem::path time_file() const { return root_ / "time"; }

    std::filesystem::path root_;
    const Time time_;
    std::int64_t ahead_ = 0;  ///< milliseconds
    pid_t daemon_ = -1;
    std::optional<connection::Connection> connection_;
};

/// Where the build put orange, oranged and orange-agent.
std::filesystem::path program(const std::string& name);

std::string read_file(const std::filesystem::path& path);
void write_file(const std::filesystem::path& path, const std::string& content);

}  // namespace orange::tests
