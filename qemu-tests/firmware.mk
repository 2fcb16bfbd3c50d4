# SPDX-License-Identifier: MIT
# Builds the QEMU images, build/firmware/IMAGE-PORT.elf. The top Makefile includes this file, which
# also works alone:
#   make -f qemu-tests/firmware.mk firmware
# All images of a port with the same configuration share their kernel objects.

FIRMWARE_PORTS := cortex-m3 cortex-m4f rv64 coldfire
FIRMWARE_hooks     := hooks hookstates hookstorm
RKH_CONFIGS        := rkh rkh16 rkhsmall
FIRMWARE_rkh       := $(RKH_CONFIGS) $(RKH_CONFIGS:rkh%=rkhevents%) $(RKH_CONFIGS:rkh%=rkhstorm%)
FIRMWARE_posix     := posix posixcalls posixstates posixstorm
FIRMWARE_cortex-m3 := demo storm small filtered disabled never services crash deaths recycled \
  demo64k $(FIRMWARE_hooks) $(FIRMWARE_rkh) $(FIRMWARE_posix) posixcost freertos
FIRMWARE_cortex-m4f := demo deaths
FIRMWARE_rv64      := demo storm small filtered disabled never services deaths $(FIRMWARE_hooks) \
  $(FIRMWARE_rkh) $(FIRMWARE_posix)
FIRMWARE_coldfire  := demo storm small filtered disabled never services deaths $(FIRMWARE_hooks) \
  $(FIRMWARE_rkh) $(FIRMWARE_posix)

TOOLS_cortex-m3 := arm-none-eabi-
TOOLS_cortex-m4f := arm-none-eabi-
TOOLS_rv64      := riscv64-unknown-elf-
TOOLS_coldfire  := m68k-linux-gnu-
CPU_cortex-m3   := -mcpu=cortex-m3 -mthumb
CPU_cortex-m4f  := -mcpu=cortex-m4 -mthumb -mfpu=fpv4-sp-d16 -mfloat-abi=hard
CPU_rv64        := -march=rv64imac_zicsr -mabi=lp64 -mcmodel=medany
CPU_coldfire    := -mcpu=5208 -malign-int

# The directory of a port under ports/, if its name is another one.
DIRECTORY_cortex-m4f := cortex-m3
firmware_directory = qemu-tests/ports/$(or $(DIRECTORY_$(1)),$(1))

# A configuration is a set of compiler flags and a recorder. The recorder is a directory of rtos/,
# which is trace by default. An image without a configuration here has the plain one.
CONFIG_storm := fast
CONFIG_small := small
$(foreach image,$(FIRMWARE_hooks),$(eval CONFIG_$(image) := hook))
$(foreach image,$(FIRMWARE_rkh),\
  $(eval CONFIG_$(image) := $(patsubst rkhevents%,rkh%,$(image:rkhstorm%=rkh%))))
CONFIG_freertos    := freertos
CONFIG_posix       := posix
CONFIG_posixcalls  := posixcalls
CONFIG_posixcost   := posix
CONFIG_posixstates := posixsmall
CONFIG_posixstorm  := posixsmall
FLAGS_plain  := -Og
FLAGS_fast   := -O2
FLAGS_small  := -Og -DBOUT_TRACE_CONFIG='"small_config.h"'
FLAGS_hook   := -O2 -DHOOK_STAMP_FUNCTION=hooks_stamp
FLAGS_rkh    := -O2
FLAGS_rkh16    := $(FLAGS_rkh) -DRKH_CONFIG='"../../images/rkh/sizes16.h"'
FLAGS_rkhsmall := $(FLAGS_rkh) -DRKH_CONFIG='"../../images/rkh/small.h"'
FLAGS_freertos   := -O2
FLAGS_posix      := -O2
FLAGS_posixsmall := -O2 -DRINGSIDE_TRACE_STREAMS=2 -DRINGSIDE_TRACE_WORDS=512
FLAGS_posixcalls := $(FLAGS_posixsmall) -DRINGSIDE_TRACE_USER_EVENTS=32
RECORDER_hook := hook
RECORDER_freertos   := freertos
RECORDER_posix      := posix
RECORDER_posixsmall := posix
RECORDER_posixcalls := posix
$(foreach config,$(RKH_CONFIGS),$(eval RECORDER_$(config) := rkh))
FIRMWARE_CONFIGS := plain fast small hook $(RKH_CONFIGS) posix posixsmall posixcalls freertos
LINK_demo64k := -Wl,--defsym=RAM_SIZE=128K
LINK_RKH     := -Wl,--undefined=rkh_version
$(foreach image,$(FIRMWARE_rkh),$(eval LINK_$(image) := $$(LINK_RKH)))

# The parts of an image, other than its own file and the kernel: product.c, or shared.c of the
# directory of the image. The configurations choose the sizes of RKH streams.
PARTS_product := demo filtered disabled never crash recycled demo64k
FOLDER_hook   := hooks
FOLDER_posix      := posix
FOLDER_posixsmall := posix
FOLDER_posixcalls := posix
$(foreach config,$(RKH_CONFIGS),$(eval FOLDER_$(config) := rkh))
$(foreach image,rkh rkhevents rkhstorm,\
  $(foreach size,16 small,$(eval SOURCE_$(image)$(size) := $(image))))

FIRMWARE_OUT   := build/firmware
# The compiler must not replace a loop by a call of the function that contains it (memory.c). It
# must not copy functions on which scripts set breakpoints.
FIRMWARE_FLAGS := -std=gnu11 -ffreestanding -fno-builtin -fno-tree-loop-distribute-patterns \
  -fno-ipa-cp -fno-common -ffunction-sections -fno-pie -g3 \
  -Wall -Wextra -Wconversion -Wshadow -Werror \
  -Iqemu-tests/rtos -Iqemu-tests/ports -Iqemu-tests/images
FIRMWARE_KERNEL := $(sort $(wildcard qemu-tests/rtos/*.c)) qemu-tests/images/image.c
firmware_recorder = $(or $(RECORDER_$(1)),trace)

# The top Makefile sets Q, which hides commands.
Q ?= @

.PHONY: firmware
firmware:

# $(call firmware_objects,PORT,CONFIGURATION,SOURCES)
firmware_objects = $(patsubst qemu-tests/%,$(FIRMWARE_OUT)/obj/$(1)/$(2)/%.o,$(3))
# $(call firmware_sources,PORT,IMAGE,CONFIGURATION)
firmware_sources = $(FIRMWARE_KERNEL) $(sort $(wildcard $(call firmware_directory,$(1))/*.[cS])) \
  $(sort $(wildcard qemu-tests/rtos/$(call firmware_recorder,$(3))/*.c)) \
  $(if $(filter $(2),$(PARTS_product)),qemu-tests/images/product.c) \
  $(if $(FOLDER_$(3)),qemu-tests/images/$(FOLDER_$(3))/shared.c) \
  qemu-tests/images/$(if $(FOLDER_$(3)),$(FOLDER_$(3))/)$(or $(SOURCE_$(2)),$(2)).c

# $(eval $(call firmware_compile,PORT,CONFIGURATION))
define firmware_compile
$(FIRMWARE_OUT)/obj/$(1)/$(2)/%.o: qemu-tests/% qemu-tests/firmware.mk
	@mkdir -p $$(@D)
	$$(call firmware_say,$$<)
	$$(Q)$(TOOLS_$(1))gcc $(CPU_$(1)) $(FIRMWARE_FLAGS) $(FLAGS_$(2)) \
	  -I$(call firmware_directory,$(1)) \
	  -DBOUT_TRACE_RECORDER='"$(call firmware_recorder,$(2))/hooks.h"' \
	  -MMD -MP -c $$< -o $$@
endef

# $(eval $(call firmware_link,PORT,IMAGE,CONFIGURATION))
define firmware_link
FIRMWARE += $(FIRMWARE_OUT)/$(2)-$(1).elf
$(FIRMWARE_OUT)/$(2)-$(1).elf: $(call firmware_directory,$(1))/link.ld \
  $(call firmware_objects,$(1),$(3),$(call firmware_sources,$(1),$(2),$(3)))
	$$(call firmware_say,$$@)
	$$(Q)$(TOOLS_$(1))gcc $(CPU_$(1)) -nostdlib -static -no-pie -Wl,--build-id=none \
	  -Wl,-z,noexecstack -Wl,--gc-sections $(LINK_$(2)) -T $$< $$(filter %.o,$$^) -o $$@
endef

firmware_say = $(if $(Q),@echo "  $(if $(filter %.elf,$(1)),LINK ,CC   ) $(1)")

FIRMWARE :=
$(foreach port,$(FIRMWARE_PORTS),\
  $(foreach config,$(FIRMWARE_CONFIGS),$(eval $(call firmware_compile,$(port),$(config))))\
  $(foreach image,$(FIRMWARE_$(port)),\
    $(eval $(call firmware_link,$(port),$(image),$(or $(CONFIG_$(image)),plain)))))

# Two harts, without the kernel of the other images.
FIRMWARE += $(FIRMWARE_OUT)/smp-rv64.elf
$(FIRMWARE_OUT)/smp-rv64.elf: qemu-tests/ports/rv64/link.ld \
  $(call firmware_objects,rv64,plain,$(wildcard qemu-tests/images/smp/*.[cS]))
	$(call firmware_say,$@)
	$(Q)$(TOOLS_rv64)gcc $(CPU_rv64) -nostdlib -static -no-pie -Wl,--build-id=none \
	  -Wl,-z,noexecstack -T $< $(filter %.o,$^) -o $@

# Threads parked in contexts of FreeRTOS on Armv7-A, of which one dies; without the kernel, too.
PARKED        := qemu-tests/images/parked
PARKED_ARMV7A := $(addprefix $(PARKED)/,parked.c deaths.c park-armv7a.S)
FIRMWARE += $(FIRMWARE_OUT)/deaths-armv7a.elf
$(FIRMWARE_OUT)/deaths-armv7a.elf: $(PARKED)/armv7a.ld $(PARKED_ARMV7A) $(wildcard $(PARKED)/*.h) \
  $(PARKED)/run-arm.S
	@mkdir -p $(@D)
	$(call firmware_say,$@)
	$(Q)arm-none-eabi-gcc -mcpu=cortex-a15 -marm -std=gnu11 -g -O1 -ffreestanding -fno-pie \
	  -DKERNEL='"freertos.h"' -DHAS_WORK -Wall -Wextra -Werror -nostdlib -static -no-pie \
	  -Wl,--build-id=none -Wl,-z,noexecstack -Wl,--no-warn-rwx-segments -T $< $(PARKED_ARMV7A) -o $@

firmware: $(FIRMWARE)

-include $(shell find $(FIRMWARE_OUT)/obj -name '*.d' 2>/dev/null)
