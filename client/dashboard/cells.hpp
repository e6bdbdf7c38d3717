#pragma once

#include "client/output/cells.hpp"
#include "client/output/row.hpp"

/// The dashboard shows the same lines and rows that the command line prints, so it uses the names of output.
namespace orange::dashboard {

using namespace output;

}  // namespace orange::dashboard
