#include "daemon/engine/offers.hpp"

#include <algorithm>

#include "daemon/engine/decide.hpp"
#include "daemon/engine/permissions.hpp"

namespace orange::engine {
namespace {

class Offers {
  public:
    Offers(const Definition& definition, const TaskRecord& record, const Offering& sight)
        : definition_(definition), record_(record), sight_(sight), state_(definition.state(record.task.status)) {}

    std::vector<std::string> all() {
        if (sight_.alive) add("attach", "send", "stop");
        if (sight_.asks_permit) add("allow", "deny");
        if (record_.unapproved || sight_.children_unapproved) add("approve");
        if (!sight_.alive && record_.held_start(Role::worker)) add("send");
        if (!sight_.alive && !record_.held.empty()) add("stop");
        if (state_ == nullptr) return finished();
        const bool still = !record_.intent && !sight_.under_way;
        if (still && !state_->terminal) open();
        if (still && state_->terminal) add("restore");
        return finished();
    }

  private:
    template <class... Names>
    void add(Names... names) {
        (all_.emplace_back(names), ...);
    }
    std::vector<std::string> finished() {
        if (sight_.is_compared) add("compare");
        if (!record_.notices.empty()) add("ack");
        add("delete");
        return std::move(all_);
    }
    std::vector<const Transition*> edges_to(Meaning meaning) const {
        const auto* target = definition_.that_means(meaning);
        return target == nullptr ? std::vector<const Transition*>{}
                                 : definition_.between(record_.task.status, target->name);
    }
    void open() {
        const bool begun = state_->meaning != Meaning::initial;
        if (!begun && !(record_.queued && record_.kept_back())) add("spawn");
        if (begun) agents();
        if (sight_.needs_answer && !sight_.shows_dialog && !sight_.asks_permit) add("reply");
        if (begun && rejection_target(definition_, record_.task) != nullptr) add("reject");
        if (begun && !sight_.children_unapproved && approval_target(definition_, record_.task)) add("approve");
        if (begun && record_.attempts.empty() && !sight_.merges_later) merges();
        for (const auto* name : {"merge", "force_merge", "create_pr"}) {
            if (std::ranges::find(sight_.of_picked, name) != sight_.of_picked.end()) add(name);
        }
        if (begun && sight_.can_be_picked) add("pick");
        if (begun && record_.task.workspace && !sight_.works) add("update_branch");
        if (begun && record_.task.workspace && sight_.has_dev) add("try");
        if (begun && has_other_step()) add("move");
        if (!edges_to(Meaning::cancelled).empty()) add("cancel");
    }
    void merges() {
        if (!edges_to(Meaning::done).empty()) {
            add(can_be_merged_from(definition_, record_.task.status) ? "merge" : "force_merge");
        }
        if (!record_.task.pr_url && !sight_.into_parent) add("create_pr");
    }
    /// True if the human may ask for a transition that no other name in the list covers.
    bool has_other_step() const {
        if (!record_.attempts.empty()) return false;
        const auto* back = rejection_target(definition_, record_.task);
        const auto* forth = approval_target(definition_, record_.task);
        return std::ranges::any_of(definition_.targets_from(record_.task.status), [&](const std::string& to) {
            const auto* target = definition_.state(to);
            if (target == nullptr || target == back || target == forth || target->terminal) return false;
            return std::ranges::any_of(definition_.between(record_.task.status, to), [&](const auto* edge) {
                return holds(edge->when, record_.task) && may_ask(*edge, Role::human);
            });
        });
    }
    void agents() {
        if (!respawn_need(definition_, record_.task)) return;
        if (!sight_.state_alive && record_.held.empty()) add("respawn");
        add("restart");
    }

    const Definition& definition_;
    const TaskRecord& record_;
    const Offering& sight_;
    const State* state_;
    std::vector<std::string> all_;
};

}  // namespace

std::vector<std::string> offers_of(const Definition& definition, const TaskRecord& record, const Offering& sight) {
    return Offers(definition, record, sight).all();
}

}  // namespace orange::engine
