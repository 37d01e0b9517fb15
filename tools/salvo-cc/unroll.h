/* SPDX-License-Identifier: MIT */
/*
 * unroll.h - loops that index private arrays, and loops around barriers
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

#endif /* SALVO_CC_UNROLL_H */
