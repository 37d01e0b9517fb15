// SPDX-License-Identifier: MIT
/*
 * vector_exits.cc - what lanes that have left a loop take from it, where that is many registers
 *
 * A lane that leaves a divergent loop early has its values of that iteration in slots of their
 * own, the phis behind the loop, beside those that the other lanes still compute with. Sums of many
 * terms do not fit in the registers twice. There the lanes that have left keep their values in the
 * loop instead, and the phi behind it is that of the header:
 *
 *	for (i = x; i < n; i += size)		sum = mask ? sum + v[i..] : sum
 *		sum += v[i];
 *
 * A phi in the loop that begins as the value that is kept, as the one behind a condition, needs no
 * other choice than its own, unless lanes leave later in the iteration: those had the value that is
 * kept before. With AVX-512 the choice is a part of the operation. Elsewhere, and with few values,
 * it would only make the iteration longer.
 */
#include "vectoriser.h"

using namespace llvm;

/*
 * The header phi of @loop that has what lanes leave with to @exit, or NULL. Those that leave from
 * the latch have done the iteration.
 */
static PHINode *header_phi(const PHINode &exit, const Loop &loop)
{
	PHINode *found = nullptr;

	for (PHINode &phi : loop.getHeader()->phis()) {
		const BasicBlock *latch = loop.getLoopLatch();
		const Value *next = phi.getIncomingValueForBlock(latch);
		bool same = true;

		for (unsigned i = 0; i < exit.getNumIncomingValues(); i++)
			same &= exit.getIncomingValue(i) ==
				(exit.getIncomingBlock(i) == latch ? next : &phi);
		if (same)
			found = &phi;
	}
	return found;
}

/* Finds the phis behind @loop whose lanes may stay in it, if they are many. */
void vectoriser::find_kept(const Loop &loop)
{
	SmallVector<std::pair<PHINode *, PHINode *>> found;
	SmallVector<BasicBlock *> ends;
	SmallPtrSet<PHINode *, 16> headers;
	double count = 0;

	loop.getUniqueExitBlocks(ends);
	for (BasicBlock *end : ends) {
		if (loops.getLoopFor(end) != loop.getParentLoop())
			continue;
		for (PHINode &exit : end->phis()) {
			PHINode *phi = shape_of(&exit).kind == shape::VARYING ?
				header_phi(exit, loop) : nullptr;

			if (!phi || shape_of(phi).kind != shape::VARYING)
				continue;
			found.push_back({ &exit, phi });
			if (headers.insert(phi).second)
				count += registers_of(phi->getType());
		}
	}
	const unsigned all = target.getNumberOfRegisters(target.getRegisterClassForType(true));
	if (count * 4 < all)
		return;
	for (auto &[exit, phi] : found) {
		left_in[exit] = phi;
		kept[phi] = phi;
	}
}

/* May lanes leave the loop of the phi @header in @block or after it, before the iteration ends? */
bool vectoriser::leaves_after(const BasicBlock &block, const PHINode &header) const
{
	const Loop *loop = loops.getLoopFor(header.getParent());
	SmallVector<BasicBlock *> exiting;

	loop->getExitingBlocks(exiting);
	return any_of(exiting, [&](const BasicBlock *from) {
		return from != loop->getLoopLatch() && !dt.properlyDominates(from, &block);
	});
}

/*
 * Finds what is the value of a header phi in all lanes that are not active: phis that begin as such
 * a value, and what is behind an inner loop that begins with one.
 */
void vectoriser::find_kept()
{
	for (const Loop *loop : loops.getLoopsInPreorder())
		if (is_divergent_loop(loop))
			find_kept(*loop);
	if (kept.empty())
		return;
	for (BasicBlock *block : order) {
		const Loop *loop = loops.getLoopFor(block);

		for (PHINode &phi : block->phis()) {
			if (PHINode *inner = left_in.lookup(&phi)) {
				const Loop *left = loops.getLoopFor(inner->getParent());
				Value *from = inner->getIncomingValueForBlock(
					left->getLoopPreheader());
				PHINode *same = kept.lookup(from);

				if (same && !leaves_after(*left->getHeader(), *same))
					kept[&phi] = same;
				continue;
			}
			if ((loop && loop->getHeader() == block) ||
			    shape_of(&phi).kind != shape::VARYING)
				continue;
			for (Value *value : phi.incoming_values()) {
				auto *first = dyn_cast<PHINode>(value);

				if (!first || !kept.count(first) ||
				    loops.getLoopFor(first->getParent()) != loop ||
				    !dt.properlyDominates(first->getParent(), block) ||
				    leaves_after(*block, *kept[first]))
					continue;
				kept[&phi] = kept[first];
				begins_as[&phi] = first;
				begins[first].push_back(&phi);
				break;
			}
		}
	}
}
