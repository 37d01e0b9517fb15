// SPDX-License-Identifier: MIT
/*
 * salvo_elf.c - read the untrusted ELF image of a program
 *
 * Headers are copied out of the image, which may have any alignment. salvo_elf_open() checks
 * everything that the other functions rely on: segments and sections inside the image,
 * terminated strings, relocations of the one known type inside the loaded span. Sums of
 * offsets are compared by subtraction, so that they cannot wrap.
 */
#include "salvo_elf.h"

#include <errno.h>
#include <string.h>

#define MAX_SPAN	(64u << 20)
#define MAX_SEGMENTS	64u
#define MAX_SECTIONS	4096u

/* Is [offset, offset + size) inside @limit bytes? */
static int fits(uint64_t offset, uint64_t size, uint64_t limit)
{
	return offset <= limit && size <= limit - offset;
}

static Elf64_Phdr segment(const struct salvo_elf *elf, unsigned int i)
{
	Elf64_Phdr ph;

	memcpy(&ph, elf->image + elf->header.e_phoff + i * sizeof(ph), sizeof(ph));
	return ph;
}

static Elf64_Shdr section(const struct salvo_elf *elf, unsigned int i)
{
	Elf64_Shdr sh;

	memcpy(&sh, elf->image + elf->header.e_shoff + i * sizeof(sh), sizeof(sh));
	return sh;
}

static int check_header(const struct salvo_elf *elf)
{
	const Elf64_Ehdr *h = &elf->header;

	if (memcmp(h->e_ident, ELFMAG, SELFMAG) || h->e_ident[EI_CLASS] != ELFCLASS64 ||
	    h->e_ident[EI_DATA] != ELFDATA2LSB || h->e_ident[EI_VERSION] != EV_CURRENT ||
	    h->e_type != ET_DYN || h->e_machine != EM_X86_64)
		return -ENOEXEC;
	if (h->e_phentsize != sizeof(Elf64_Phdr) || !h->e_phnum || h->e_phnum > MAX_SEGMENTS ||
	    !fits(h->e_phoff, h->e_phnum * sizeof(Elf64_Phdr), elf->bytes))
		return -ENOEXEC;
	if (h->e_shentsize != sizeof(Elf64_Shdr) || !h->e_shnum || h->e_shnum > MAX_SECTIONS ||
	    !fits(h->e_shoff, h->e_shnum * sizeof(Elf64_Shdr), elf->bytes))
		return -ENOEXEC;
	return 0;
}

static int check_segments(struct salvo_elf *elf)
{
	unsigned int i;

	elf->span = 0;
	for (i = 0; i < elf->header.e_phnum; i++) {
		Elf64_Phdr ph = segment(elf, i);

		if (ph.p_type == PT_INTERP)
			return -ENOEXEC;
		if (ph.p_type != PT_LOAD)
			continue;
		if (!fits(ph.p_offset, ph.p_filesz, elf->bytes) || ph.p_filesz > ph.p_memsz ||
		    !fits(ph.p_vaddr, ph.p_memsz, MAX_SPAN))
			return -ENOEXEC;
		if (ph.p_vaddr + ph.p_memsz > elf->span)
			elf->span = ph.p_vaddr + ph.p_memsz;
	}
	return elf->span ? 0 : -ENOEXEC;
}

/* A symbol table: whole entries, and a string table that ends in 0. */
static int check_symbols(const struct salvo_elf *elf, const Elf64_Shdr *sh)
{
	Elf64_Shdr strings;
	Elf64_Sym sym;
	uint64_t i;

	if (sh->sh_entsize != sizeof(sym) || sh->sh_size % sizeof(sym) || !sh->sh_link ||
	    sh->sh_link >= elf->header.e_shnum)
		return -ENOEXEC;
	strings = section(elf, sh->sh_link);
	if (strings.sh_type != SHT_STRTAB || !strings.sh_size ||
	    !fits(strings.sh_offset, strings.sh_size, elf->bytes) ||
	    elf->image[strings.sh_offset + strings.sh_size - 1])
		return -ENOEXEC;
	for (i = 1; i < sh->sh_size / sizeof(sym); i++) {
		memcpy(&sym, elf->image + sh->sh_offset + i * sizeof(sym), sizeof(sym));
		if (sym.st_name >= strings.sh_size)
			return -ENOEXEC;
		/* An import. */
		if (sh->sh_type == SHT_DYNSYM && sym.st_shndx == SHN_UNDEF)
			return -ENOEXEC;
	}
	return 0;
}

static int check_relocations(const struct salvo_elf *elf, const Elf64_Shdr *sh)
{
	Elf64_Rela rela;
	uint64_t i;

	if (sh->sh_entsize != sizeof(rela) || sh->sh_size % sizeof(rela))
		return -ENOEXEC;
	for (i = 0; i < sh->sh_size / sizeof(rela); i++) {
		memcpy(&rela, elf->image + sh->sh_offset + i * sizeof(rela), sizeof(rela));
		if (ELF64_R_TYPE(rela.r_info) != R_X86_64_RELATIVE ||
		    ELF64_R_SYM(rela.r_info) ||
		    !fits(rela.r_offset, sizeof(uint64_t), elf->span))
			return -ENOEXEC;
	}
	return 0;
}

static int check_sections(const struct salvo_elf *elf)
{
	unsigned int i, dynamic_symbols = 0;
	int err = 0;

	for (i = 0; i < elf->header.e_shnum && !err; i++) {
		Elf64_Shdr sh = section(elf, i);

		if (sh.sh_type == SHT_NULL || sh.sh_type == SHT_NOBITS)
			continue;
		if (!fits(sh.sh_offset, sh.sh_size, elf->bytes))
			return -ENOEXEC;
		switch (sh.sh_type) {
		case SHT_DYNSYM:
			dynamic_symbols++;
			err = check_symbols(elf, &sh);
			break;
		case SHT_SYMTAB:
			err = check_symbols(elf, &sh);
			break;
		case SHT_RELA:
			if (sh.sh_flags & SHF_ALLOC)
				err = check_relocations(elf, &sh);
			break;
		case SHT_REL:
		case SHT_RELR:
		case SHT_INIT_ARRAY:
		case SHT_FINI_ARRAY:
		case SHT_PREINIT_ARRAY:
			if ((sh.sh_flags & SHF_ALLOC) && sh.sh_size)
				err = -ENOEXEC;
			break;
		}
	}
	if (!err && dynamic_symbols != 1)
		err = -ENOEXEC;
	return err;
}

int salvo_elf_open(struct salvo_elf *elf, const void *image, size_t bytes)
{
	int err;

	elf->image = image;
	elf->bytes = bytes;
	if (!image || bytes < sizeof(elf->header))
		return -ENOEXEC;
	memcpy(&elf->header, image, sizeof(elf->header));
	err = check_header(elf);
	if (!err)
		err = check_segments(elf);
	if (!err)
		err = check_sections(elf);
	return err;
}

void salvo_elf_load(const struct salvo_elf *elf, void *dst, uint64_t address)
{
	Elf64_Rela rela;
	unsigned int i;
	uint64_t j, value;

	for (i = 0; i < elf->header.e_phnum; i++) {
		Elf64_Phdr ph = segment(elf, i);

		if (ph.p_type == PT_LOAD && ph.p_filesz)
			memcpy((uint8_t *)dst + ph.p_vaddr, elf->image + ph.p_offset, ph.p_filesz);
	}
	for (i = 0; i < elf->header.e_shnum; i++) {
		Elf64_Shdr sh = section(elf, i);

		if (sh.sh_type != SHT_RELA || !(sh.sh_flags & SHF_ALLOC))
			continue;
		for (j = 0; j < sh.sh_size / sizeof(rela); j++) {
			memcpy(&rela, elf->image + sh.sh_offset + j * sizeof(rela), sizeof(rela));
			value = address + rela.r_addend;
			memcpy((uint8_t *)dst + rela.r_offset, &value, sizeof(value));
		}
	}
}

/* Is there code at @offset? */
static int is_code(const struct salvo_elf *elf, uint64_t offset)
{
	unsigned int i;

	for (i = 0; i < elf->header.e_phnum; i++) {
		Elf64_Phdr ph = segment(elf, i);

		if (ph.p_type == PT_LOAD && (ph.p_flags & PF_X) && offset >= ph.p_vaddr &&
		    offset - ph.p_vaddr < ph.p_filesz)
			return 1;
	}
	return 0;
}

/* Offset of the exported symbol of @type; a function must be code. */
static int find_symbol(const struct salvo_elf *elf, const char *name, unsigned int type,
		       uint64_t *offset)
{
	unsigned int i;
	uint64_t j;

	for (i = 0; i < elf->header.e_shnum; i++) {
		Elf64_Shdr sh = section(elf, i), strings;
		Elf64_Sym sym;

		if (sh.sh_type != SHT_DYNSYM)
			continue;
		strings = section(elf, sh.sh_link);
		for (j = 1; j < sh.sh_size / sizeof(sym); j++) {
			memcpy(&sym, elf->image + sh.sh_offset + j * sizeof(sym), sizeof(sym));
			if (ELF64_ST_TYPE(sym.st_info) != type || sym.st_shndx == SHN_UNDEF ||
			    strcmp((const char *)elf->image + strings.sh_offset + sym.st_name,
				   name) || (type == STT_FUNC && !is_code(elf, sym.st_value)))
				continue;
			*offset = sym.st_value;
			return 0;
		}
	}
	return -ENOENT;
}

int salvo_elf_function(const struct salvo_elf *elf, const char *name, uint64_t *offset)
{
	return find_symbol(elf, name, STT_FUNC, offset);
}

int salvo_elf_object(const struct salvo_elf *elf, const char *name, uint64_t *offset)
{
	return find_symbol(elf, name, STT_OBJECT, offset);
}

int salvo_notes_visit(const uint8_t *notes, size_t bytes, uint64_t align, const char *owner,
		      uint32_t type,
		      int (*visit)(void *cookie, const uint8_t *desc, size_t bytes), void *cookie)
{
	uint64_t at = 0, desc;
	Elf64_Nhdr head;
	int err;

	while (bytes - at >= sizeof(head)) {
		memcpy(&head, notes + at, sizeof(head));
		at += sizeof(head);
		/* The two sizes have 32 bits: sums of 64 bits cannot wrap. */
		desc = (at + head.n_namesz + align - 1) & ~(align - 1);
		if (!fits(at, head.n_namesz, bytes) || !fits(desc, head.n_descsz, bytes))
			return -ENOEXEC;
		if (head.n_type == type && head.n_namesz == strlen(owner) + 1 &&
		    !memcmp(notes + at, owner, head.n_namesz)) {
			err = visit(cookie, notes + desc, head.n_descsz);
			if (err)
				return err;
		}
		at = (desc + head.n_descsz + align - 1) & ~(align - 1);
		if (at > bytes)
			at = bytes;
	}
	return 0;
}

int salvo_elf_notes(const struct salvo_elf *elf, const char *owner, uint32_t type,
		    int (*visit)(void *cookie, const uint8_t *desc, size_t bytes), void *cookie)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < elf->header.e_shnum && !err; i++) {
		Elf64_Shdr sh = section(elf, i);

		if (sh.sh_type == SHT_NOTE && (sh.sh_flags & SHF_ALLOC))
			err = salvo_notes_visit(elf->image + sh.sh_offset, sh.sh_size,
						sh.sh_addralign == 8 ? 8 : 4, owner, type, visit,
						cookie);
	}
	return err;
}

static void add_at(uint8_t *place, uint64_t value)
{
	uint64_t old;

	memcpy(&old, place, sizeof(old));
	old += value;
	memcpy(place, &old, sizeof(old));
}

/* Is symbol @index of symbol table section @table at an address of the program? */
static int is_in_program(const struct salvo_elf *elf, unsigned int table, uint64_t index)
{
	Elf64_Shdr sh;
	Elf64_Sym sym;

	if (!table || table >= elf->header.e_shnum)
		return 0;
	sh = section(elf, table);
	if (sh.sh_type != SHT_SYMTAB || index >= sh.sh_size / sizeof(sym))
		return 0;
	memcpy(&sym, elf->image + sh.sh_offset + index * sizeof(sym), sizeof(sym));
	return sym.st_shndx && sym.st_shndx < elf->header.e_shnum &&
	       (section(elf, sym.st_shndx).sh_flags & SHF_ALLOC);
}

/* Apply the relocations of a debug section (ld --emit-relocs). */
static void move_debug(const struct salvo_elf *elf, uint8_t *copy, uint64_t address,
		       const Elf64_Shdr *sh)
{
	Elf64_Shdr target;
	Elf64_Rela rela;
	uint64_t i;

	if (!sh->sh_info || sh->sh_info >= elf->header.e_shnum ||
	    sh->sh_entsize != sizeof(rela))
		return;
	target = section(elf, sh->sh_info);
	if (target.sh_type != SHT_PROGBITS || (target.sh_flags & (SHF_ALLOC | SHF_COMPRESSED)))
		return;
	for (i = 0; i < sh->sh_size / sizeof(rela); i++) {
		memcpy(&rela, elf->image + sh->sh_offset + i * sizeof(rela), sizeof(rela));
		if (ELF64_R_TYPE(rela.r_info) == R_X86_64_64 &&
		    fits(rela.r_offset, sizeof(uint64_t), target.sh_size) &&
		    is_in_program(elf, sh->sh_link, ELF64_R_SYM(rela.r_info)))
			add_at(copy + target.sh_offset + rela.r_offset, address);
	}
}

static void move_symbols(const struct salvo_elf *elf, uint8_t *copy, uint64_t address,
			 const Elf64_Shdr *sh)
{
	Elf64_Sym sym;
	uint64_t i, at;

	for (i = 1; i < sh->sh_size / sizeof(sym); i++) {
		at = sh->sh_offset + i * sizeof(sym);
		memcpy(&sym, elf->image + at, sizeof(sym));
		if (sym.st_shndx != SHN_UNDEF && sym.st_shndx < SHN_LORESERVE)
			add_at(copy + at + offsetof(Elf64_Sym, st_value), address);
	}
}

void salvo_elf_move(const struct salvo_elf *elf, uint8_t *copy, uint64_t address)
{
	unsigned int i;

	for (i = 0; i < elf->header.e_phnum; i++)
		add_at(copy + elf->header.e_phoff + i * sizeof(Elf64_Phdr) +
		       offsetof(Elf64_Phdr, p_vaddr), address);
	for (i = 0; i < elf->header.e_shnum; i++) {
		Elf64_Shdr sh = section(elf, i);

		if (sh.sh_flags & SHF_ALLOC)
			add_at(copy + elf->header.e_shoff + i * sizeof(sh) +
			       offsetof(Elf64_Shdr, sh_addr), address);
		if (sh.sh_type == SHT_RELA && !(sh.sh_flags & SHF_ALLOC))
			move_debug(elf, copy, address, &sh);
		if (sh.sh_type == SHT_SYMTAB || sh.sh_type == SHT_DYNSYM)
			move_symbols(elf, copy, address, &sh);
	}
}
