#include "daemon/store/brief.hpp"

#include <functional>
#include <vector>

#include "common/model/json.hpp"
#include "daemon/store/task_folder.hpp"
#include "tests/catch.hpp"
#include "tests/unit/model/full_records.hpp"
#include "tests/unit/store/records.hpp"

using namespace orange;
using namespace orange::store;
using namespace orange::testing;

namespace {

TaskRecord resting() {
    auto record = example_record();
    record.task.status = "merged";
    record.task.summary = "Größe";
    record.task.workspace.reset();
    record.task.parent.value = "ddddbbbbccccddddeeeef";
    record.ended = true;
    return record;
}

MergeRecord local_merge() {
    MergeRecord merge;
    merge.phase = MergePhase::done;
    merge.push = false;
    merge.commit = "cc";
    merge.base = "bb";
    merge.target = "main";
    return merge;
}

void check_same(const Brief& a, const Brief& b) {
    CHECK(a.id == b.id);
    CHECK(a.parent == b.parent);
    CHECK(a.project == b.project);
    CHECK(a.workflow == b.workflow);
    CHECK(a.workflow_hash == b.workflow_hash);
    CHECK(a.status == b.status);
    CHECK(a.branch == b.branch);
    CHECK(a.summary == b.summary);
    CHECK(a.created_at == b.created_at);
    CHECK(a.ended == b.ended);
    CHECK(a.unfinished == b.unfinished);
    CHECK(a.unapproved == b.unapproved);
    CHECK(a.into_parent == b.into_parent);
    REQUIRE((a.unpushed == nullptr) == (b.unpushed == nullptr));
    if (a.unpushed) CHECK(*a.unpushed == *b.unpushed);
}

using Change = std::function<void(TaskRecord&)>;

}  // namespace

TEST_CASE("the brief of a task that rests is read from its state.json as from its record") {
    const std::vector<Change> changes = {
        [](TaskRecord&) {},
        [](TaskRecord& record) { record.ended = false, record.task.status = "done"; },
        [](TaskRecord& record) { record.task.parent = {}; },
        [](TaskRecord& record) { record.merge = local_merge(); },
        [](TaskRecord& record) { record.merge = local_merge(), record.into_parent = true; },
        [](TaskRecord& record) { record.merge = local_merge(), record.merge->push = true; },
        [](TaskRecord& record) { record.merge = local_merge(), record.merge->elsewhere = true; },
        [](TaskRecord& record) { record.merge = local_merge(), record.merge->phase = MergePhase::failed; },
        [](TaskRecord& record) { record.pull_request = PullRequest{}, record.pull_request->state = PullState::merged; },
        [](TaskRecord& record) {
            record.entry_sections = {{"Plan", "a \"b\" {[\\"}};
        },
    };
    for (const auto& change : changes) {
        auto record = resting();
        change(record);
        INFO(state_text(record));
        CHECK(rests(record));
        const auto brief = brief_of_resting(state_text(record));
        REQUIRE(brief);
        check_same(*brief, brief_of(record));
    }
}

TEST_CASE("a task that may make the daemon act does not rest") {
    const std::vector<Change> changes = {
        [](TaskRecord& record) { record.ended = false; },
        [](TaskRecord& record) { record.intent = Intent{}; },
        [](TaskRecord& record) { record.runs.push_back({}); },
        [](TaskRecord& record) { record.held.push_back({}); },
        [](TaskRecord& record) { record.left.push_back({}); },
        [](TaskRecord& record) { record.queued = true; },
        [](TaskRecord& record) { record.outbox.push_back({}); },
        [](TaskRecord& record) { record.notices.push_back({}); },
        [](TaskRecord& record) { record.task.workspace = "shop--1"; },
        [](TaskRecord& record) { record.programs_changed = {"hooks/pre-push"}; },
        [](TaskRecord& record) { record.harnesses_changed = {"claude"}; },
        [](TaskRecord& record) { record.pull_request = PullRequest{}, record.pull_request->state = PullState::closed; },
    };
    for (const auto& change : changes) {
        auto record = resting();
        change(record);
        INFO(state_text(record));
        CHECK_FALSE(rests(record));
        CHECK_FALSE(brief_of_resting(state_text(record)));
    }
}

TEST_CASE("whatever is in a state.json, its brief is the one of its record, or the whole record is read") {
    const auto base = to_json(resting());
    const auto full = to_json(orange::test::full_record());
    auto odd = base;
    odd["fields"]["summary"] = "a \"quoted\" word";
    odd["new"] = {{"deep", {1.5, {{"a\"b", nullptr}}}}};
    std::vector<Json> all = {base, odd, full};
    for (const auto& [key, value] : full.items()) {
        all.push_back(base);
        all.back()[key] = key == "fields" ? base.at("fields") : value;
        all.push_back(base);
        all.back().erase(key);
    }
    for (const auto& [key, value] : full.at("fields").items()) {
        all.push_back(base);
        all.back()["fields"][key] = value;
        all.push_back(base);
        all.back()["fields"].erase(key);
    }
    for (const auto& json : all) {
        for (const auto& text : {dump(json), json.dump(2)}) {
            INFO(text);
            const auto brief = brief_of_resting(text);
            if (!brief) continue;
            const auto record = record_from_json(json).value();
            CHECK(rests(record));
            check_same(*brief, brief_of(record));
        }
    }
    CHECK(brief_of_resting(base.dump(2)));
}

TEST_CASE("a state.json that is cut off anywhere, or goes on, has no brief") {
    auto record = resting();
    record.merge = local_merge();
    const auto text = dump(to_json(record));
    for (std::size_t length = 0; length < text.size(); ++length) CHECK_FALSE(brief_of_resting(text.substr(0, length)));
    CHECK_FALSE(brief_of_resting(text + "}"));
    CHECK_FALSE(brief_of_resting("[" + text + "]"));
    CHECK_FALSE(brief_of_resting(std::string(text.size(), '\0')));
}
