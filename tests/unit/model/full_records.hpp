#pragma once

#include "common/model/notice_kinds.hpp"
#include "common/model/project.hpp"
#include "common/model/record.hpp"

/// Records in which every field says something.
namespace orange::test {

inline constexpr Timestamp k_full_time{std::chrono::milliseconds(1795258143120)};

inline Task full_task() {
    Task task;
    task.id.value = "4f2aBcDeFgHiJkLmNoPqR";
    task.project = "shop";
    task.branch = "fix/total";
    task.base = "refs/heads/release";
    task.permissions = "reduced";
    task.workflow = "relay";
    task.workflow_hash = "0011";
    task.harness = "demo";
    task.review_harness = "claude";
    task.effort = "high";
    task.review_effort = "low";
    task.model = "opus";
    task.review_model = "provider/small-1";
    task.executor = "slurm";
    task.executor_hash = "0123456789abcdef";
    task.executor_options = "-p gpu";
    task.pr_feedback = "agent";
    task.status = "agent-review";
    task.counters = {{"review_round", 2}, {"crash_count", 1}, {"polish", 4}};
    task.summary = "Round \"the\" total — \u202e\x1b";
    task.workspace = "shop--1";
    task.tmux_session = "shop/fix-total";
    task.pr_url = "https://example.org/pull/7";
    task.attention = "look";
    task.created_at = k_full_time;
    task.updated_at = k_full_time + std::chrono::seconds(5);
    task.extra_frontmatter = "labels: [a, b]\n";
    task.blocked_by = {{"V1StGXR8Z5jdHi6BmyT0a"}, {"aaaabbbbccccddddeeeef"}};
    task.parent.value = "ddddbbbbccccddddeeeef";
    task.budget = "5M";
    task.permits = "inbox";
    task.on.value = "ffffbbbbccccddddeeeef";
    return task;
}

inline UsageRow full_usage_row() {
    return {"2026-11-21", Role::reviewer, "claude", "opus-5", {12, 1000, 300, 50, 47}, 51100, 1, 1};
}

inline TaskRecord full_record() {
    TaskRecord record;
    record.reviewed_commit = "0123456789abcdef";
    record.branch_start = "fedcba9876543210";
    MergeRecord merge;
    merge.phase = MergePhase::pushed;
    merge.tx = "m1";
    merge.target = "main";
    merge.strategy = "ff";
    merge.tip = "aa";
    merge.base = "bb";
    merge.commit = "cc";
    merge.push = false;
    merge.include_unpushed = merge.keep_branch = merge.elsewhere = true;
    merge.pull = 7;
    merge.forced = "not reviewed";
    merge.checks = "cccc";
    merge.train = "t1";
    merge.attempts = 3;
    merge.by.evidence = "terminal";
    merge.at = k_full_time;
    merge.failure = "none";
    record.merge = merge;
    PullRequest pull;
    pull.number = 7;
    pull.url = "https://example.org/pull/7";
    pull.state = PullState::merged;
    pull.draft = pull.conflicts = true;
    pull.branch = "fix/total";
    pull.commit = "aa";
    pull.base = "main";
    pull.checks = PullChecks::failing;
    pull.review = PullReview::changes_requested;
    pull.merged_as = "cc";
    pull.requested_at = "2026-11-21T10:49:03Z";
    pull.said = "2026-11-21T10:49:03Z 2/1 3";
    record.pull_request = pull;
    record.pull_told = {"changes_requested"};
    record.programs = std::map<std::string, std::string>{{"filter.lfs.clean", "0011"}};
    record.programs_changed = {"filter.lfs.clean", "hooks/pre-push"};
    record.harness_hashes = {{"claude", "shipped 1.0.0 0011"}};
    record.harnesses_changed = {"claude"};
    record.unwritten_feedback = "Once more.";
    record.unwritten_files = "- `/t/files/shot.png` (from ~/shot.png, 12 KiB, 2026-11-21)";
    record.imported = true;
    record.held = {{Role::reviewer, "reviewer", "reduced", "tx", true, true, k_full_time}};
    record.left = {{RunId{"run0"}, "slurm", {"scancel", "-n", "orange-run0"}, k_full_time, {"squeue"}, {"COMPLETED"}}};
    record.died = {Role::worker, Role::reviewer};
    record.task_file = ".orange/TASK.md";
    record.ended = true;
    record.start = "clarification";
    record.notices = {{NoticeKind::agent_crashed, "look", "orange task respawn", "worker", k_full_time}};
    record.entered_at = k_full_time;
    record.moved_because = "crash 2";
    record.continued_by = TaskId{"9c1dcDeFgHiJkLmNoPqR2"};
    record.failed_reviews = {"no test"};
    record.questions = "dddd";
    record.question = "Half up?";
    record.answered = "eeee";
    record.stopped = true;
    record.notified = record.entered_at;
    record.task = full_task();
    Intent intent;
    intent.id = "i1";
    intent.from = "working";
    intent.to = "agent-review";
    intent.by = {
        Role::worker, record.task.id, RunId{"run1"}, 4711, "ancestor orange-agent 4711", "claude > make > orange",
        "make"};
    intent.auto_reason = "exited";
    intent.attested = false;
    intent.actions = {{{"spawn_agent", {{"prompt", "worker"}}, {}}, true},
                      {{"run_command", {}, {"echo", "a b"}}, true, "it ended with 3", true}};
    intent.at = k_full_time;
    intent.workspace = "shop--1";
    intent.tokens = 5'000'000;
    record.intent = intent;
    AgentRun run;
    run.run.value = "run1";
    run.role = Role::reviewer;
    run.harness = "claude";
    run.harness_hash = "0011";
    run.model = "opus";
    run.prompt = "reviewer";
    run.intent = "i1";
    run.window_name = "review-2";
    run.session_id = "$3";
    run.window_id = "@7";
    run.pane_id = "%7";
    run.server_pid = 1;
    run.server_start = 3;
    run.pid = 1LL << 40;
    run.start_time = 99;
    run.ending = true;
    run.resumed = true;
    run.spawned_at = k_full_time;
    run.memory_limit = 1LL << 33;
    run.oom_kills = 2;
    run.processes_limit = 512;
    run.forks_refused = true;
    run.disk_limit = 1LL << 34;
    run.disk_used = 1LL << 35;
    run.place = RunPlace{"slurm",     {"scancel", "-n", "orange-run1"},
                         {"squeue"},  {"PENDING"},
                         k_full_time, k_full_time,
                         "n2",        {"TIMEOUT"},
                         "token",     "TIMEOUT"};
    run.place->hides = true;
    run.place->over = {"COMPLETED"};
    run.place->network = "api.example.org";
    run.place->limits_processes = true;
    run.usage =
        RunUsage{{full_usage_row()}, {"/h/0b1c.jsonl"}, k_full_time, true, true, true, UsageWindow{62, k_full_time}};
    record.checked = CheckRecord{"abcdef0123456789",         "cccc",       false, k_full_time, "make test",
                                 "ended with exit status 2", "line\nline", 12,    "dddd",      "origin/main"};
    record.merge_checked = record.checked;
    record.runs = {run};
    record.typed = {{"m2", Role::reviewer, Role::system, "go on", k_full_time, k_full_time, 2, true, true, true, true}};
    record.sessions = {{Role::worker, "claude", "0b1c", "/w/shop--1", "/h/0b1c.jsonl"}};
    record.reminder = Reminder{"Run it", k_full_time, 2, k_full_time};
    record.outbox = {{"m1", Role::worker, Role::human, "line\nline", k_full_time}};
    record.entry_sections = {{"Handoff", "abcd"}};
    record.body_hash = "ffff";
    record.queued = true;
    record.queued_seq = 12;
    record.blockers_done = {TaskId{"aaaabbbbccccddddeeeef"}};
    record.told_of = {TaskId{"aaaabbbbccccddddeeeeg"}};
    record.blockers_gone = {TaskId{"aaaabbbbccccddddeeeef"}};
    record.stacked_on.value = "V1StGXR8Z5jdHi6BmyT0a";
    record.asked = AskedTransition{"agent-review", "abcdef0123456789", intent.by, k_full_time, true};
    record.children_done = {TaskId{"eeeebbbbccccddddeeeef"}};
    record.unapproved_told = record.trouble_told = {TaskId{"eeeebbbbccccddddeeeef"}};
    record.to_tell = "shop/fix: it is done";
    record.unapproved = true;
    record.into_parent = true;
    record.usage = {full_usage_row()};
    record.times = {{"2026-11-21", "worker", 300}};
    record.time_open = TimeOpen{"you", k_full_time};
    record.budget_pass = BudgetPass{"2026-11-21", "4f2a", 3'000'000, 5'000'000, 40'000'000, 41'000'000};
    record.on_seen = "reviewed 0123456789abcdef";
    record.on_told = "done";
    record.on_move = "0123456789abcdef fedcba9876543210 abcdef0123456789";
    record.attempts = {{TaskId{"gggghhhhiiiijjjjkkkkl"}, "claude/opus:high", "claude", "high", "opus", "codex", "low",
                        "small-1", true}};
    record.picked = {"gggghhhhiiiijjjjkkkkl"};
    record.picked_by = intent.by;
    record.attempt = "claude 2";
    record.unpicked = true;
    record.near_told = "5000000 40000000 2026-11-21";
    record.forked = ForkedWork{TaskId{"9c1dcDeFgHiJkLmNoPqR2"}, "0123456789abcdef", "fedcba9876543210",
                               record.sessions.front(), RunId{"run1"}};
    record.disk_over = 1LL << 35;
    record.reviews = {{"Review", "0123456789abcdef abcd"}};
    record.comment_step = 4;
    record.permits_asked = 3;
    record.permits_answered = {{3, RunId{"run123456789"}, Role::worker, "41-7", "Bash", "npm install", true, "once",
                                "terminal 34817", *from_rfc3339("2026-11-20T09:00:00.000Z"), 1}};
    return record;
}

inline Project full_project() {
    const ProjectSettings settings{"pr",
                                   false,
                                   true,
                                   {{{"make", "test"}}},
                                   60,
                                   "worktree",
                                   "agent",
                                   "github",
                                   30,
                                   120,
                                   700,
                                   true,
                                   {{{"make", "clean"}}},
                                   {{".env"}},
                                   "ask",
                                   5,
                                   3,
                                   "parent",
                                   4,
                                   2,
                                   "12G",
                                   8,
                                   480,
                                   300,
                                   "20G",
                                   "opus",
                                   "sonnet",
                                   "claude",
                                   "codex",
                                   "slurm",
                                   "-p gpu",
                                   "localhost/agents:1",
                                   "api.example.org",
                                   "22:00-06:00",
                                   "3M",
                                   "40M",
                                   "200",
                                   "never",
                                   "inbox"};
    return {"shop",   "/src/shop",          "main", 3, "relay", "demo", {"npm", "ci"}, {{"A", "b"}}, {"codex"},
            settings, {"npm", "run", "dev"}};
}

}  // namespace orange::test
