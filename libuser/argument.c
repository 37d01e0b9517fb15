// SPDX-License-Identifier: MIT
/*
 * argument.c - the arguments of kernels: their descriptions, and error messages about them
 *
 * Names and types are those of the source, from the note of the kernel; the loader has checked
 * that they are strings.
 */
#include "argument.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

_Static_assert(SALVO_ARGUMENT_VALUE == SALVO_ARG_VALUE &&
	       SALVO_ARGUMENT_GLOBAL == SALVO_ARG_GLOBAL &&
	       SALVO_ARGUMENT_CONSTANT == SALVO_ARG_CONSTANT &&
	       SALVO_ARGUMENT_LOCAL == SALVO_ARG_LOCAL &&
	       SALVO_ARGUMENT_IMAGE == SALVO_ARG_IMAGE &&
	       SALVO_ARGUMENT_SAMPLER == SALVO_ARG_SAMPLER &&
	       SALVO_ARGUMENT_READ == SALVO_REGION_READ &&
	       SALVO_ARGUMENT_WRITE == SALVO_REGION_WRITE, "kinds and access are those of notes");

static const char *string_of(const struct salvo_kernel_info *info, uint32_t offset)
{
	return offset ? info->text + offset : "";
}

void salvo_argument_describe(const struct salvo_kernel_info *info, unsigned int index,
			     char words[SALVO_ARGUMENT_WORDS])
{
	static const char *const kinds[] = {
		[SALVO_ARG_VALUE] = "a value",
		[SALVO_ARG_GLOBAL] = "a global pointer",
		[SALVO_ARG_CONSTANT] = "a constant pointer",
		[SALVO_ARG_LOCAL] = "a local pointer",
		[SALVO_ARG_IMAGE] = "an image",
		[SALVO_ARG_SAMPLER] = "a sampler",
	};
	const struct salvo_note_arg *arg = &info->args[index];
	const char *name, *type;

	if (index >= info->note.arg_count) {
		snprintf(words, SALVO_ARGUMENT_WORDS, "there is no argument %u, only %u", index,
			 info->note.arg_count);
		return;
	}
	name = string_of(info, arg->name);
	type = string_of(info, arg->type);
	if (arg->kind == SALVO_ARG_VALUE)
		snprintf(words, SALVO_ARGUMENT_WORDS, "argument %u '%.40s' is %.40s, %u bytes",
			 index, name, *type ? type : kinds[arg->kind], arg->size);
	else
		snprintf(words, SALVO_ARGUMENT_WORDS, "argument %u '%.40s' is %s%s%.40s%s", index,
			 name, kinds[arg->kind], *type ? " (" : "", type, *type ? ")" : "");
}

int salvo_kernel_fail(struct salvo_kernel *kernel, int err, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(kernel->error, sizeof(kernel->error), format, ap);
	va_end(ap);
	return err;
}

int salvo_kernel_fail_argument(struct salvo_kernel *kernel, unsigned int index,
			       const char *format, ...)
{
	char words[SALVO_ARGUMENT_WORDS], more[SALVO_KERNEL_ERROR_BYTES - SALVO_ARGUMENT_WORDS - 8];
	va_list ap;

	va_start(ap, format);
	vsnprintf(more, sizeof(more), format, ap);
	va_end(ap);
	salvo_argument_describe(kernel->info, index, words);
	if (index >= kernel->info->note.arg_count)
		return salvo_kernel_fail(kernel, -EINVAL, "%s", words);
	return salvo_kernel_fail(kernel, -EINVAL, "%s; %s", words, more);
}

const char *salvo_kernel_error(const struct salvo_kernel *kernel)
{
	return kernel->error;
}

void salvo_kernel_get_info(const struct salvo_kernel *kernel,
			   struct salvo_kernel_properties *properties)
{
	const struct salvo_note_kernel *note = &kernel->info->note;

	*properties = (struct salvo_kernel_properties){
		.name = kernel->name,
		.argument_count = note->arg_count,
		.local_bytes = note->local_bytes,
		.private_bytes = note->private_bytes,
		.flags = (note->flags & SALVO_KERNEL_OFFSET ? SALVO_KERNEL_TAKES_OFFSET : 0) |
			 (note->flags & (SALVO_KERNEL_BARRIERS | SALVO_KERNEL_SPLIT) ?
				  SALVO_KERNEL_HAS_BARRIERS : 0),
	};
	memcpy(properties->required_group, note->required_group, sizeof(note->required_group));
}

int salvo_kernel_get_argument(const struct salvo_kernel *kernel, unsigned int index,
			      struct salvo_argument_info *argument)
{
	const struct salvo_note_arg *arg = salvo_kernel_argument(kernel, index);

	if (!arg)
		return -ENOENT;
	*argument = (struct salvo_argument_info){
		.name = string_of(kernel->info, arg->name),
		.type = string_of(kernel->info, arg->type),
		.kind = arg->kind,
		.access = salvo_arg_is_pointer(arg) ? arg->access : 0,
		.size = arg->kind == SALVO_ARG_VALUE ? arg->size : 0,
		.qualifiers = arg->qualifiers,
	};
	return 0;
}

/* Where the next part goes, and the room that is left there. */
static int add_sizes(const char *name, const uint32_t sizes[3], char *text, size_t size, int length)
{
	if (!sizes[0])
		return length;
	return length + snprintf((size_t)length < size ? text + length : NULL,
				 (size_t)length < size ? size - length : 0, "%s%s(%u,%u,%u)",
				 length ? " " : "", name, sizes[0], sizes[1], sizes[2]);
}

int salvo_kernel_attributes(const struct salvo_kernel *kernel, char *text, size_t size)
{
	const struct salvo_note_kernel *note = &kernel->info->note;
	const char *hint = note->hinted_type ? string_of(kernel->info, note->hinted_type) : "";
	int length = 0;

	if (size)
		*text = 0;
	if (*hint)
		length = snprintf(text, size, "vec_type_hint(%s)", hint);
	length = add_sizes("work_group_size_hint", note->hinted_group, text, size, length);
	return add_sizes("reqd_work_group_size", note->required_group, text, size, length);
}
