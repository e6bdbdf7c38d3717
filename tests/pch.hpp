#pragma once

// Compiled once for all tests: as common/pch.hpp, and Catch2.
#include "common/pch.hpp"
#include "tests/catch.hpp"
