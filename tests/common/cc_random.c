// SPDX-License-Identifier: MIT
/*
 * cc_random.c - random kernels, generated from a seed and tables of forms
 *
 * Arithmetic, branches, loops, lists, neighbours in memory, switches, private arrays, vectors,
 * conversions, atomic operations, and in every other kernel local memory with barriers, also inside
 * of loops and branches that are uniform over the work-group, for the compiler or in truth alone.
 * Kernels have no undefined behaviour and do not depend on the order of work-items. A seed gives
 * the same kernel on every machine, so a form may only be added for kernels of a new kind.
 */
#include "cc_random.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

struct text {
	char *at, *end;
	uint32_t state;
	unsigned int depth, loops, conditions;
	char variable;			/* of the statement */
	bool barriers, second, third, fourth, fifth, sixth, wide;
};

static void say(struct text *t, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(t->at, t->end - t->at, format, args);
	va_end(args);
	if (n < t->end - t->at)
		t->at += n;
}

static uint32_t number(struct text *t, uint32_t below)
{
	t->state = t->state * 1664525 + 1013904223;
	return (uint64_t)(t->state >> 8) * below >> 24;
}

static void expression(struct text *t, unsigned int depth);
static void condition(struct text *t);

/*
 * Writes @form with these parts filled in, in their order:
 *	@	an expression one less deep than @depth; @2 one of depth 2
 *	!	a condition
 *	#99	a number below 99
 *	$	one of the variables; ~ that of the statement
 *	`a;b`	a or b
 */
static void fill(struct text *t, const char *form, unsigned int depth)
{
	const char *at, *end;
	unsigned int count, i;

	for (at = form; *at; at++) {
		switch (*at) {
		case '@':
			if (at[1] >= '0' && at[1] <= '9')
				expression(t, *++at - '0');
			else
				expression(t, depth - 1);
			break;
		case '!':
			condition(t);
			break;
		case '#':
			say(t, "%u", number(t, strtoul(at + 1, (char **)&end, 10)));
			at = end - 1;
			break;
		case '$':
			say(t, "%c", 'a' + number(t, 4));
			break;
		case '~':
			say(t, "%c", t->variable);
			break;
		case '`':
			end = strchr(at + 1, '`');
			for (count = 1, i = 0; at + i < end; i++)
				count += at[i] == ';';
			for (count = number(t, count), at++; count; count--)
				at = strchr(at, ';') + 1;
			for (; *at != ';' && at < end; at++)
				say(t, "%c", *at);
			at = end;
			break;
		default:
			say(t, "%c", *at);
		}
	}
}

/* Picks one of @forms: one of the first @few, or for kernels of the second kind any. */
static void choose(struct text *t, const char *const *forms, unsigned int few, unsigned int all,
		   unsigned int depth)
{
	const char *form = forms[number(t, t->second ? all : few)];

	/* Long vectors prevent vectorisation over work-items, so not every kernel has them. */
	fill(t, !t->wide && strstr(form, "wide") ? forms[0] : form, depth);
}

#define BINARY	"(@ `+;-;*;&;|;^` @)"

static const char *const expressions[] = {
	"(@ / (1u + (@ & 1023u)))",
	"(@` >> (; << (`@ & 15u))",
	"(@` == ; < `@ ? @ : @)",
	"in[(@) % TOTAL]",
	"in[row + clamp((int)x + #9 - 4, 0, (int)w - 1)]",
	"p[(@) & 3u]",
	"`max;min`(@, @)",
	"q.`x;y;z;w`",
	"(uint)convert_uchar_sat((int)(@))",
	"as_uint((float)((@) & 0xffffu) * 0.375f + 1.5f)",
	BINARY, BINARY, BINARY, BINARY, BINARY, BINARY,
	/* Of the second kind */
	"(uint)convert_`short;char;ushort`_sat((int)(@))",
	"(uint)(`short;uchar;char;ushort`)(@)",
	"(uint)((ulong)(@) * (@) >> #40)",
	"`rotate;mul_hi;add_sat;sub_sat;hadd`(@, @)",
	"`popcount;clz;~`(@)",
	"`select;bitselect;mad_sat`(@, @, @)",
	"(uint)((int)(@) `/;%` (int)(1u + (@ & 7u)))",
	"abs_diff((int)(@), (int)(@))",
	"as_uint(f.`x;y;z;w`)",
	"convert_uint_sat`;_rte;_rtp;_rtn`(f.`x;y;z;w`)",
	"as_uint(convert_float`_rtz;_rte;_rtp`(@))",
	"(uint)v.`x;y;z;w`",
	"(uint)h.`x;y;z`",
	"(uint)(g.`x;y` >> #33)",
	"other[(@) % 400u]",
	"(uint)wide.s`0;3;7;a;f`",
	"(uint)(! && !)", "(uint)(! || !)",
};

static void expression(struct text *t, unsigned int depth)
{
	static const char *const leaves[] = {
		"#64u", "#16777216u", "x", "n", "l", "$", "$", "$",
	};

	if (!depth || !number(t, 5))
		choose(t, leaves, 8, 8, depth);
	else
		choose(t, expressions, 16, ARRAY_SIZE(expressions), depth);
}

static void condition(struct text *t)
{
	static const char *const conditions[] = {
		"x < #90u", "(int)x - #20 >= (int)(n & 31u)", "n > #100u",
		"@2` != ; < `@2", "@2` != ; < `@2", "@2` != ; < `@2",
		"group == #3u", "x == #83u", "(int)(x - #40u) < #40", "any(h > (ushort3)(#99))",
		"any(v == (uchar4)(#255))",
	};

	/* Conditions may nest: this ends the recursion. */
	if (t->conditions > 2) {
		say(t, "x != 7u");
		return;
	}
	t->conditions++;
	choose(t, conditions, 6, ARRAY_SIZE(conditions), 2);
	t->conditions--;
}

static void statements(struct text *t, unsigned int count);

static void block(struct text *t, unsigned int count)
{
	t->depth++;
	say(t, "{\n");
	statements(t, count);
	say(t, "}\n");
	t->depth--;
}

static void branch(struct text *t)
{
	fill(t, "if (!) ", 0);
	block(t, 1 + number(t, 3));
	if (number(t, 2)) {
		say(t, "else ");
		block(t, 1 + number(t, 2));
	}
}

/* The body of a loop, and a way to leave it early */
static void rounds(struct text *t)
{
	t->depth++;
	statements(t, 1 + number(t, 2));
	if (!number(t, 2)) {
		fill(t, "if (!)\n`continue;break`;\n", 0);
		statements(t, 1);
	}
	t->depth--;
}

static void loop(struct text *t)
{
	const unsigned int i = t->loops++;

	say(t, "for (uint i%u = 0; i%u < (", i, i);
	expression(t, 1);
	say(t, " & 7u); i%u++) {\n", i);
	rounds(t);
	say(t, "}\n");
}

static void loop_backwards(struct text *t)
{
	const unsigned int i = t->loops++;

	say(t, "for (int i%u = (int)(", i);
	expression(t, 1);
	say(t, " & 7u); i%u-- > 0;) {\n", i);
	rounds(t);
	say(t, "}\n");
}

/* The loop ends by a test, with a bound on the iterations. */
static void loop_until(struct text *t)
{
	const unsigned int i = t->loops++;

	say(t, "uint i%u = 0;\ndo {\n", i);
	rounds(t);
	say(t, "} while (i%u++ < %uu && (", i, 1 + number(t, 9));
	condition(t);
	say(t, "));\n");
}

static void choice(struct text *t)
{
	const char variable = t->variable;
	unsigned int i;

	fill(t, "switch ((@1) & 3u) {\n", 0);
	for (i = 0; i < 3; i++) {
		say(t, "case %u:\n", i);
		t->depth++;
		statements(t, 1);
		t->depth--;
		if (number(t, 3))
			say(t, "break;\n");
	}
	say(t, "default: %c++;\n}\n", variable);
}

static void leave(struct text *t)
{
	if (t->barriers)
		branch(t);
	else
		fill(t, "if (! && ~ % 5u == #5u)\nreturn;\n", 0);
}

#define ASSIGN	"~ `+;^`= @3;\n"

static void (*const structures[])(struct text *t) = {
	branch, branch, loop, choice, loop_backwards, loop_until, leave,
};
/* Atomic operations that do not commute use separate words. */
static const char *const simple[] = {
	"p[(@1) & 3u] = @2;\n",
	"q = #99u * q.`yyxw;wxzy` + (uint4)(@1);\n",
	"q.`x;y;z;w` ^= @2;\n",
	"atomic_add(&out[TOTAL * 4 + (@1 & 15u)], @1);\n",
	"out[4 * item + (@1 & 3u)] ^= @2;\n",
	ASSIGN, ASSIGN, ASSIGN, ASSIGN, ASSIGN,
	/* Of the second kind */
	"atomic_`inc;dec`(&out[TOTAL * 4 + (@1 & 15u)]);\n",
	"atomic_max(&out[TOTAL * 4 + 16 + (@1 & 15u)], @1);\n",
	"atomic_xor(&out[TOTAL * 4 + 32 + (@1 & 15u)], @1);\n",
	"h = h.`zxy;yzx;xxz` * (ushort3)((ushort)(@1)) + (ushort)x;\n",
	"v = select(v, v.`wzyx;yyww`, v > (uchar4)((uchar)(@1)));\n",
	"v = shuffle`(v, ;2(v, v.zyxw, `(uchar4)((uchar)(@1)) + v.yzwx);\n",
	"v.s#4 ^= (uchar)(@1);\n",
	"v[(@1) & 3u] += (uchar)(@1);\n",
	"f = f.`yzwx;xyzw` * 0.25f + convert_float4(q & 0xffffu);\n",
	"if (!)\nf.`x;w` = (float)((@1) & 0xfffu) / (1.0f + (float)(x & 15u));\n",
	"g += convert_ulong2(q.`xy;wz`) * g.yx + (ulong2)(@1);\n",
	"wide = wide.`sfedcba9876543210;s0022446688aaccee` ^ (ushort16)((ushort)(@1));\n",
	"other = ! ? in + (@1 & 63u) : other;\n",
	"vstore2(q.`xz;yw` + (uint2)((uint)g.x), item * 2 + (@1 & 1u), out);\n",
	"q.`xy;zw` ^= vload2((@1) % 290u, in);\n",
	"p[#4] += convert_uint_sat(f.`x;y`) + (! ? @1 : @1);\n",
};

/*
 * Loads from @near and stores to @own, both of 16 bytes, in any order, with operations between them
 * that leave them in that order
 */
static void neighbours(struct text *t)
{
	static const char *const types[4][3] = {
		{ "uchar", "char", "uchar" }, { "ushort", "short", "ushort" },
		{ "uint", "int", "float" }, { "ulong", "long", "ulong" },
	};
	static const char *const between[] = {
		"atomic_add((volatile global uint *)own + #4, @1);\n",
		"$ += *(volatile global m_uint *)(own + 4 * #4);\n",
		"own[(@1) & 15u] = (uchar)(@1);\n", "$ ^= own[(@1) & 15u];\n",
		"mem_fence(CLK_GLOBAL_MEM_FENCE);\n", "$ = @2;\n",
	};
	const unsigned int log = number(t, 4), slots = 16 >> log, first = number(t, slots);
	const unsigned int turned = number(t, 3) ? 0 : number(t, slots), way = number(t, 4);
	unsigned int i, count = 2 + number(t, 4);

	for (i = 0; i < count; i++) {
		const char *type = types[log][number(t, 4) ? 0 : number(t, 3)];
		const unsigned int at = ((first + (i ^ turned)) % slots) << log;
		const bool real = !strcmp(type, "float");

		if (way == 0 || (way > 1 && number(t, 2))) {
			say(t, "*(global m_%s *)(own + %u) = %s(", type, at,
			    real ? "as_float" : type[0] == 'u' ? "" : "(int)");
			expression(t, 2);
			say(t, ");\n");
		} else {
			say(t, "%c = %c * 5 + (uint)%s(*(global const m_%s *)(%s + %u));\n",
			    t->variable, t->variable, real ? "as_uint" : "", type,
			    number(t, 4) ? "near" : "own", at);
		}
		if (!number(t, 8))
			fill(t, between[number(t, ARRAY_SIZE(between))], 0);
	}
}

static const char *const lists[] = {
	"for (uint j = in[item] % 300u, e = j + (in[x] & #30u); j < e; j++)\n~ = ~ * 3 + in[j];\n",
	"for (uint j = (@1) % 400u, e = (@1) % 400u; j < e; j += #5u + 1)\n~ += in[j] ^ j;\n",
	"for (uint j = x & 7u; j < in[item] % 9u; j++) {\nif (in[j] % 5u == #5u)\nbreak;\n"
	"for (uint k = in[j] % 200u; k < 200u && in[k] % 7u; k++)\n~ += in[k];\n}\n",
	"for (uint j = x * #9u; j < min(x * 9u + #90u, 500u); j++)\n~ ^= bytes[j] * j;\n",
	"~ += bytes[(@2) % (TOTAL * 4u)];\n",
	"~ += ((global const m_`short;ushort` *)in)[(int)((@2) % (TOTAL * 2u))];\n",
	"~ += (bytes + 700)[(int)((@2) % 1400u) - 700] * 3u;\n",
	"{\nuint j = (@2) % (TOTAL * 4u - 3);\n~ = ~ * 3 + bytes[j + 1] + bytes[j] * 9u;\n"
	"~ ^= bytes[j + #4] << 8;\n}\n",
};

/* Its only exit, which some work-items skip in the first iterations */
static void loop_with_one_exit(struct text *t)
{
	const unsigned int i = t->loops++;

	say(t, "for (uint i%u = 0;; i%u++) {\n", i, i);
	t->depth++;
	statements(t, number(t, 2));
	say(t, "if (i%u < %uu && ", i, number(t, 9));
	fill(t, "!) {\n", 0);
	statements(t, number(t, 2));
	say(t, "continue;\n}\n");
	statements(t, number(t, 3));
	say(t, "if (i%u >= (", i);
	fill(t, "@1 & 7u))\nbreak;\n", 0);
	statements(t, number(t, 2));
	t->depth--;
	say(t, "}\n");
}

/* Bytes, shorts and words that are two, four or eight bytes apart, and vectors of three of them */
static const char *const parts[] = {
	"~ += bytes[`2;4;8` * x + #9] + bytes[`2;4;8` * x + #9] * 3u;\n",
	"~ = ~ * 5 + ((global const m_`short;ushort` *)in)[`2;4` * x + #4];\n",
	"~ ^= in[2 * x + #2] + in[2 * x + #4] * 5u;\n",
	"for (uint j = x + #3u; j < n + #90u; j += 16)\n~ = ~ * 7 + bytes[4 * j + #4];\n",
	"{\nuchar3 three = vload3(x + #9u, bytes);\n~ += three.x + three.y * 3u + three.z * 5u;\n}\n",
	"{\nuint3 three = vload3(x + #9u, in);\n~ ^= three.`x;y` + three.z * 5u;\n}\n",
};

/* Loops over the taps of filters, which at the border of a row do something else */
static const char *const filters[] = {
	"for (int j = -(int)(n & `7;31;1`u); j <= (int)(n & `7;15;63`u); j += 1 + #3)\n"
	"~ = ~ * 3 + in[row + clamp((int)x + j, 0, (int)w - 1)];\n",
	"for (int j = 0; j < (int)(n % #30u); j++) {\nint at = (int)x + j * (int)(n & 3u) - #9;\n"
	"if (at `>= 0 && at < (int)w;< 0 || at >= (int)w;>= 4`)\n~ += in[(uint)at % TOTAL] * j;\n}\n",
	"for (uint j = 0; j < n % #30u; j++)\n"
	"~ ^= in[`min;max`(x + j `* 3u;<< 1;<< 27;* j`, w - 1) % TOTAL];\n",
	"for (int j = n & 15u; j > -#9; j -= `1;2;5`) {\nif ((int)x - j `<;>=` `0;(int)w`)\n"
	"`continue;break;b++;c ^= x`;\n~ = ~ * 5 + in[((int)x - j) & 63];\n}\n",
	"for (uint j = 0; j < (n & 63u); j++)\n"
	"if (x + j * `5u;0x40000000u;0x5000001u` `<;>=` `w;0x80000000u`)\n~ = ~ * 3 + j;\n",
	"for (uint j = 0; j < (n & 7u); j++)\nfor (int k = -#4; k <= (int)(n & 3u); k++)\n"
	"~ += in[clamp((int)(x + j) + k, #3, (int)w - #3)] * `j;k;5u`;\n",
	"for (uint j = 0; j < n; j++) {\nif (in[j] % `9;90`u == 0)\nbreak;\n"
	"~ = ~ * 3 + in[min((ulong)x + `j;(j & 3u);(j >> 1);in[j] % 9u`, (ulong)w - #3)];\n}\n",
	"for (int j = -#9; j < #9; j++) {\nint at = abs((int)x + j);\n"
	"~ ^= in[`at;at >= (int)w ? 2 * (int)w - 1 - at : at;(int)w - 1 - min(at, (int)w - 1)`] + j;\n}\n",
	"for (int j = (int)x - (int)(n & `7;31;0`u); j `<;<=;!=` (int)x + #5; j++)\n"
	"~ = ~ * 3 + in[row + clamp(j, 0, (int)w - 1)] * (j - x + n);\n",
	"for (int j = max((int)x - #9, 0), e = min((int)(x + (n & 7u)), (int)w); j < e; j += #2 + 1)\n"
	"~ ^= in[j] * 5u + x - j;\n",
	"for (`int;short;char;long` j = 0; j < (int)(n & 31u); j++)\n"
	"~ += in[max((int)x - (int)j * `1;2;-1`, #5)];\n",
};

static void statement(struct text *t)
{
	unsigned int kind;

	t->variable = 'a' + number(t, 4);
	if (t->fourth && number(t, 5) < 3) {
		if (number(t, 3))
			neighbours(t);
		else
			fill(t, lists[number(t, ARRAY_SIZE(lists))], 0);
		return;
	}
	if (t->fifth && number(t, 5) < 3) {
		if (t->depth < 3 && !number(t, 3)) {
			loop_with_one_exit(t);
		} else {
			fill(t, number(t, 3) ? "if (!)\n" : "", 0);
			fill(t, parts[number(t, ARRAY_SIZE(parts))], 0);
		}
		return;
	}
	if (t->sixth && number(t, 5) < 3) {
		fill(t, filters[number(t, ARRAY_SIZE(filters))], 0);
		return;
	}
	kind = number(t, 14);
	if (t->depth > 3 && kind < 4)
		kind = 13;
	if (kind < 4)
		structures[t->second ? number(t, ARRAY_SIZE(structures)) : kind](t);
	else if (t->second)
		choose(t, simple, 0, ARRAY_SIZE(simple), 0);
	else
		fill(t, simple[kind - 4], 0);
}

static void statements(struct text *t, unsigned int count)
{
	while (count--)
		statement(t);
}

#define BARRIER	"barrier(CLK_LOCAL_MEM_FENCE);\n"

/* Between barriers work-items read what others of their group have written. */
static void exchange(struct text *t)
{
	static const char *const more[] = {
		BARRIER "atomic_add(&s[l & 3u & (size - 1)], @2);\n" BARRIER "$ += s[l];\n",
		BARRIER "for (uint o = 1; o < size; o *= 2) {\nuint e = s[(l + o) % size];\n" BARRIER
		"s[l] += e ^ o;\n" BARRIER "}\n$ += s[l];\n",
		BARRIER "if (l == n % size)\ns[0] = @2;\n" BARRIER "if (s[0] & 1u) {\n$ += s[0];\n" BARRIER
		"s[l] = @1;\n" BARRIER "$ ^= s[size - 1 - l];\n}\n",
		BARRIER "{\nevent_t e = async_work_group_copy(s, in + #99, size, 0);\n"
		"wait_group_events(1, &e);\n}\n$ += s[l];\n",
	};

	fill(t, "s[l] = @2;\n" BARRIER "{\nuint e = s[(l + #30u) % size];\n$ ^= e;\n}\n", 0);
	if (number(t, 2))
		fill(t, more[t->second ? number(t, ARRAY_SIZE(more)) : 0], 0);
	say(t, BARRIER);
}

static void meet_in_loop(struct text *t)
{
	const unsigned int i = t->loops++;

	say(t, "for (uint u%u = 0; u%u < (n & 3u) + 1; u%u++) {\n", i, i, i);
	statements(t, 1);
	exchange(t);
	if (t->second && number(t, 2)) {
		say(t, "if (u%u == ((n >> 2) & 3u))\n", i);
		fill(t, "`break;continue`;\n", 0);
		if (number(t, 2) && t->depth < 2) {
			t->depth++;
			meet_in_loop(t);
			t->depth--;
		}
		exchange(t);
	}
	say(t, "a += u%u;\n}\n", i);
}

static void meet(struct text *t, unsigned int depth);

/* A condition that depends on work-items, but has the same outcome for all of a work-group */
static void agreement(struct text *t)
{
	static const char *const forms[] = {
		"((same & 1u) == #2u)", "(same % 5u < #5u)",
		"((x & 1u) || same < n + 1000u)", "(same - x == n - x || ((same >> #5) & 1u))",
		"(same < n + #50u ? (same & 2u) : (same & 1u))",
	};

	fill(t, forms[number(t, ARRAY_SIZE(forms))], 0);
}

static void meet_in_branch(struct text *t, unsigned int depth)
{
	say(t, "if (");
	agreement(t);
	say(t, ") {\n");
	meet(t, depth);
	if (number(t, 2)) {
		say(t, "} else {\n");
		if (number(t, 2))
			meet(t, depth);
		else
			statements(t, 1);
	}
	say(t, "}\n");
}

/* Each work-item counts on its own from where it begins. */
static void meet_in_rounds(struct text *t, unsigned int depth)
{
	const unsigned int i = t->loops++;
	const bool first = number(t, 2);

	say(t, "uint r%u = x, t%u = x + ((same >> %u) & 3u)%s;\n", i, i, number(t, 4),
	    first ? "" : " + 1u");
	say(t, first ? "while (r%u < t%u) {\n" : "do {\n", i, i);
	meet(t, depth);
	if (number(t, 2)) {
		say(t, "if (r%u - x == ((same >> 2) & 3u)) {\n", i);
		if (number(t, 2))
			exchange(t);
		if (first && number(t, 2))
			say(t, "r%u++;\ncontinue;\n}\n", i);
		else
			say(t, "break;\n}\n");
		exchange(t);
	}
	say(t, "r%u++;\n%s", i, first ? "}\n" : "");
	if (!first)
		say(t, "} while (r%u < t%u);\n", i, i);
	say(t, "b += r%u;\n", i);
}

static void meet_in_choice(struct text *t, unsigned int depth)
{
	unsigned int i;

	say(t, "switch ((same >> %u) & 3u) {\n", number(t, 4));
	for (i = 0; i < 3; i++) {
		say(t, "case %u:\n{\n", i);
		meet(t, depth);
		say(t, "}\n%s", number(t, 3) ? "break;\n" : "");
	}
	say(t, "default: c++;\n}\n");
}

/* Fewer and fewer work-items have something to do; behind the last of it is no barrier. */
static void meet_in_halves(struct text *t, unsigned int depth)
{
	(void)depth;
	fill(t, "{\n`volatile local;local` uint *sums = s;\nuint half_size = size;\n", 0);
	fill(t, "sums[l] = @2;\n" BARRIER "while (half_size > 1) {\nhalf_size >>= 1;\n", 0);
	if (number(t, 2)) {
		say(t, "if ((");
		agreement(t);
		say(t, ") && !(n & half_size)) {\n");
		fill(t, "$ = $ * 5 + in[half_size];\ncontinue;\n}\n", 0);
	}
	fill(t, "if (l < half_size)\nsums[l] += sums[l + half_size] * #7u;\n", 0);
	fill(t, "if (half_size > 1)\n" BARRIER "}\nuint sum = sums[0];\nif (l == 0)\n$ ^= sum;\n}\n", 0);
	say(t, BARRIER);
}

static void meet(struct text *t, unsigned int depth)
{
	static void (*const forms[])(struct text *t, unsigned int depth) = {
		meet_in_branch, meet_in_rounds, meet_in_branch, meet_in_choice, meet_in_halves,
	};
	const unsigned int form = number(t, ARRAY_SIZE(forms) + 2);

	statements(t, number(t, 2));
	if (number(t, 2))
		exchange(t);
	if (depth && form < ARRAY_SIZE(forms)) {
		t->depth++;
		forms[form](t, depth - 1);
		t->depth--;
	} else if (depth && form == ARRAY_SIZE(forms)) {
		say(t, "if (");
		agreement(t);
		say(t, " && same %% 7u == 0)\nreturn;\n");
	}
	exchange(t);
}

static void section(struct text *t)
{
	statements(t, 1 + number(t, 3));
	if (!t->barriers)
		return;
	if (t->third && number(t, 4)) {
		meet(t, 2);
		return;
	}
	switch (number(t, t->second ? 6 : 4)) {
	case 0:
		meet_in_loop(t);
		break;
	case 1:
		say(t, "if ((n + get_group_id(0)) & %uu) {\n", 1 + number(t, 7));
		exchange(t);
		say(t, "}\n");
		break;
	case 4:
		fill(t, "if ((n ^ #9u) % 5u == 0)\nreturn;\n", 0);
		break;
	case 5:
		fill(t, "if (in[n] & #8u) {\n", 0);
		exchange(t);
		say(t, "} else {\n");
		statements(t, 1);
		exchange(t);
		say(t, "}\n");
		break;
	default:
		exchange(t);
	}
}

static void make_kernel(struct text *t, uint32_t seed)
{
	unsigned int i;
	bool strips;

	t->state = seed * 2654435761u + 12345;
	number(t, 2);
	t->depth = t->loops = t->conditions = 0;
	t->second = seed >= CC_RANDOM_SECOND;
	t->third = seed >= CC_RANDOM_THIRD && seed < CC_RANDOM_FOURTH;
	t->fourth = seed >= CC_RANDOM_FOURTH && seed < CC_RANDOM_FIFTH;
	t->fifth = seed >= CC_RANDOM_FIFTH && seed < CC_RANDOM_SIXTH;
	t->sixth = seed >= CC_RANDOM_SIXTH;
	t->barriers = seed >= CC_RANDOM_FOURTH ? seed % 8 == 1 : seed & 1 || t->third;
	t->wide = t->second && seed % 8 < 2;
	/* Kernels that use no local memory or barriers may run in strips of work-groups. */
	strips = t->second && !t->barriers && seed & 2;
	t->variable = 'a';
	say(t, "kernel void k%u(global const uint *in, global uint *out, uint n, uint w%s)\n{\n", seed,
	    strips ? "" : ",\nlocal uint *s");
	say(t, "uint x = get_global_id(0), row = get_global_id(1) * w, item = row + x;\n");
	if (strips)
		say(t, "uint l = x & 15u;\n");
	else
		say(t, "uint size = get_local_size(0) * get_local_size(1);\n"
		       "uint l = get_local_id(1) * get_local_size(0) + get_local_id(0);\n");
	if (t->second)
		say(t, "uint group = %s;\n", strips ? "w" : "get_group_id(0)");
	say(t, "uint a = in[item], b = x * 7 + n, c = in[(item * 5 + 3) %% TOTAL], d = item;\n"
	       "uint p[4] = { a, b, x, n };\nuint4 q = (uint4)(a, b, c, d);\n");
	if (t->second) {
		say(t, "ushort3 h = convert_ushort3(q.xyz);\nuchar4 v = as_uchar4(c);\n"
		       "float4 f = convert_float4(q >> 8);\nulong2 g = convert_ulong2(q.zw);\n"
		       "global const uint *other = in + (a & 63u);\n");
		if (t->wide)
			say(t, "ushort16 wide = (ushort16)((ushort)a);\n");
	}
	if (t->fourth || t->fifth)
		say(t, "global const uchar *bytes = (global const uchar *)in;\n");
	if (t->fourth)
		fill(t, "global uchar *own = (global uchar *)(out + 4 * item);\n"
		     "global const uchar *near = (global const uchar *)(in + (`x;w - 1 - x;"
		     "4 * x;item;in[item];x + n`) % 570u);\n", 0);
	if (t->third)
		say(t, "s[l] = n + 3 * get_group_id(0);\n" BARRIER
		       "uint same = s[size - 1 - l];\n" BARRIER);
	if (!t->barriers && !number(t, 2))
		fill(t, "if (!)\nreturn;\n", 0);
	for (i = 2 + number(t, 3); i; i--)
		section(t);
	say(t, "out[4 * item] ^= a + q.x;\nout[4 * item + 1] ^= b + q.y + p[0];\n"
	       "out[4 * item + 2] += c + q.z + p[1];\nout[4 * item + 3] ^= d + q.w + p[2] + p[3];\n");
	if (t->second)
		say(t, "out[4 * item] += h.x + h.y * 3 + h.z * 5 + as_uint(v);\n"
		       "out[4 * item + 1] ^= as_uint(f.x + f.y) + (uint)(g.x + g.y) + other[0];\n");
	say(t, "}\n\n");
}

size_t cc_random_kernels(uint32_t seed, unsigned int count, unsigned int total, char *text,
			 size_t size)
{
	static const char *const may_alias[] = {
		"char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "float",
	};
	struct text t = { .at = text, .end = text + size };
	unsigned int i;

	say(&t, "#define TOTAL %uu\n", total);
	for (i = 0; i < ARRAY_SIZE(may_alias) && seed >= CC_RANDOM_FOURTH; i++)
		say(&t, "typedef %s m_%s __attribute__((may_alias%s));\n", may_alias[i],
		    may_alias[i], strstr(may_alias[i], "long") ? ", aligned(4)" : "");
	for (i = 0; i < count; i++)
		make_kernel(&t, seed + i);
	return t.at - text;
}
