#include "daemon/pool/keeping.hpp"

#include "common/base/text.hpp"
#include "common/model/settings.hpp"

namespace orange {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds k_unnoticed = 2s, k_between = 10s;
constexpr std::int64_t k_megabyte = 1 << 20;

}  // namespace

struct Keepings::State {
    explicit State(const async::Executor& executor) : ended(executor) {}

    Keeping keeping;
    bool is_told = false;
    bool is_over = false;
    async::Wakeup ended;
};

std::int64_t Keeping::seconds() const {
    return std::chrono::duration_cast<std::chrono::seconds>(async::now() - since).count();
}

std::string Keeping::text() const {
    std::string what = "files of " + workspace;
    if (untracked.bytes >= k_megabyte) {
        what = size_text(untracked.bytes) + " of untracked " + what;
    } else if (untracked.files > 0) {
        what = counted(static_cast<std::size_t>(untracked.files), "untracked file") + " of " + workspace;
    }
    return "keeps " + what + ", " + std::to_string(seconds()) + " s so far";
}

Keepings::Keepings(Git& git, const async::Executor& executor, Tell tell)
    : git_(git), executor_(executor), tell_(std::move(tell)) {}

Keepings::Guard::~Guard() {
    state_->is_over = true;
    state_->ended.notify();
    all_.states_.erase(state_->keeping.workspace);
}

std::unique_ptr<Keepings::Guard> Keepings::begin(std::string workspace, git::Pinned worktree) {
    auto state = std::make_shared<State>(executor_);
    state->keeping.workspace = workspace;
    state->keeping.since = async::now();
    states_[workspace] = state;
    async::spawn(executor_, "keeping files of " + workspace, watch(git_, std::move(worktree), state, tell_));
    return std::make_unique<Guard>(*this, std::move(state));
}

Awaitable<void> Keepings::watch(Git& git, git::Pinned worktree, std::shared_ptr<State> state, Tell tell) {
    (void)co_await state->ended.wait(k_unnoticed);
    if (state->is_over) co_return;
    const auto amount = co_await git::untracked_amount(git, std::move(worktree));
    if (amount) state->keeping.untracked = *amount;
    state->is_told = true;
    while (!state->is_over) {
        tell(state->keeping);
        (void)co_await state->ended.wait(k_between);
    }
}

const Keeping* Keepings::of(const std::string& workspace) const {
    const auto found = states_.find(workspace);
    return found == states_.end() || !found->second->is_told ? nullptr : &found->second->keeping;
}

}  // namespace orange
