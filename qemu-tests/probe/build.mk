# SPDX-License-Identifier: MIT
# ringside-probe: a debug probe for OpenOCD, whose target is QEMU or a set of memory images.

PROBE_SOURCES := $(sort $(wildcard qemu-tests/probe/*.c qemu-tests/probe/*/*.c))
PROBE_OBJECTS := $(PROBE_SOURCES:%.c=$(BUILD)/obj/%.o)
PROBE         := $(BUILD)/ringside-probe

$(PROBE_OBJECTS): COMPILE += -Iqemu-tests

$(PROBE): $(PROBE_OBJECTS) $(BUILD)/libextract.a
	$(call say,LINK,$@)
	$(Q)$(LINK) -pie $^ -o $@ $(LIBS)
