// SPDX-License-Identifier: MIT
// formats/threadx: the figures of FileX and NetX, as TraceX names them.
//
// Sources: TraceX user guide, chapter 4, FileX and NetX statistics; docs/formats/threadx.md for the
// fields. What an empty allocation request and an invalid release are is not documented: here, the
// pool has no packet left, and the packet is not marked as allocated.
#include "formats/threadx/threadx.h"

#define ALL   UINT32_MAX
#define FILEX "filex"
#define NETX  "netx"

enum { PACKET_ALLOCATED = 0xAAAAAAAA, ICMP_TYPE = 0xFF000000 };

// clang-format off
const struct extract_figure threadx_figures[] = {
    {FILEX, "media", "opens", .id = 261},
    {FILEX, "media", "closes", .id = 258},
    {FILEX, "media", "aborts", .id = 255},
    {FILEX, "media", "flushes", .id = 203},
    {FILEX, "directory", "reads", .id = 204},
    {FILEX, "directory", "writes", .id = 205},
    {FILEX, "directory", "cache misses", .id = 202},
    {FILEX, "file", "opens", .id = 247},
    {FILEX, "file", "closes", .id = 243},
    {FILEX, "file", "bytes read", .id = 248, .field = 4},
    {FILEX, "file", "bytes written", .id = 254, .field = 4},
    {FILEX, "sector", "reads", .id = 206},
    {FILEX, "sector", "writes", .id = 207},
    {FILEX, "sector", "cache misses", .id = 201},
    {NETX, "arp", "requests sent", .id = 301},
    {NETX, "arp", "responses sent", .id = 303},
    {NETX, "arp", "requests received", .id = 300},
    {NETX, "arp", "responses received", .id = 302},
    {NETX, "packet", "allocations", .id = 386},
    {NETX, "packet", "releases", .id = 394},
    {NETX, "packet", "empty allocation requests", .id = 386, .when = 4, .mask = ALL, .value = 0},
    {NETX, "packet", "invalid releases", .id = 394,
     .when = 2, .is_not = true, .mask = ALL, .value = PACKET_ALLOCATED},
    {NETX, "ping", "sent", .id = 362, .other_id = 471},
    {NETX, "ping", "responses", .id = 304, .when = 4, .mask = ICMP_TYPE, .value = 0}, // echo reply
    {NETX, "ip", "packets sent", .id = 309},
    {NETX, "ip", "bytes sent", .id = 309, .field = 4},
    {NETX, "ip", "packets received", .id = 308},
    {NETX, "ip", "bytes received", .id = 308, .field = 4},
    {NETX, "tcp", "client connections", .id = 401},
    {NETX, "tcp", "server connections", .id = 407},
    {NETX, "tcp", "packets sent", .id = 421},
    {NETX, "tcp", "bytes sent", .id = 421, .field = 3},
    {NETX, "tcp", "packets received", .id = 419},
    {NETX, "tcp", "bytes received", .id = 419, .field = 3},
    {NETX, "udp", "packets sent", .id = 436, .other_id = 475},
    {NETX, "udp", "bytes sent", .id = 436, .other_id = 475, .field = 3},
    {NETX, "udp", "packets received", .id = 434},
    {NETX, "udp", "bytes received", .id = 434, .field = 4},
    {.family = NULL},
};
// clang-format on
