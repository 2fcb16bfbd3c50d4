# SPDX-License-Identifier: MIT
# The shared object that GDB loads, and the GDB script that loads it from the build directory.

READER_SOURCES := $(sort $(wildcard gdb-reader/*.c gdb-reader/transport/*.c gdb-reader/stops/*.c))
READER_OBJECTS := $(READER_SOURCES:%.c=$(BUILD)/obj/%.o)
READER         := $(BUILD)/ringside-reader.so $(BUILD)/ringside.gdb

# GDB's exceptions may pass through the reader's functions.
$(READER_OBJECTS): COMPILE += -fexceptions

# nodelete: the reader's state outlives GDB's jit-reader-unload.
$(BUILD)/ringside-reader.so: $(READER_OBJECTS) $(BUILD)/libextract.a gdb-reader/reader.map
	$(call say,LINK,$@)
	$(Q)$(LINK) -shared -Wl,-z,nodelete -Wl,--version-script=gdb-reader/reader.map \
	  $(if $(SANITIZE),,-Wl,-z,defs) $(READER_OBJECTS) $(BUILD)/libextract.a -o $@ $(LIBS) -ldl

$(BUILD)/ringside.gdb: gdb-reader/ringside.gdb.in $(BUILD)/flags
	$(call say,GEN,$@)
	$(Q)sed 's|@READER@|$(abspath $(BUILD))/ringside-reader.so|g' $< > $@
