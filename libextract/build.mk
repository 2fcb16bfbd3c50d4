# SPDX-License-Identifier: MIT
# libextract and the program `ringside`. Their sources are all C files of the rooms.

LIB_ROOMS   := base reading/memory reading/memory/live reading/symbols reading/registers \
               reading/formats reading/formats/threadx reading/formats/hook reading/formats/rkh \
               reading/formats/rkh/target reading/formats/posix reading/kernel showing/serve \
               reading/snapshot meaning/events meaning/merge meaning/schedule meaning/crash \
               meaning/control showing/report showing/report/columns showing/report/chart \
               showing/report/rkh meaning/analysis meaning/analysis/rkh showing/export \
               reading/log reading/follow meaning/templates meaning/templates/run \
               meaning/templates/compiler meaning/templates/update program/session program/feed \
               recorder/target recorder/posix recorder/posix/log
LIB_SOURCES := $(sort $(wildcard $(LIB_ROOMS:%=libextract/%/*.c)))
CLI_SOURCES := $(sort $(wildcard libextract/program/cli/*.c libextract/program/cli/commands/*.c \
                 libextract/program/cli/top/*.c libextract/program/cli/templates/*.c))
LIB_OBJECTS := $(LIB_SOURCES:%.c=$(BUILD)/obj/%.o)
CLI_OBJECTS := $(CLI_SOURCES:%.c=$(BUILD)/obj/%.o)
HEADERS     := $(sort $(wildcard libextract/include/extract/*.h \
                 libextract/include/extract/posix/*.h libextract/include/trace.h))
EVENT_TABLES := $(sort $(wildcard libextract/reading/formats/*.tsv))
TEMPLATES   := $(sort $(wildcard libextract/meaning/templates/*.fmt)) $(BUILD)/gen/threadx.fmt
GENERATED   := $(patsubst libextract/reading/formats/%.tsv,$(BUILD)/gen/%.inc,\
                 $(subst -,_,$(EVENT_TABLES))) \
               $(patsubst %.fmt,$(BUILD)/gen/%_fmt.inc,$(notdir $(TEMPLATES))) \
               $(BUILD)/gen/aix_roles.inc $(BUILD)/gen/viewer.inc

SONAME    := libextract.so.$(SOVERSION)
SOFILE    := libextract.so.$(VERSION)
LIBRARIES := $(BUILD)/libextract.a $(BUILD)/libextract.so
PROGRAM   := $(BUILD)/ringside
MAN_PAGES := $(sort $(wildcard docs/man/*.scd docs/man/posix/*.scd))
MANUALS   := $(if $(shell command -v scdoc),$(patsubst %.scd,$(BUILD)/man/%,$(notdir $(MAN_PAGES))))

# The tables of events and objects, compiled in as C initializers.
define event_table
$(BUILD)/gen/$(subst -,_,$(1:libextract/reading/formats/%.tsv=%)).inc: $(1) \
    libextract/reading/formats/event_table.awk
	$$(call say,GEN,$$@)
	@mkdir -p $$(@D)
	$$(Q)awk -f libextract/reading/formats/event_table.awk $$< > $$@
endef
$(foreach tsv,$(EVENT_TABLES),$(eval $(call event_table,$(tsv))))

# The templates of ThreadX's events, which their table implies.
$(BUILD)/gen/threadx.fmt: libextract/reading/formats/threadx-events.tsv \
    libextract/meaning/templates/threadx_fmt.awk libextract/meaning/templates/threadx.head
	$(call say,GEN,$@)
	@mkdir -p $(@D)
	$(Q)awk -v head=libextract/meaning/templates/threadx.head \
	  -f libextract/meaning/templates/threadx_fmt.awk $< > $@

# The built-in templates and the built-in role file, each compiled in as a C string.
define c_string
	$(call say,GEN,$@)
	@mkdir -p $(@D)
	$(Q)sed 's/[\\"]/\\&/g; s/.*/"&\\n"/' $< > $@
endef
$(BUILD)/gen/%_fmt.inc: libextract/meaning/templates/%.fmt
	$(c_string)
$(BUILD)/gen/%_fmt.inc: $(BUILD)/gen/%.fmt
	$(c_string)
$(BUILD)/gen/%_roles.inc: libextract/reading/formats/hook/%.roles
	$(c_string)

# The page of `export --to html`, as numbers: a compiler need not take strings of that length.
$(BUILD)/gen/viewer.inc: libextract/showing/export/html/viewer.html
	$(call say,GEN,$@)
	@mkdir -p $(@D)
	$(Q)od -An -v -td1 $< | sed 's/-*[0-9][0-9]*/&,/g' > $@

# If a source is removed, its object must be removed from the archive, too.
$(BUILD)/objects: FORCE
	$(call stamp,$(LIB_OBJECTS))

$(BUILD)/libextract.a: $(LIB_OBJECTS) $(BUILD)/objects
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar rcsD $@ $(LIB_OBJECTS)

$(BUILD)/$(SOFILE): $(LIB_OBJECTS) $(BUILD)/objects libextract/libextract.map
	$(call say,LINK,$@)
	$(Q)$(LINK) -shared -Wl,-soname,$(SONAME) -Wl,--version-script=libextract/libextract.map \
	  $(if $(SANITIZE),,-Wl,-z,defs) $(LIB_OBJECTS) -o $@ $(LIBS)

$(BUILD)/libextract.so: $(BUILD)/$(SOFILE)
	$(Q)ln -sf $(SOFILE) $(BUILD)/$(SONAME) && ln -sf $(SONAME) $@

$(BUILD)/ringside: $(CLI_OBJECTS) $(BUILD)/libextract.a
	$(call say,LINK,$@)
	$(Q)$(LINK) -pie $(CLI_OBJECTS) $(BUILD)/libextract.a -o $@ $(LIBS)

define manual
$(BUILD)/man/$(notdir $(1:.scd=)): $(1)
	$$(call say,MAN,$$@)
	@mkdir -p $$(@D)
	$$(Q)scdoc < $$< > $$@
endef
$(foreach page,$(MAN_PAGES),$(eval $(call manual,$(page))))
