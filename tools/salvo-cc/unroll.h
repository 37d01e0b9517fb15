/* SPDX-License-Identifier: MIT */
/*
 * unroll.h - loops that index private arrays, short ones with exits, and loops around barriers
 */
#ifndef SALVO_CC_UNROLL_H
#define SALVO_CC_UNROLL_H

namespace llvm {
class Function;
class LoopInfo;
class ScalarEvolution;
}

/* Marks the loops of @f to be unrolled so that its arrays become registers; false if none. */
bool mark_array_loops(llvm::Function &f, llvm::LoopInfo &loops, llvm::ScalarEvolution &scev);

/* Marks loops that would have very many barriers if they were unrolled: they are not. */
void keep_barrier_loops(llvm::LoopInfo &loops, llvm::ScalarEvolution &scev);

/* Marks loops of at most a few short iterations that may end earlier: they are unrolled. */
void mark_short_loops(llvm::LoopInfo &loops, llvm::ScalarEvolution &scev);

#endif /* SALVO_CC_UNROLL_H */
