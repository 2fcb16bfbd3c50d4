// SPDX-License-Identifier: MIT
// serve: the proxy (extract/serve.h), over any connection.
#ifndef EXTRACT_SERVE_PROXY_H
#define EXTRACT_SERVE_PROXY_H

#include "serve/upstream.h"
#include <extract/serve.h>

// As extract_proxy_open, over a connection that `dial` makes. Only tests pass their own `dial`.
enum extract_code proxy_open(struct extract_proxy **proxy, const char *place,
                             struct extract_symbols *symbols, upstream_dial *dial, void *context,
                             unsigned timeout_ms, const volatile sig_atomic_t *cancel,
                             struct extract_error *error);

#endif
