# LITIFUT: `make help` lists what can be made. Each folder brings its own
# rules.mk, which adds to the variables PROGRAMS, UNIT_TESTS and so on; a new
# folder is a new line in FOLDERS.

BUILD   ?= build
# The same folder by another name would be another target, which the recorded dependencies on headers do not know. CURDIR
# may have blanks in it, of which abspath, like all of make, would make several names: so it is removed before and after.
below = $(subst $(CURDIR)/,,$(1))
override BUILD := $(call below,$(abspath $(call below,$(BUILD))))
$(if $(word 2,$(BUILD)),$(error BUILD: $(BUILD): make cannot use a name with a blank: choose another folder))
PREFIX  ?= /usr/local
DESTDIR ?=
# The kinds of CPU whose tracers are built.
CPUS    ?= $(ALL_CPUS)
ALL_CPUS := arm mips mipsel cortex-m avr
$(if $(filter-out $(ALL_CPUS),$(CPUS)),$(error CPUS: $(filter-out $(ALL_CPUS),$(CPUS)): not one of $(ALL_CPUS)))
CC      ?= cc
CFLAGS  ?= -O2 -g
WARNINGS = -Wall -Wextra -Wshadow $(if $(CI),-Werror)
override CFLAGS += -std=c11 -pthread -D_GNU_SOURCE -Iinclude -I. $(WARNINGS)

FOLDERS = common rewriter tracer ldwrap postproc postproc/energy tests tests/fuzz tests/device tests/energy examples bench docs

# $(call run,WHAT) begins a command, of which one line is shown: WHAT and the target. $(quiet)
# begins one of which nothing is. V=1 shows all as they are, make -s nothing.
silent = $(findstring s,$(firstword -$(MAKEFLAGS)))
quiet = $(if $(V),,@)
run = $(quiet)$(if $(V)$(silent),,printf '  %-5s %s\n' '$(1)' '$@' &&)

# $(call shell_word,TEXT): one word of a command, whatever letters it has.
shell_word = '$(subst ','\'',$(1))'

PROGRAMS   :=
TRACER     :=
UNIT_TESTS :=

.DEFAULT_GOAL := all

# What a chain of rules has made on the way to a file is kept; a target whose commands fail is not.
.SECONDARY:
.DELETE_ON_ERROR:

include $(wildcard $(addsuffix /rules.mk,$(FOLDERS)))

.PHONY: all help clean test test-long sanitize demo install uninstall dist format format-check lint

## all: build everything into build/ (programs in build/bin); V=1 shows the commands
all: $(PROGRAMS) $(TRACER)
	$(if $(silent),,@printf 'built in %s\n' '$(BUILD)/bin: $(notdir $(PROGRAMS))' \
		$(if $(TRACER),'$(patsubst %/,%,$(dir $(firstword $(TRACER)))): $(words $(TRACER)) objects of the tracer'))

## help: this list
help:
	@sed -n 's/^## \([a-z-]*\): /  \1\t/p' $(MAKEFILE_LIST) | sort | expand -t 18

## clean: remove build/
clean:
	rm -rf $(BUILD)

## format: run clang-format over all C files
format:
	clang-format -i $$(git ls-files '*.c' '*.h')

## format-check: fail when a C file is not formatted
format-check:
	@clang-format --dry-run --Werror $$(git ls-files '*.c' '*.h')

## lint: format, shell scripts, manual pages, names of tests, circles of includes
lint: format-check
	@scripts/lint

$(BUILD)/host/%.o: %.c
	@mkdir -p $(@D)
	$(call run,CC) $(CC) $(CFLAGS) -MMD -MP -c $< -o $@

# Lists of dependencies are made with their objects. Else make would look for a rule that makes the list itself, and
# find that of an object in two steps.
%.d: ;

-include $(shell find $(BUILD)/host -name '*.d' 2>/dev/null)

# Also under their lower-case names, which many packaging tools set.
prefix     ?= $(PREFIX)
bindir     ?= $(prefix)/bin
libdir     ?= $(prefix)/lib
includedir ?= $(prefix)/include
mandir     ?= $(prefix)/share/man
pkgconfigdir ?= $(libdir)/pkgconfig
cmakedir   ?= $(libdir)/cmake/litifut
bashdir    ?= $(prefix)/share/bash-completion/completions
zshdir     ?= $(prefix)/share/zsh/site-functions
fishdir    ?= $(prefix)/share/fish/vendor_completions.d

VERSION := $(shell sed -n 's/^.define LITIFUT_VERSION "\(.*\)"/\1/p' common/version.h)
COMPLETED = litifut litifut-post

# A shell takes ~ for the home folder only where it begins an unquoted word, and zsh leaves that of
# PREFIX=~/tools to make.
at_home = $(if $(filter ~/%,$(firstword $(1))),$(patsubst ~/%,$(HOME)/%,$(1)),$(1))
override DESTDIR := $(call at_home,$(DESTDIR))
override prefix := $(call at_home,$(prefix))

# $(call placed,PATH): where it is installed, as one word of a command.
placed = $(call shell_word,$(DESTDIR)$(1))
# $(call remove,FOLDER,NAMES)
remove = for name in $(2); do rm -f $(call placed,$(1))/"$$name" || exit 1; done

## install: copy everything below PREFIX (/usr/local), inside DESTDIR
install: all
	$(quiet)install -d $(call placed,$(bindir)) $(call placed,$(libdir)/litifut) \
		$(call placed,$(includedir)/litifut) $(call placed,$(mandir)/man1) \
		$(call placed,$(mandir)/man5)
	$(quiet)install -m 755 $(PROGRAMS) $(call placed,$(bindir))
	$(quiet)$(if $(TRACER),install -m 644 $(TRACER) $(call placed,$(libdir)/litifut))
	$(quiet)install -m 644 include/litifut/*.h $(call placed,$(includedir)/litifut)
	$(quiet)$(if $(wildcard docs/*.1),install -m 644 docs/*.1 $(call placed,$(mandir)/man1))
	$(quiet)$(if $(wildcard docs/*.5),install -m 644 docs/*.5 $(call placed,$(mandir)/man5))
	$(quiet)install -d $(call placed,$(pkgconfigdir)) $(call placed,$(bashdir)) \
		$(call placed,$(zshdir)) $(call placed,$(fishdir))
	$(quiet)sed -e $(call shell_word,s|@prefix@|$(prefix)|) \
		-e $(call shell_word,s|@includedir@|$(includedir)|) \
		-e $(call shell_word,s|@libdir@|$(libdir)|) \
		-e 's|@version@|$(VERSION)|' packaging/litifut.pc.in \
		>$(call placed,$(pkgconfigdir)/litifut.pc)
	$(quiet)install -d $(call placed,$(cmakedir))
	$(quiet)for file in litifut-config litifut-config-version; do \
		sed -e $(call shell_word,s|@bindir@|$(bindir)|) \
			-e $(call shell_word,s|@includedir@|$(includedir)|) -e 's|@version@|$(VERSION)|' \
			packaging/cmake/$$file.cmake.in >$(call placed,$(cmakedir))/$$file.cmake || exit 1; \
	done
	$(quiet)for program in $(COMPLETED); do \
		$(BUILD)/bin/$$program --completion bash >$(call placed,$(bashdir))/$$program && \
		$(BUILD)/bin/$$program --completion zsh >$(call placed,$(zshdir))/_$$program && \
		$(BUILD)/bin/$$program --completion fish >$(call placed,$(fishdir))/$$program.fish || exit 1; \
	done
	@echo LITIFUT is in $(call placed,$(prefix))'; its programs are in '$(call placed,$(bindir)), \
		which must be on PATH

## dist: the committed sources as build/litifut-VERSION.tar.xz, and build/litifut.wrap for Meson
dist:
	@mkdir -p $(BUILD)
	git archive --prefix=litifut-$(VERSION)/ \
		--add-virtual-file=litifut-$(VERSION)/commit:$(COMMIT) \
		--add-file=packaging/meson/meson.build HEAD | xz -T2 >$(BUILD)/litifut-$(VERSION).tar.xz
	hash=$$(sha256sum <$(BUILD)/litifut-$(VERSION).tar.xz) && sed -e 's|@version@|$(VERSION)|' \
		-e "s|@hash@|$${hash%% *}|" packaging/meson/litifut.wrap.in >$(BUILD)/litifut.wrap

## uninstall: remove what install copied, and folders that are empty then
uninstall:
	$(quiet)$(call remove,$(bindir),$(notdir $(PROGRAMS)))
	$(quiet)$(call remove,$(mandir)/man1,$(notdir $(wildcard docs/*.1)))
	$(quiet)$(call remove,$(mandir)/man5,$(notdir $(wildcard docs/*.5)))
	$(quiet)rm -rf $(call placed,$(libdir)/litifut) $(call placed,$(includedir)/litifut) $(call placed,$(cmakedir))
	$(quiet)rm -f $(call placed,$(pkgconfigdir)/litifut.pc)
	$(quiet)$(call remove,$(bashdir),$(COMPLETED))
	$(quiet)$(call remove,$(zshdir),$(addprefix _,$(COMPLETED)))
	$(quiet)$(call remove,$(fishdir),$(addsuffix .fish,$(COMPLETED)))
	$(quiet)for folder in $(call placed,$(bindir)) $(call placed,$(libdir)) $(call placed,$(includedir)) \
			$(call placed,$(mandir)/man1) $(call placed,$(mandir)/man5) \
			"$$(dirname $(call placed,$(cmakedir)))" $(call placed,$(pkgconfigdir)) \
			$(call placed,$(bashdir)) $(call placed,$(zshdir)) $(call placed,$(fishdir)); do \
		[ ! -d "$$folder" ] || rmdir -p --ignore-fail-on-non-empty "$$folder"; \
	done
	@echo LITIFUT was removed from $(call placed,$(prefix))
