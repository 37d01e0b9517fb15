// SPDX-License-Identifier: MIT
/* sha256.c - the hash of the program cache against the examples of FIPS 180-4 */
#include <string.h>

#include "kselftest_harness.h"
#include "sha256.h"

static const struct {
	const char *text;
	const char *hash;
} examples[] = {
	{ "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
	{ "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
	{ "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
	  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
};

static void finish(struct salvo_sha256 *hash, char *text)
{
	uint8_t out[SALVO_SHA256_BYTES];
	unsigned int i;

	salvo_sha256_end(hash, out);
	for (i = 0; i < sizeof(out); i++)
		sprintf(text + 2 * i, "%02x", out[i]);
}

TEST(examples_of_the_standard)
{
	struct salvo_sha256 hash;
	char text[65];
	unsigned int i;

	for (i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
		salvo_sha256_init(&hash);
		salvo_sha256_add(&hash, examples[i].text, strlen(examples[i].text));
		finish(&hash, text);
		EXPECT_STREQ(examples[i].hash, text);
	}
}

TEST(a_million_letters_in_uneven_pieces)
{
	struct salvo_sha256 hash;
	char letters[977], text[65];
	size_t left = 1000000, n;

	memset(letters, 'a', sizeof(letters));
	salvo_sha256_init(&hash);
	for (n = 1; left; n = n % sizeof(letters) + 1) {
		n = n < left ? n : left;
		salvo_sha256_add(&hash, letters, n);
		left -= n;
	}
	finish(&hash, text);
	EXPECT_STREQ("cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0", text);
}

TEST_HARNESS_MAIN
