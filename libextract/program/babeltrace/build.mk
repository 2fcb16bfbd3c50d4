# SPDX-License-Identifier: MIT
# The plug-in of babeltrace2. It is built if the headers of libbabeltrace2 are there; HAVE_BT=0
# builds without it.

ifndef HAVE_BT
HAVE_BT := $(shell pkg-config --exists babeltrace2 2>/dev/null && echo 1)
endif
export HAVE_BT

PLUGIN_SOURCES := $(sort $(wildcard libextract/program/babeltrace/*.c))
PLUGIN_OBJECTS := $(PLUGIN_SOURCES:%.c=$(BUILD)/obj/%.o)
PLUGIN         := $(if $(filter 1,$(HAVE_BT)),$(BUILD)/babeltrace-plugin-ringside.so)

# From 2.1 on, babeltrace2 has a second version of the protocol between its components.
$(PLUGIN_OBJECTS): COMPILE += $(shell pkg-config --cflags babeltrace2) \
  $(shell pkg-config --atleast-version=2.1 babeltrace2 2>/dev/null && echo -DSOURCE_HAS_MIP_1)

$(BUILD)/babeltrace-plugin-ringside.so: $(PLUGIN_OBJECTS) $(BUILD)/libextract.a \
                                      libextract/program/babeltrace/plugin.map
	$(call say,LINK,$@)
	$(Q)$(LINK) -shared -Wl,--version-script=libextract/program/babeltrace/plugin.map \
	  $(if $(SANITIZE),,-Wl,-z,defs) $(PLUGIN_OBJECTS) $(BUILD)/libextract.a -o $@ $(LIBS) \
	  $(shell pkg-config --libs babeltrace2)

# For a system-wide installation, the folder in which babeltrace2 itself looks for plug-ins.
# Otherwise, users set BABELTRACE_PLUGIN_PATH.
BT_PLUGINS ?= $(if $(filter /usr /usr/local,$(PREFIX)),$(shell pkg-config --variable=libdir \
                babeltrace2 2>/dev/null),$(PREFIX)/lib)/babeltrace2/plugins
INSTALLED_PLUGIN := $(if $(PLUGIN),$(DESTDIR)$(BT_PLUGINS)/$(notdir $(PLUGIN)))
