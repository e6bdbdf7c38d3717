// The demo makes a scratch repository and a project with a unique name, subscribes to the project's events, and creates
// a task. The demo prints events until the review has passed, merges, shows the result, and removes everything. Each
// step sends the request of the command with that name.
#include "client/commands/demo.hpp"

#include <algorithm>
#include <iterator>
#include <map>

#include "client/commands/follow.hpp"
#include "client/commands/interrupts.hpp"
#include "client/commands/scratch_repository.hpp"
#include "client/output/events.hpp"
#include "client/output/tasks.hpp"
#include "common/base/ids.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "common/rpc/project_methods.hpp"
#include "common/rpc/task_methods.hpp"
#include "common/rpc/task_queries.hpp"
#include "common/rpc/workspace_methods.hpp"

namespace orange::commands {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

class Tour {
  public:
    Tour(Context& context, connection::Connection& daemon, const DemoOptions& options, ScratchRepository repository)
        : context_(context), daemon_(daemon), options_(options), repository_(std::move(repository)) {
        follower_.until = start_ + std::chrono::seconds(options.timeout_seconds);
        follower_.event = [this](const rpc::EventNotification& event) { on_event(event); };
        follower_.enough = [this](const EventStream::Next& came) { return look(came.what); };
    }

    Result<void> run();
    /// Prints what blocks the task, if the demo failed.
    void explain();
    void say_goodbye();
    void clean_up();

  private:
    Result<void> add_project();
    Result<void> create_task();
    Result<void> wait_for_review();
    Result<bool> look(EventStream::What came);
    Result<void> respawn_crashed_worker();
    Result<void> merge();
    Result<void> merge_children();
    Result<void> merge(const std::string& id, const std::string& short_id);
    Result<void> show_result();

    void on_event(const rpc::EventNotification& came);
    std::vector<std::string> tasks();
    /// Calls on the stream's connection once there is one, because it survives a restart of the daemon.
    template <class Method>
    Result<typename Method::Reply> call(const Method& params) {
        return stream_ ? stream_->call(params) : daemon_.call(params);
    }
    void say(const std::string& sentence);
    void command(const std::string& line);
    std::string elapsed() const;

    Context& context_;
    connection::Connection& daemon_;
    DemoOptions options_;
    ScratchRepository repository_;
    steady_clock::time_point start_ = steady_clock::now();
    Follower follower_;
    std::optional<EventStream> stream_;  ///< opened when there is a project
    std::string project_;
    std::string id_;
    std::string short_id_;
    std::string status_;
    std::string commit_;
    bool worker_crashed_ = false;
    std::map<std::string, std::string> reviewed_;  ///< sub-tasks that wait for their merge: id and short id
};

std::string Tour::elapsed() const {
    const auto tenths = std::chrono::duration_cast<milliseconds>(steady_clock::now() - start_).count() / 100;
    std::string text = std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + "s";
    if (text.size() < 6) text.insert(0, 6 - text.size(), ' ');
    return text;
}

void Tour::say(const std::string& sentence) {
    if (context_.json) return;
    const auto time = elapsed();
    const auto lines = output::wrapped(printable(sentence), std::string(time.size() + 2, ' '), context_.style.width);
    output::put_now(context_.style.paint(time, output::k_dim) + lines.substr(time.size()));
}

void Tour::command(const std::string& line) {
    if (context_.json) return;
    const auto time = elapsed();
    auto lines = output::wrapped("$ " + line, std::string(time.size() + 2, ' '), context_.style.width);
    output::put_now(context_.style.paint(lines.replace(0, time.size(), time), output::k_bold));
}

void Tour::on_event(const rpc::EventNotification& came) {
    const auto& event = came.event;
    const bool is_child = options_.delegate && !id_.empty() && came.task != id_;
    const auto type = output::text_of(event, "type");
    constexpr std::string_view k_left_out[] = {"changes.counted", "clashes.changed", "task.needs", "agent.usage"};
    if (std::ranges::find(k_left_out, type) != std::end(k_left_out)) return;  // the demo's own sentences cover them
    const auto from = output::text_of(event, "from"), to = output::text_of(event, "to");
    std::string sentence = output::event_sentence(event);
    if (!to.empty() && is_child && to == "reviewing") reviewed_[came.task] = came.short_id;
    if (!to.empty()) {
        if (!is_child) status_ = to;
        // In the workflow `default`, which the demo uses, the next status shows the verdict of the review.
        if (from == "agent-review") sentence += to == "reviewing" ? "   (review: PASS)" : "   (review: FAIL)";
    }
    if (is_child) sentence.insert(0, printable(came.short_id) + "  ");
    if (type == "agent.crashed") worker_crashed_ = output::text_of(event, "role") != "reviewer";
    if (type == "agent.respawned" || type == "agent.spawned") worker_crashed_ = false;
    if (context_.json) {
        const auto time = std::chrono::duration_cast<milliseconds>(steady_clock::now() - start_).count();
        put_json({{"elapsed_ms", time}, {"event", event}});
        output::put_now("");
    } else {
        say(sentence);
    }
}

Result<void> Tour::run() {
    for (auto step :
         {&Tour::add_project, &Tour::create_task, &Tour::wait_for_review, &Tour::merge, &Tour::show_result}) {
        TRY((this->*step)());
    }
    return {};
}

Result<void> Tour::add_project() {
    rpc::ProjectAdd add;
    add.path = repository_.path().string();
    add.name = "demo-" + to_lower(random_id(6));
    add.harness = "demo";
    add.pool_size = options_.delegate ? 3 : 1;
    say("created a scratch repository: " + add.path);
    command("orange project add " + add.path + " --name " + *add.name + " --harness demo --pool-size " +
            std::to_string(*add.pool_size));
    TRY(auto reply, call(add));
    project_ = reply.project.name;
    rpc::EventsSubscribe subscribe;
    subscribe.project = project_;
    stream_.emplace(context_.paths, subscribe);
    TRY(stream_->open());
    return {};
}

Result<void> Tour::create_task() {
    rpc::TaskCreate create;
    create.project = project_;
    create.summary = options_.delegate ? "Add three greetings demo:split=3" : "Add a greeting demo:fail-once";
    if (options_.crash) create.summary += " demo:crash-once";
    create.harness = create.review_harness = "demo";
    command("orange create --project " + project_ + " \"" + create.summary + "\"");
    TRY(auto reply, call(create));
    id_ = reply.task.fields.id.value;
    short_id_ = output::short_id(reply.task);
    status_ = printable(reply.task.fields.status);
    return {};
}

Result<void> Tour::wait_for_review() {
    TRY(const bool reviewed, follow(*stream_, follower_));
    if (reviewed) return {};
    if (interrupted()) return {ErrorCode::timeout, "interrupted"};
    return {ErrorCode::timeout, "the task was not done within " + std::to_string(options_.timeout_seconds) + " s"};
}

Result<bool> Tour::look(EventStream::What came) {
    if (status_ == "stuck" || status_ == "cancelled") {
        return {ErrorCode::conflict, "the task has the status " + status_ + ", which the demo does not expect"};
    }
    if (came == EventStream::What::nothing && worker_crashed_) TRY(respawn_crashed_worker());
    if (came == EventStream::What::nothing) TRY(merge_children());
    return status_ == (options_.delegate ? "done" : "reviewing");
}

/// Respawns a crashed worker. The workflow leaves this to a human, whose part the demo plays.
Result<void> Tour::respawn_crashed_worker() {
    worker_crashed_ = false;
    rpc::TaskRespawn respawn;
    respawn.id = id_;
    command("orange respawn " + short_id_);
    TRY(call(respawn));
    return {};
}

Result<void> Tour::merge(const std::string& id, const std::string& short_id) {
    rpc::TaskMerge merge;
    merge.id = id;
    command("orange merge " + printable(short_id));
    TRY(auto reply, call(merge));
    commit_ = reply.commit;
    if (id == id_) status_ = printable(reply.task.fields.status);
    return {};
}

Result<void> Tour::merge_children() {
    while (!reviewed_.empty()) {
        const auto child = reviewed_.extract(reviewed_.begin());
        TRY(merge(child.key(), child.mapped()));
    }
    return {};
}

Result<void> Tour::merge() {
    if (options_.delegate) return {};  // the task ended with its sub-tasks
    TRY(merge(id_, short_id_));
    take_rest(*stream_, follower_.event);
    if (status_ != "done")
        return {ErrorCode::conflict, "merged, but the task has the status " + status_ + " instead of done"};
    return {};
}

Result<void> Tour::show_result() {
    TRY(auto log, repository_.log());
    TRY(auto workspaces, call(rpc::WorkspaceList{project_}));
    if (context_.json) {
        put_json({{"task", id_},
                  {"status", status_},
                  {"commit", commit_},
                  {"repository", repository_.path().string()},
                  {"workspaces", written(workspaces.workspaces)}});
        return {};
    }
    command("git log --oneline --graph");
    output::put(output::wrapped(printable(log, true), "          ", context_.style.width));
    for (const auto& workspace : workspaces.workspaces) say("workspace " + workspace.name + ": " + workspace.state);
    return {};
}

/// Returns the demo's task and its sub-tasks.
std::vector<std::string> Tour::tasks() {
    std::vector<std::string> ids;
    if (id_.empty()) return ids;
    rpc::TaskList list;
    list.project = project_;
    list.all = true;
    auto reply = options_.delegate ? call(list) : rpc::TaskList::Reply{};
    for (const auto& task : reply ? reply->tasks : std::vector<rpc::TaskView>()) {
        if (task.fields.id.value != id_) ids.push_back(task.fields.id.value);
    }
    ids.push_back(id_);
    return ids;
}

void Tour::explain() {
    if (id_.empty()) return;
    rpc::TaskWhy why;
    why.id = id_;
    auto reply = call(why);
    if (!reply) return output::print_error("orange why: " + printable(reply.error().message, true) + "\n");
    output::print_error(output::Style{}.paint(output::why_lines(*reply, {})));
    if (const auto& attention = reply->task.fields.attention) {
        output::print_error("  attention: " + printable(*attention) + "\n");
    }
}

void Tour::say_goodbye() {
    if (context_.json) return;
    const auto id = short_id_;
    output::put("\nKept:\n  repository  " + repository_.path().string() + "\n  project     " + project_ + "\n");
    if (!id_.empty()) output::put("  task        orange show " + id + "; orange history " + id + "\n");
    output::put("To remove them:\n");
    for (const auto& each : tasks()) {
        output::put("  orange delete --yes --force " + (each == id_ ? id : each.substr(0, 8)) + "\n");
    }
    if (!project_.empty()) output::put("  orange project remove " + project_ + "\n");
    output::put("  rm -r " + repository_.path().parent_path().string() + "\n");
}

void Tour::clean_up() {
    const auto print_error = [](const std::string& doing, const Error& error) {
        output::print_error("orange: " + doing + ": " + printable(error.message, true) + "\n");
    };
    for (const auto& id : tasks()) {
        rpc::TaskDelete erase;
        erase.id = id;
        erase.force = true;
        if (auto done = call(erase); !done) print_error("deleting the demo's task", done.error());
    }
    if (!project_.empty()) {
        if (auto done = call(rpc::ProjectRemove{project_}); !done)
            print_error("removing the demo's project", done.error());
    }
    if (auto done = repository_.remove(); !done) print_error("removing the demo's repository", done.error());
}

}  // namespace

Status demo(Context& context, const DemoOptions& options) {
    TRY(auto daemon, context.daemon());
    TRY(auto repository, ScratchRepository::make());
    catch_interrupts();
    Tour tour(context, *daemon, options, std::move(repository));
    const auto done = tour.run();
    if (!done) {
        fail(context, done.error());
        if (!interrupted()) tour.explain();
    }
    if (options.keep) {
        tour.say_goodbye();
    } else {
        tour.clean_up();
        if (done && !context.json) {
            output::put(
                "\nDone. The demo's repository and project were removed; with --keep they stay.\n"
                "To start a task of your own, run this in your repository:\n  orange run \"what to do\"\n");
        }
    }
    return done ? 0 : 1;
}

}  // namespace orange::commands
