// SPDX-License-Identifier: MIT
/* peers.c - what another rank says is not believed: a plugin with a rank that lies (peer/peer.h) */
#include "kselftest_harness.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "agile_test.h"
#include "peer/peer.h"

enum { N = 64 };

static struct peer *peer;

static struct peer *find_peer(void)
{
	void *library = dlopen("libsalvo-agile-peer.so.1", RTLD_NOW | RTLD_NODELETE);

	return library ? dlsym(library, "agile_peer") : NULL;
}

FIXTURE(peers)
{
	struct salvo_agile_node node;
	void *image;
	size_t bytes;
};

FIXTURE_SETUP(peers)
{
	struct cluster c;

	peer = find_peer();
	ASSERT_NE(NULL, peer);
	*peer = (struct peer){ 0 };
	unsetenv("SALVO_AGILE_PLUGIN");
	unsetenv("SALVO_AGILE_DIRECT");
	ASSERT_EQ(0, cluster_open(&c, 1));
	salvo_agile_destroy(c.agile);
	self->node = (struct salvo_agile_node){ c.devices[0], 0 };
	self->image = c.image;
	self->bytes = c.bytes;
}

FIXTURE_TEARDOWN(peers)
{
	salvo_device_close(self->node.device);
	free(self->image);
}

static const struct salvo_agile_grid grid = { 2, { 0, 0 }, { N, N } };
static const struct salvo_agile_grid line = { 1, { 0 }, { N } };

static int make_field(struct salvo_agile *agile, const struct salvo_agile_grid *of,
		      uint32_t columns, struct salvo_agile_field **field)
{
	const struct salvo_agile_decomposition how = {
		.kind = SALVO_AGILE_BLOCK, .columns = columns };
	const struct salvo_agile_field_info info = { 4, { 16, 16 }, { 16, 16 } };
	struct salvo_agile_map *map = NULL;
	int err = salvo_agile_map_create(agile, "map", of, &how, &map);

	if (!err)
		err = salvo_agile_field_create(agile, "field", map, &info, field);
	salvo_agile_map_destroy(map);
	return err;
}

/* A view writes, so that the ranks tell each other what was written. */
static int write_view(struct salvo_agile_field *field)
{
	const struct salvo_agile_index at = { { N - 1, 3 } };
	struct salvo_agile_view *view;
	uint32_t *element;
	int err = salvo_agile_view_create(field, 0, &view);

	if (err)
		return err;
	element = salvo_agile_view_at(view, &at, SALVO_AGILE_WRITE);
	if (element)
		*element = 7;
	salvo_agile_view_destroy(view);
	return element ? 0 : -EIO;
}

static int write_tile(struct salvo_agile_field *field)
{
	struct salvo_agile_tile tile;
	int err = salvo_agile_tile_open(field, 0, &grid, SALVO_AGILE_WRITE, &tile);

	return err ? err : salvo_agile_tile_close(&tile);
}

static int compute(struct salvo_agile *agile, const void *image, size_t bytes,
		   struct salvo_agile_field *a, struct salvo_agile_field *c, uint32_t flags)
{
	struct salvo_agile_operand both[] = {
		{ a, NULL, NULL }, { a, salvo_agile_transposed, NULL } };
	struct salvo_agile_statement add = { NULL, c, both, NULL, 2, 0, flags };
	int err = salvo_agile_kernel_create(agile, image, bytes, "add_transposed", &add.kernel);

	if (!err)
		err = salvo_agile_forall(agile, &add);
	salvo_agile_kernel_destroy(add.kernel);
	return err;
}

static int sort(struct salvo_agile *agile, const void *image, size_t bytes,
		struct salvo_agile_field *field)
{
	struct salvo_agile_kernel *kernel;
	int err = salvo_agile_kernel_create(agile, image, bytes, "sort1", &kernel);

	if (err)
		return err;
	err = salvo_agile_sort(agile, kernel, by_upper, field);
	salvo_agile_kernel_destroy(kernel);
	return err;
}

/* Each call once; an error ends some of it and is as good as any other result. */
static int all_calls(struct salvo_agile_node *node, const void *image, size_t bytes)
{
	struct salvo_agile_field *a = NULL, *c = NULL, *other = NULL, *keys = NULL;
	struct salvo_agile *agile;
	int err = salvo_agile_create_ranks("peer", node, 1, &agile);

	if (err)
		return err;
	err = make_field(agile, &grid, 0, &a);
	if (!err)
		err = make_field(agile, &grid, 0, &c);
	if (!err)
		err = make_field(agile, &grid, 1, &other);
	if (!err)
		err = make_field(agile, &line, 0, &keys);
	if (!err)
		err = write_tile(a);
	if (!err)
		err = write_view(a);
	if (!err)
		err = salvo_agile_wait(agile);
	if (!err)
		err = compute(agile, image, bytes, a, c, 0);
	if (!err)
		err = salvo_agile_redistribute(agile, other, c);
	if (!err)
		err = salvo_agile_wait(agile);
	if (!err)
		err = compute(agile, image, bytes, a, c, SALVO_AGILE_STEAL);
	if (!err)
		err = sort(agile, image, bytes, keys);
	salvo_agile_field_destroy(keys);
	salvo_agile_field_destroy(other);
	salvo_agile_field_destroy(c);
	salvo_agile_field_destroy(a);
	salvo_agile_destroy(agile);
	return err;
}

/* Some bytes are 0, all ones, or any. */
static void change_bytes(struct peer *p, uint8_t *said, size_t bytes)
{
	unsigned int i, k, count = 1 + pick(&p->seed, 6);

	for (i = 0; i < count; i++) {
		const size_t at = pick(&p->seed, bytes), size = 1u << pick(&p->seed, 4);
		const uint32_t kind = pick(&p->seed, 3);

		for (k = 0; k < size && at / size * size + k < bytes; k++)
			said[at / size * size + k] = !kind ? 0 : kind == 1 ? 0xff :
						     pick(&p->seed, 256);
	}
}

static unsigned int count_files(void)
{
	unsigned int count = 0;
	DIR *directory = opendir("/proc/self/fd");

	while (directory && readdir(directory))
		count++;
	closedir(directory);
	return count;
}

static unsigned int count_mappings(void)
{
	FILE *file = fopen("/proc/self/maps", "re");
	unsigned int count = 0;
	int c;

	while (file && (c = fgetc(file)) != EOF)
		count += c == '\n';
	fclose(file);
	return count;
}

/* By each other's memory, and by windows. Nothing stays: no file and no mapping. */
TEST_F(peers, A5_whatever_another_rank_says)
{
	unsigned int exchanges, i, direct, files, mappings;

	for (direct = 0; direct < 2; direct++) {
		setenv("SALVO_AGILE_DIRECT", direct ? "1" : "0", 1);
		*peer = (struct peer){ 0 };
		all_calls(&self->node, self->image, self->bytes);
		exchanges = peer->exchanges;
		EXPECT_GT(exchanges, 20);
		files = count_files();
		mappings = count_mappings();
		for (i = 0; i < 300; i++) {
			*peer = (struct peer){ .exchange = 1 + i % exchanges, .seed = i,
					       .lie = change_bytes };
			/* Sometimes it has more tasks than there are. */
			if (i % 3 == 1)
				peer->word = i * 0x9e3779b97f4a7c15ull >> i % 40;
			EXPECT_GE(0, all_calls(&self->node, self->image, self->bytes));
		}
		EXPECT_EQ(files, count_files());
		/*
		 * After an error the last batch may keep its buffers until the next one ends, some
		 * 26 mappings; the allocator's own come and go. A leak has one of each lie.
		 */
		EXPECT_GE(mappings + 60, count_mappings());
	}
}

/* At a call that there is not, with a message that does not end. */
static void end_no_text(struct peer *p, uint8_t *said, size_t bytes)
{
	(void)p;
	memset(said, 'A', bytes);
}

TEST_F(peers, a_message_without_an_end_is_cut)
{
	struct salvo_agile_field *field;
	struct salvo_agile *agile;

	ASSERT_EQ(0, salvo_agile_create_ranks("peer", &self->node, 1, &agile));
	peer->lie = end_no_text;
	peer->exchange = PEER_ALWAYS;
	EXPECT_EQ(-EPROTO, make_field(agile, &grid, 0, &field));
	EXPECT_NE(NULL, strstr(salvo_agile_error(agile), "rank 1 at ?: AAA"));
	salvo_agile_destroy(agile);
}

/* The exchange of what each rank stores of a field: number of device and inode, and file. */
struct stored {
	uint64_t device, inode;
	int64_t fd;
};

static int small_file;

static void name_small_file(struct peer *p, uint8_t *said, size_t bytes)
{
	struct stored *stored = (void *)said;
	struct stat stat;

	(void)p;
	if (bytes != sizeof(*stored) || fstat(small_file, &stat))
		return;
	*stored = (struct stored){ stat.st_dev, stat.st_ino, small_file };
}

/* Two commands are copies inside of rank 0, and what rank 1 stores is another one if it is used. */
TEST_F(peers, A5_a_file_that_is_too_small_is_not_used)
{
	struct salvo_agile_field *rows, *columns;
	struct salvo_agile_stats stats;
	struct salvo_agile *agile;
	unsigned int small;

	small_file = memfd_create("small", MFD_CLOEXEC);
	ASSERT_EQ(0, ftruncate(small_file, 4096));
	for (small = 0; small < 2; small++) {
		*peer = (struct peer){ .exchange = PEER_ALWAYS * small, .lie = name_small_file };
		ASSERT_EQ(0, salvo_agile_create_ranks("peer", &self->node, 1, &agile));
		ASSERT_EQ(0, make_field(agile, &grid, 0, &rows));
		ASSERT_EQ(0, make_field(agile, &grid, 1, &columns));
		ASSERT_EQ(0, salvo_agile_redistribute(agile, columns, rows));
		ASSERT_EQ(0, salvo_agile_wait(agile));
		salvo_agile_get_stats(agile, 0, &stats);
		EXPECT_EQ(small ? 4 : 8, stats.commands);
		salvo_agile_field_destroy(rows);
		salvo_agile_field_destroy(columns);
		salvo_agile_destroy(agile);
	}
	close(small_file);
}

/* Ranks that make different fields would access what is not there. */
static void change_layout(struct peer *p, uint8_t *said, size_t bytes)
{
	/* A number of the layout follows the text of a meeting. */
	if (bytes > 200 && p->exchanges == p->seed)
		said[192] ^= 1;
}

TEST_F(peers, ranks_that_create_different_fields_are_told_which)
{
	struct salvo_agile_field *field;
	struct salvo_agile *agile;

	ASSERT_EQ(0, salvo_agile_create_ranks("peer", &self->node, 1, &agile));
	*peer = (struct peer){ .exchange = PEER_ALWAYS, .seed = 1, .lie = change_layout };
	EXPECT_EQ(-EPROTO, make_field(agile, &grid, 0, &field));
	EXPECT_NE(NULL, strstr(salvo_agile_error(agile), "rank 1 does not create it"));
	/* They are together still. */
	EXPECT_EQ(0, make_field(agile, &grid, 0, &field));
	salvo_agile_field_destroy(field);
	salvo_agile_destroy(agile);
}

TEST_HARNESS_MAIN
