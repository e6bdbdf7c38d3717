#pragma once

#include "common/model/record.hpp"

namespace orange::testing {

/// A task with every field filled in.
inline TaskRecord example_record(const std::string& id = "V1StGXR8Z5jdHi6BmyT0a") {
    TaskRecord record;
    auto& task = record.task;
    task.id.value = id;
    task.project = "shop";
    task.branch = "orange-tasks/" + id;
    task.workflow_hash = "0123456789abcdef";
    task.harness = "demo";
    task.review_harness = "claude";
    task.effort = "high";
    task.status = "working";
    task.counters = {{"review_round", 1}, {"laps", 3}};
    task.summary = "Say: \"hello\" # not a comment";
    task.workspace = "shop--1";
    task.tmux_session = "shop/V1StGXR8";
    task.created_at = *from_rfc3339("2026-11-20T10:49:03.120Z");
    task.updated_at = *from_rfc3339("2026-11-20T11:00:00.000Z");
    task.extra_frontmatter = "labels: [a, b]\n";
    return record;
}

}  // namespace orange::testing
