# SPDX-License-Identifier: MIT
# Functions for schedule.sh: they bring the true schedules of the simulator (simNN.json) and the
# output of `ringside schedule --json` into the same form, and compare them.

# The number of a hexadecimal address, "0x2000".
def hex:
    reduce (ltrimstr("0x") | explode[]) as $c (0; 16 * . + $c - (if $c >= 97 then 87 else 48 end));

# Leaves out parts [from, to, what...] without a length, and joins equal neighbors.
def joined:
    reduce .[] as $s ([];
        if $s[1] <= $s[0] then .
        elif length > 0 and .[-1][1] == $s[0] and .[-1][2:] == $s[2:] then .[-1][1] = $s[1]
        else . + [$s] end);

# The parts of a true list until `end`.
def until_time($limit): map(select(.[0] < $limit) | .[1] = ([.[1], $limit] | min));

def of_type($type): map(select(.type == $type));
def end_time: map(.to // 0) | max;

def zero_is_null: if . == 0 then null else . end;

def intervals: of_type("interval") | map([.from, .to, .kind, .isr, .thread]) | joined;
def true_intervals($limit): .cpu | until_time($limit) | map(.[4] |= zero_is_null) | joined;

def states: of_type("state") | group_by(.thread) |
    map({key: "\(.[0].thread)", value: (map([.from, .to, .state, .object]) | joined)}) |
    from_entries;
# 4 is ThreadX's state of a thread that sleeps. A sleep has no object.
def true_states($limit): .states | with_entries(.key |= "\(hex)" | .value |=
    (until_time($limit) |
     map(if .[3] == 4 then [.[0], .[1], "sleeping", null] else [.[0], .[1], .[2], .[4]] end) |
     joined));

def wakes: of_type("wake") | map([.at, .event, .thread, .reason, .cause, .by, .isr]);
def true_wakes: .wakes |
    map([.t, .ev, .thread, .cause, .cause_ev, (.by | zero_is_null), .isr]);

def owners: of_type("owner") | group_by(.mutex) |
    map({key: "\(.[0].mutex)", value: map([.from, .thread])}) | from_entries;
def true_owners: .mutex_owners | with_entries(.key |= "\(hex)" | .value |= map(.[1] |= zero_is_null));

# Treats "running" and "ready" as one state.
def without_cores: with_entries(.value |=
    (map(if .[2] == "running" then .[2] = "ready" else . end) | joined));

# The longest time for which one part of a list stands where another list has one other part.
def longest_mistake($b):
    . as $a | ([$a[], $b[] | .[0], .[1]] | unique) as $times |
    reduce range($times | length - 1) as $n ({i: 0, k: 0, longest: 0};
        $times[$n] as $at |
        until($a[.i] == null or $a[.i][1] > $at; .i += 1) |
        until($b[.k] == null or $b[.k][1] > $at; .k += 1) |
        if $a[.i][2:] == $b[.k][2:] then .
        else .longest = ([.longest, $times[$n + 1] - $at] | max) end) |
    .longest;

# Chains of why, as [from, to, kind, who].
def chain: map([.from, .to, .kind, .who]);
def true_chain: map([.t0, .t1, .kind, .who]);
