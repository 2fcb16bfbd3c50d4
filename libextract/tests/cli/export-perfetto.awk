# SPDX-License-Identifier: MIT
# Reads a trace of Perfetto as `protoc --decode` prints it. Writes a line of JSON per slice, state,
# instant, counter, task state and flow, with the names that the tracks and iids stand for.

function text(s) { sub(/^[^:]*: /, "", s); return s }
function put(line) { print line }

/^packet \{/ { split("", f); flows = ends = 0; notes = ""; next }
/^}/ {
    if (kind == "track") {
        track_name[f["uuid"]] = f["name"]; parent[f["uuid"]] = f["parent_uuid"]
    } else if (kind == "interned") {
        name_of[table, f["iid"]] = f["name"]
    } else if (kind == "event") {
        t = f["track_uuid"]; at = f["timestamp"]
        name = "name_iid" in f ? name_of["event_names", f["name_iid"]] : \
            "name" in f ? f["name"] : "null"
        head = "\"at\":" at ",\"name\":" name ",\"track\":" track_name[t] ",\"group\":" \
            (parent[t] in track_name ? track_name[parent[t]] : "null")
        if (f["type"] == "TYPE_SLICE_BEGIN") {
            open[t]++; begin[t] = at; begun[t] = name
        } else if (f["type"] == "TYPE_SLICE_END") {
            if (open[t]-- != 1) put("{\"type\":\"unbalanced\"}")
            put("{\"type\":\"slice\",\"from\":" begin[t] ",\"to\":" at ",\"name\":" begun[t] \
                ",\"track\":" track_name[t] ",\"group\":" track_name[parent[t]] "}")
        } else if (f["type"] == "TYPE_COUNTER") {
            put("{\"type\":\"counter\"," head ",\"value\":" \
                ("counter_value" in f ? f["counter_value"] : f["double_counter_value"]) "}")
        } else {
            put("{\"type\":\"" (f["type"] == "TYPE_STATE" ? "state" : "instant") "\"," head \
                ",\"fields\":{" notes "}}")
        }
        for (i = 0; i < flows; i++) put("{\"type\":\"flow\",\"at\":" at ",\"id\":" flow[i] "}")
        for (i = 0; i < ends; i++) put("{\"type\":\"end\",\"at\":" at ",\"id\":" end_of[i] "}")
    } else if (kind == "task") {
        put("{\"type\":\"task\",\"at\":" f["timestamp"] ",\"comm\":" f["comm"] ",\"tid\":" \
            f["tid"] ",\"state\":" f["state"] + 0 ",\"cpu\":" f["cpu"] + 0 "}")
    }
    kind = ""
    next
}
/^  track_event \{/ { kind = "event"; next }
/^  track_descriptor \{/ { kind = "track"; next }
/^  interned_data \{/ { kind = "interned"; next }
/^  generic_kernel_task_state_event \{/ { kind = "task"; next }
/^  generic_kernel_process_tree \{/ { kind = "tree"; next }
/^    (event_categories|event_names|debug_annotation_names) \{/ { table = $1; next }
/^    debug_annotations \{/ { in_note = 1; next }
/^    }/ {
    if (in_note) notes = notes (notes == "" ? "" : ",") label ":" value
    in_note = 0
    next
}
in_note && /name_iid:/ { label = name_of["debug_annotation_names", $2]; next }
in_note { value = text($0); next }
/^ *flow_ids:/ { flow[flows++] = $2; next }
/^ *terminating_flow_ids:/ { end_of[ends++] = $2; next }
/^ *[a-z_]+: / { key = $1; sub(/:/, "", key); f[key] = text($0) }
END { for (t in open) if (open[t]) put("{\"type\":\"unbalanced\"}") }
