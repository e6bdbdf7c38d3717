#pragma once

#include "client/output/cells.hpp"
#include "client/output/row.hpp"

/// The dashboard shows the lines and rows that the command line prints.
namespace orange::dashboard {

using namespace output;

}  // namespace orange::dashboard
