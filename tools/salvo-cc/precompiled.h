/* SPDX-License-Identifier: MIT */
/*
 * precompiled.h - what most files include of LLVM
 *
 * It is read once, for all of them (build.mk): LLVM's headers take most of the time of a file. A
 * file still includes what it uses.
 */
#ifndef SALVO_CC_PRECOMPILED_H
#define SALVO_CC_PRECOMPILED_H

#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>

#endif
