SUMMARY = "Records every function call of chosen recipes, without compiling them in another way"
DESCRIPTION = "The linker wrapper with the tracer of the target's CPU, and the programs that show the traces"
HOMEPAGE = "file://${LITIFUT_SOURCE}/README.md"
SECTION = "devel"
LICENSE = "MIT"
LIC_FILES_CHKSUM = "file://LICENSE;md5=41a62b363a31d323f4cb40bc5f6d1148"

PN = "litifut-cross-${TARGET_ARCH}"
PV = "0.1"

inherit cross externalsrc

# The tracer is compiled by the compiler of the target.
DEPENDS = "virtual/${TARGET_PREFIX}gcc virtual/${TARGET_PREFIX}binutils"

EXTERNALSRC = "${LITIFUT_SOURCE}"
EXTERNALSRC_BUILD = "${WORKDIR}/build"
# nothing is left in the sources
EXTERNALSRC_SYMLINKS = ""

python () {
    if d.getVar('TARGET_ARCH') not in ('arm', 'mips', 'mipsel'):
        raise bb.parse.SkipRecipe('LITIFUT is for 32-bit ARM and MIPS (o32)')
    # what is compiled, and not build/ beside it
    d.setVarFlag('do_compile', 'file-checksums', ' '.join('%s/%s:True' % (d.getVar('EXTERNALSRC'), name) for name in
        'Makefile common cpu dwarf elf include ldwrap paths platform postproc rewriter tracer'.split()))
}

# Libraries are those of the build machine: libelf, libdw, capstone, libiberty, libarchive, sqlite3, ncurses and
# zlib. BitBake exports flags, and folders with the name of the target in them; neither is for this makefile.
LITIFUT_MAKE = "env -u CFLAGS -u CPPFLAGS -u LDFLAGS -u prefix -u bindir -u libdir -u includedir -u mandir \
    make -C ${S} ${PARALLEL_MAKE} CC='${BUILD_CC}' BUILD='${B}' PREFIX='${prefix}' CPUS='${TARGET_ARCH}' \
    TRACER_TOOL_${TARGET_ARCH}='${TARGET_PREFIX}' TRACER_TOOL_armv7='${TARGET_PREFIX}'"

do_configure() {
    for header in archive.h capstone/capstone.h elfutils/libdw.h gelf.h \
        libiberty/libiberty.h ncurses.h sqlite3.h zlib.h; do
        echo "#include <$header>" | ${BUILD_CC} -include stdio.h -fsyntax-only -xc - ||
            bbfatal "the build machine has no $header"
    done
}

do_compile() {
    ${LITIFUT_MAKE}
}

# The folder has the names of linkers that gcc looks for, as `litifut build` makes one.
do_install() {
    ${LITIFUT_MAKE} install DESTDIR=${D}
    install -d ${D}${prefix}/lib/litifut/links
    for name in ld ld.bfd ld.gold ld.lld ld.mold real-ld; do
        ln -sf ../../../bin/litifut-ld ${D}${prefix}/lib/litifut/links/$name
    done
}

SYSROOT_DIRS_NATIVE += "${prefix}/bin ${prefix}/lib/litifut"
# The tracer's objects go into programs as they are.
INHIBIT_SYSROOT_STRIP = "1"
