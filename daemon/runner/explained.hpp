#pragma once

#include "common/base/result.hpp"
#include "common/model/record.hpp"
#include "daemon/engine/decide.hpp"

namespace orange {

/// A refusal of the engine's, with who the caller was taken for and the ways that are open instead.
Error explained(Error error, const engine::Definition& definition, const engine::Situation& situation,
                const Caller& by);

}  // namespace orange
