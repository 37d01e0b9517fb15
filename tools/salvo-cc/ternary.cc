// SPDX-License-Identifier: MIT
/*
 * ternary.cc - mends ternary operations under a mask as LLVM selects them
 *
 * LLVM makes one operation of a choice of bits by a constant,
 *
 *	(a & constant) | (b & ~constant)	VPTERNLOG constant, a, b, 0xca
 *
 * With a mask the operand that inactive lanes keep comes first, and the constant last, in memory;
 * the immediate operand, the table of the function, is reordered with them. For the two orders that
 * move all three operands LLVM 19 takes the table of the other one, in patterns of instructions
 * that load (llvm-project issue 157929, mended in July 2026):
 *
 *	a, b, constant		0xb8 instead of 0xe4
 *	b, constant, a		0xe4 instead of 0xb8
 *
 * No other order makes these two out of 0xca, and LLVM makes no ternary operations but 0xca before
 * it selects instructions. So they are exchanged, before a pass takes the load out.
 */
#include "salvo_cc.h"

#include <llvm/CodeGen/MachineFunction.h>
#include <llvm/CodeGen/MachineFunctionPass.h>
#include <llvm/CodeGen/TargetInstrInfo.h>
#include <llvm/CodeGen/TargetSubtargetInfo.h>
#include <llvm/Config/llvm-config.h>

using namespace llvm;

/* Of a newer version find out first whether it still is wrong: pitfalls fails if this is not. */
static_assert(LLVM_VERSION_MAJOR == 19);

namespace {

class ternary_mender : public MachineFunctionPass {
public:
	ternary_mender() : MachineFunctionPass(id) {}

	bool runOnMachineFunction(MachineFunction &mf) override;
	void getAnalysisUsage(AnalysisUsage &usage) const override
	{
		usage.setPreservesAll();
		MachineFunctionPass::getAnalysisUsage(usage);
	}

private:
	static char id;
};

char ternary_mender::id;

} /* namespace */

/* The names of opcodes, for LLVM does not install their numbers. */
static bool is_masked_ternary(StringRef name)
{
	return name.starts_with("VPTERNLOG") &&
	       (name.ends_with("rmik") || name.ends_with("rmbik"));
}

bool ternary_mender::runOnMachineFunction(MachineFunction &mf)
{
	const TargetInstrInfo &instructions = *mf.getSubtarget().getInstrInfo();
	bool changed = false;

	for (MachineBasicBlock &block : mf)
		for (MachineInstr &inst : block) {
			const unsigned operands = inst.getNumExplicitOperands();

			if (!inst.mayLoad() || !operands)
				continue;
			MachineOperand &table = inst.getOperand(operands - 1);
			if (!table.isImm() ||
			    !is_masked_ternary(instructions.getName(inst.getOpcode())))
				continue;
			const uint8_t value = table.getImm();
			if (value != 0xb8 && value != 0xe4)
				continue;
			table.setImm(value == 0xb8 ? 0xe4 : 0xb8);
			changed = true;
		}
	return changed;
}

MachineFunctionPass *mend_ternaries()
{
	return new ternary_mender();
}
