#!/bin/sh
# SPDX-License-Identifier: MIT
# The viewer on a long trace: its figures. Reads BUILD.
exec node "$(dirname "$0")/../viewer/bench_viewer.mjs" "$@"
