#pragma once

#include <chrono>
#include <filesystem>
#include <set>
#include <string>

#include "client/commands/context.hpp"
#include "client/commands/harness.hpp"
#include "client/commands/scratch_repository.hpp"
#include "common/rpc/task_queries.hpp"

namespace orange::commands {

/// One short life of a program in a scratch repository, below an Orange of its own that ends with it, so that the
/// user's projects, tasks and lists are not touched. The program is the worker of the workflow `default`; Orange's demo
/// agent reviews. Each step is printed as soon as it is judged, unless the caller wants JSON.
class Trial {
  public:
    Trial(Context& outer, const HarnessTest& options, ScratchRepository repository);

    /// An error only if the trial could not go on; a step that fails is none.
    Result<void> run();
    /// Ends and removes everything, or says where it is if it is to be kept. Also after an error or an interruption.
    void clean_up();

    bool failed() const { return !failed_.empty(); }
    bool tried() const { return tried_; }
    /// `harness`, `passed`, `steps`, and `window`: the end of the program's window if a step failed.
    Json report() const;

  private:
    enum class Verdict { pass, fail, unknown };

    /// What was seen of the life.
    struct Seen {
        rpc::TaskShow::Reply last;
        std::set<std::string> busy, idle;  ///< what says so: file, title or screen
        std::string asks, limited;         ///< the line of a dialog that is open, or of a limit
        bool ended = false;                ///< the program, before its work was done
        bool worker_called = false;
    };

    Result<bool> find_program();
    Result<bool> begin();
    Result<void> watch();
    Result<void> look(bool changes = false);
    bool enough();
    void say_question();
    Result<void> judge();
    void judge_start();
    void judge_work(bool planned, bool committed);
    void judge_activity();
    Result<void> send_message();
    Result<void> wait_for_message();
    Result<void> end_it();
    void keep_window();
    void say_kept() const;

    template <class Method>
    Result<typename Method::Reply> call(const Method& params) {
        auto daemon = inner_.daemon();
        if (!daemon) return daemon.error();
        return (*daemon)->call(params);
    }
    /// `detail`: what was seen. `change`: what to look at in the definition.
    void step(const std::string& name, Verdict verdict, const std::string& detail, const std::string& change = {});

    Context& outer_;
    HarnessTest options_;
    ScratchRepository repository_;
    std::filesystem::path home_;
    Context inner_;
    std::chrono::steady_clock::time_point until_, stuck_since_;
    Json steps_ = Json::array();
    std::vector<std::string> failed_;
    bool tried_ = true;
    bool oneshot_ = false;
    bool ends_ = false;  ///< its task was cancelled
    bool did_ = false;   ///< it began to do what its prompt says
    std::string id_, short_id_;
    std::string window_;
    Seen seen_;
    bool question_said_ = false;
};

}  // namespace orange::commands
