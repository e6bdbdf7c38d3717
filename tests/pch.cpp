// Compiles tests/pch.hpp; there is nothing in it.
