#include "daemon/runner/explained.hpp"

#include "common/base/text.hpp"
#include "daemon/agents/identity.hpp"
#include "daemon/engine/explain.hpp"

namespace orange {

Error explained(Error error, const engine::Definition& definition, const engine::Situation& situation,
                const Caller& by) {
    if (error.code == ErrorCode::forbidden) error.message += "; you were taken for " + agents::describe(by);
    std::vector<std::string> edges;
    for (const auto& edge : engine::explain(definition, situation)) edges.push_back(engine::describe(edge));
    error.details["status"] = situation.task.status;
    error.details["edges"] = join(edges, "\n");
    return error;
}

}  // namespace orange
