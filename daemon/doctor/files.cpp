#include <map>
#include <set>
#include <tuple>

#include "common/base/shortage.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/async/async.hpp"
#include "daemon/doctor/exam.hpp"
#include "daemon/files/file_facts.hpp"
#include "daemon/log/log.hpp"
#include "daemon/runner/placing/placement.hpp"
#include "daemon/runner/transitions/project_names.hpp"
#include "daemon/store/history_chain.hpp"
#include "daemon/store/task_texts.hpp"

/// Checks of Orange's own files.
namespace orange::doctor {
namespace {

constexpr const char* k_restart = "orange daemon stop && orange daemon start";
/// The log is rotated at 10 MB (daemon/log), so a file of twice that size was not.
constexpr std::uintmax_t k_unrotated = std::uintmax_t{20} << 20;

/// The checks read only this much of a history, from its end.
constexpr std::uintmax_t k_history_end = std::uintmax_t{4} << 20;
constexpr std::size_t k_lines_at_once = 256, k_records_at_once = 16;

struct BadLines {
    std::size_t all = 0;
    std::size_t no_objects = 0;  ///< those that do not even look like JSON objects; sed can remove them
};

/// Counts lines that are no events, which every reader skips. For an ended task, counts only those that do not look
/// like JSON objects: there may be thousands of such tasks.
Awaitable<Result<BadLines>> bad_lines_of(World& world, TaskId id) {
    const auto* task = world.tasks.brief(id);
    const bool closely = task && !task->ended;
    auto reader = world.tasks.read_history(id);
    BadLines bad;
    for (std::size_t lines = 1; reader.read() < k_history_end; ++lines) {
        CO_TRY(const auto line, reader.next_line());
        if (!line) break;
        const bool is_object = line->front() == '{' && line->back() == '}';
        if (!is_object) ++bad.no_objects;
        if (!is_object || (closely && !store::event_from_line(*line))) ++bad.all;
        if (lines % k_lines_at_once == 0) co_await async::yield();
    }
    co_return bad;
}

std::vector<TaskId> all_tasks(const Exam& exam) {
    std::vector<TaskId> tasks;
    exam.world.tasks.each([&](const store::Brief& task) {
        if (!exam.project || task.project.text() == *exam.project) tasks.push_back(task.id);
        return true;
    });
    return tasks;
}

/// Reads the records of tasks that rest: the daemon has read only what their briefs need.
Awaitable<void> check_resting(Exam& exam) {
    std::size_t seen = 0;
    for (const auto& id : all_tasks(exam)) {
        if (++seen % k_records_at_once == 0) co_await async::yield();
        const auto* task = exam.world.tasks.brief(id);
        const auto read = task ? exam.world.tasks.read(id) : Result<store::RecordPtr>(nullptr);
        if (read) continue;
        const auto file = exam.world.tasks.folder(*task) / "state.json";
        const auto place = place_in(file, read.error().message);
        exam.report.wrong("task " + task->project.text() + "/" + id.value + ", which has ended, cannot be read: " +
                              place.text + "; repair the file, or delete the task",
                          "orange task delete " + id.value, place.file);
    }
}

void say_bad_lines(Exam& exam, const TaskId& id, const Path& file, const BadLines& bad) {
    const auto path = shell_word(file.string());
    exam.report.warn(counted(bad.all, "line") + " of the history of " + id.value + " cannot be read, and " +
                         (bad.all == 1 ? "is" : "are") + " skipped",
                     bad.no_objects == 0
                         ? "cat -v " + path
                         : "orange daemon stop && sed -i.bak '/^{.*}$/!d' " + path + " && orange daemon start",
                     file.string());
}

/// A history that an older Orange wrote has no chain, which is no problem.
Awaitable<void> check_chain(Exam& exam, TaskId id, Path file) {
    auto task = id;
    const auto report = co_await store::verify_history(exam.world.tasks, std::move(task));
    if (!report || report->holds || report->points.front().kind == "none") co_return;
    const auto& point = report->points.front();
    const auto text = "the chain of the history of " + id.value + " does not hold: " + point.text;
    const auto command = "orange task history " + id.value + " --verify";
    if (point.kind == "unchained") {
        exam.report.warn(text, command, file.string());
    } else {
        exam.report.wrong(text, command, file.string());
    }
}

}  // namespace

Awaitable<void> check_config(Exam& exam) {
    if (!exam.facts.config) co_return;
    const auto read = exam.facts.config();
    if (read) co_return;
    const auto place = place_in(exam.world.paths.config(), read.error().message);
    exam.report.wrong(place.text, "orange daemon reload", place.file);
}

Awaitable<void> check_projects_file(Exam& exam) {
    (void)exam.world.projects.refresh();  // project_problems() reports problems
    const auto file = exam.world.paths.projects();
    const bool usable = exam.world.projects.problem().empty();
    for (const auto& problem : project_problems(exam.world)) {
        exam.report.wrong(problem.text, problem.command, usable ? file.string() : place_in(file, problem.text).file);
    }
    co_return;
}

Awaitable<void> check_pool_file(Exam& exam) {
    const auto file = exam.world.paths.workspaces() / ".pool.json";
    const auto read = exam.world.pool.check();
    if (read) co_return;
    if (shortage_in(read.error())) {  // the file itself may be whole
        exam.report.wrong(read.error().message, {}, file.string());
        co_return;
    }
    // Every task records its own workspace, and gc creates the file again from that.
    exam.report.wrong(
        read.error().message,
        "mv " + shell_word(file.string()) + " " + shell_word(file.string() + ".broken") + " && orange workspace gc",
        place_in(file, read.error().message).file);
}

Awaitable<void> check_tasks(Exam& exam) {
    auto& files = exam.world.files;
    for (const auto& broken : exam.world.tasks.unreadable()) {
        if (exam.project && broken.project != *exam.project) continue;
        const auto folder = exam.world.paths.tasks() / broken.project / broken.id;
        const bool imported = is_missing(files, folder / "state.json") && files.facts_of(folder / "TASK.md");
        const auto place = place_in(folder / (imported ? "TASK.md" : "state.json"), broken.why);
        exam.report.wrong("task " + broken.project + "/" + broken.id + " cannot be read: " + place.text +
                              "; repair the file or move its folder away, then restart the daemon",
                          k_restart, place.file);
    }
    co_await check_resting(exam);
}

Awaitable<void> check_histories(Exam& exam) {
    for (const auto& id : all_tasks(exam)) {  // of ended tasks, too: they are kept for their history
        const auto* known = exam.world.tasks.brief(id);
        if (!known) continue;
        const auto file = exam.world.tasks.folder(*known) / "history.jsonl";
        auto torn = file;
        torn += ".torn";
        if (exam.world.files.facts_of(torn)) {
            exam.report.warn(
                "a line of the history of " + id.value + " was cut off by a crash; the incomplete line was kept",
                "rm " + shell_word(torn.string()), torn.string());
        }
        auto task = id;
        const auto bad = co_await bad_lines_of(exam.world, std::move(task));
        if (!bad) {
            exam.report.wrong("the history of " + id.value + " cannot be read: " + bad.error().message,
                              "ls -l " + shell_word(file.string()), file.string());
        } else if (bad->all > 0) {
            say_bad_lines(exam, id, file, *bad);
        }
        auto verified = id;
        auto place = file;
        if (bad && exam.histories) co_await check_chain(exam, std::move(verified), std::move(place));
        co_await async::yield();
    }
}

Awaitable<void> check_conflicts(Exam& exam) {
    for (const auto& record : exam.tasks()) {
        const auto kept = store::kept_texts(exam.world.files, exam.world.tasks.folder(record));
        if (kept.empty()) continue;
        std::string command = "rm";
        for (const auto& file : kept) command += " " + shell_word(file);
        exam.report.warn(counted(kept.size(), "file") + " with lines that edits removed from TASK.md of " +
                             record.task.id.value + ". Copy what you need into TASK.md, then remove them",
                         command, kept.back());
    }
    co_return;
}

Awaitable<void> check_workflows(Exam& exam) {
    for (const auto& entry : exam.world.workflows.list()) {
        if (entry.valid) continue;
        const auto place = place_in(entry.path, entry.problem);
        exam.report.wrong("workflow " + entry.name + ": " + place.text +
                              (entry.last_good ? "; the last valid version is in force until the daemon restarts" : ""),
                          "orange workflow validate " + shell_word(entry.path), place.file);
    }
    co_return;
}

Awaitable<void> check_pinned(Exam& exam) {
    for (const auto& record : exam.tasks()) {
        const auto definition = exam.runner.turns.definition_of(record.task);
        if (definition) continue;
        exam.report.wrong(
            "task " + record.task.id.value + ": " + definition.error().message,
            "orange task update " + record.task.id.value + " --workflow " + shell_word(record.task.workflow));
    }
    co_return;
}

Awaitable<void> check_harnesses(Exam& exam) {
    for (const auto& entry : exam.world.harnesses.list()) {
        if (!entry.warning.empty()) exam.report.warn("harness " + entry.harness.name + ": " + entry.warning);
        if (entry.problem.empty()) continue;
        const auto place = place_in(entry.path, entry.problem);
        exam.report.wrong("harness " + entry.harness.name + ": " + place.text,
                          "orange harness show " + shell_word(entry.path.stem().string()) + " --source", place.file);
    }
    co_return;
}

Awaitable<void> check_executors(Exam& exam) {
    auto& world = exam.world;
    // An executor is tried once for all projects that use it in the same way.
    using Use = std::tuple<std::map<std::string, std::string>, std::string, std::string>;
    std::map<std::string, std::map<Use, std::string>> used;
    for (const auto& project : exam.projects()) {
        const auto settings = settings_of(world, project);
        Use use{executor_environment(world, project.name), *settings.image, *settings.network};
        used[*settings.executor].try_emplace(std::move(use), project.name);
    }
    const auto entries = world.executors.list();
    for (const auto& entry : entries) {
        const auto name = entry.executor.name;
        const auto uses = std::move(used[name]);
        used.erase(name);
        if (!entry.problem.empty()) {
            const auto place = place_in(entry.path, entry.problem);
            exam.report.wrong("executor " + name + ": " + place.text, {}, place.file);
            continue;
        }
        if (!uses.empty() && entry.executor.hides_files() && !entry.executor.has_commands_inside()) {
            const auto why = entry.executor.has_own_repository
                                 ? " (checks: outside)"
                                 : ", and its agents share the project's repository (repository: own)";
            exam.report.warn("executor " + name + " separates files, but checks and setup run outside of it" + why,
                             "orange executor show " + name);
        }
        for (const auto& [use, project] : uses) {
            auto executor = entry.executor;
            auto env = std::get<0>(use);
            const auto usable = co_await check_executor(world, std::move(executor), project, std::move(env));
            if (usable) continue;
            exam.report.wrong(first_line(usable.error().message), "orange executor test " + name);
            break;
        }
    }
    for (const auto& [name, uses] : used) {
        const auto found = world.executors.find(name);
        if (!found) exam.report.wrong(first_line(found.error().message), "orange executor list");
    }
}

Awaitable<void> check_log(Exam& exam) {
    const auto file = exam.world.paths.log();
    const auto facts = exam.world.files.facts_of(file);
    if (const auto problem = log::problem()) {
        exam.report.warn("orange.log cannot be written: " + *problem,
                         "df -h " + shell_word(file.parent_path().string()), file.string());
    } else if (!facts) {
        exam.report.warn("there is no orange.log: it was removed, or cannot be written", k_restart, file.string());
    } else if (facts->size > k_unrotated) {
        exam.report.warn("orange.log is not rotated: it has " + std::to_string(facts->size >> 20) + " MiB", k_restart,
                         file.string());
    }
    co_return;
}

}  // namespace orange::doctor
