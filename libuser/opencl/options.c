// SPDX-License-Identifier: MIT
/*
 * options.c - the options of clBuildProgram(), clCompileProgram() and clLinkProgram()
 *
 * Only what OpenCL lists passes (5.8.6, 5.8.7 of OpenCL 3.0), so that no option of an application
 * gets to the compiler as one of salvo-cc's own. Optimisation levels and -g are accepted as
 * other drivers do. Every program takes a global offset. No locks.
 */
#include "options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char spaces[] = " \t\r\n";

/* Of both steps. */
static const char *const common[] = {
	"-cl-denorms-are-zero", "-cl-no-signed-zeros", "-cl-unsafe-math-optimizations",
	"-cl-finite-math-only", "-cl-fast-relaxed-math", "-cl-no-subgroup-ifp", NULL,
};

static const char *const of_compiler[] = {
	"-cl-single-precision-constant", "-cl-fp32-correctly-rounded-divide-sqrt",
	"-cl-opt-disable", "-cl-strict-aliasing", "-cl-uniform-work-group-size",
	"-cl-mad-enable", "-cl-kernel-arg-info", "-w", "-Werror", "-g", "-O0", "-O1", "-O2", "-O3",
	"-cl-std=CL1.0", "-cl-std=CL1.1", "-cl-std=CL1.2", "-cl-std=CL2.0", "-cl-std=CL3.0", NULL,
};

static bool is_word(const char *word, size_t length, const char *const *list)
{
	for (; *list; list++)
		if (strlen(*list) == length && !memcmp(*list, word, length))
			return true;
	return false;
}

/*
 * The end of the word at @text, NULL if a quote has no end. Quotes of either kind keep white space
 * inside, but not those after a backslash.
 */
static char *end_of_word(char *text)
{
	char quote = 0;

	for (; *text && (quote || !strchr(spaces, *text)); text++)
		if (*text == '\\' && (text[1] == '"' || text[1] == '\''))
			text++;
		else if (quote ? *text == quote : *text == '"' || *text == '\'')
			quote = quote ? 0 : *text;
	return quote ? NULL : text;
}

static bool has_value(const char *word)
{
	return !strncmp(word, "-D", 2) || !strncmp(word, "-I", 2);
}

/*
 * One option of the compile step, at @word; @end moves on to its value. -D"" is one without a value
 * to the compiler, which would take the next option for it.
 */
static int read_compiler_option(struct salvo_cl_options *options, char *word, char **end)
{
	const size_t length = *end - word;

	if (has_value(word)) {
		if (length > 2)
			return 2 + strspn(word + 2, "\"'") < length ? 0 : -EINVAL;
		word = *end + strspn(*end, spaces);
		*end = end_of_word(word);
		return *end && *end > word ? 0 : -EINVAL;
	}
	if (!is_word(word, length, common) && !is_word(word, length, of_compiler))
		return -EINVAL;
	if (!strncmp(word, "-cl-std=CL2", 11) || !strncmp(word, "-cl-std=CL3", 11))
		options->uniform = false;
	return 0;
}

/* What salvo-cc does not know is blanked out. */
static int read_linker_option(struct salvo_cl_options *options, char *word, size_t length)
{
	static const char *const create[] = { "-create-library", NULL };
	static const char *const enable[] = { "-enable-link-options", NULL };
	const bool library = is_word(word, length, create);

	if (!library && !is_word(word, length, enable))
		return is_word(word, length, common) ? 0 : -EINVAL;
	options->library |= library;
	memset(word, ' ', length);
	return 0;
}

int salvo_cl_options_read(struct salvo_cl_options *options, const char *text,
			  enum salvo_cl_step step)
{
	static const char always[] = "--global-offset ";
	static const char *const same_size[] = { "-cl-uniform-work-group-size", NULL };
	bool forced = false;
	char *word, *end;
	int err = 0;

	if (!text)
		text = "";
	*options = (struct salvo_cl_options){ .uniform = true };
	options->words = malloc(sizeof(always) + strlen(text));
	if (!options->words)
		return -ENOMEM;
	strcpy(options->words, always);
	strcat(options->words, text);
	word = options->words + sizeof(always) - 1;
	while (!err && *(word += strspn(word, spaces))) {
		end = end_of_word(word);
		if (!end)
			err = -EINVAL;
		else if (step == SALVO_CL_LINK)
			err = read_linker_option(options, word, end - word);
		else {
			forced |= is_word(word, end - word, same_size);
			err = read_compiler_option(options, word, &end);
		}
		word = end;
	}
	options->uniform |= forced;
	if (err) {
		free(options->words);
		options->words = NULL;
	}
	return err;
}
