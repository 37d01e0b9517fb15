// SPDX-License-Identifier: MIT
/*
 * places.cc - the table that maps each instruction to its work-items
 *
 * LLVM tracks the variables of the marks (marks.cc) like those of the source: for each
 * machine instruction the debug values say in which register, in which stack slot, or as which
 * constant each index is available, if at all. The pass below runs last, reads them, and emits a
 * label wherever a location changes. After the last function it writes the table
 * (device/include/salvo_kernel.h): labels, and the locations that are valid from there on. The
 * marks themselves leave nothing in the program.
 *
 * The lane of an access is found by its memory operand, which names the IR pointer and the
 * size. If the size is not that of the tag the access was merged with others, and may be of
 * any lane.
 */
#include "places.h"

#include <map>

#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/BinaryFormat/ELF.h>
#include <llvm/CodeGen/AsmPrinter.h>
#include <llvm/CodeGen/AsmPrinterHandler.h>
#include <llvm/CodeGen/MachineFunction.h>
#include <llvm/CodeGen/MachineFunctionPass.h>
#include <llvm/CodeGen/MachineInstr.h>
#include <llvm/CodeGen/MachineMemOperand.h>
#include <llvm/CodeGen/TargetInstrInfo.h>
#include <llvm/CodeGen/TargetRegisterInfo.h>
#include <llvm/CodeGen/TargetSubtargetInfo.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/MC/MCContext.h>
#include <llvm/MC/MCSectionELF.h>
#include <llvm/MC/MCStreamer.h>
#include <llvm/Support/LEB128.h>
#include <llvm/Support/raw_ostream.h>

#include "salvo_kernel.h"

using namespace llvm;

namespace {

/* How an index is found: a DWARF expression, and the registers that it takes. */
struct location {
	bool known = false;
	std::string expression;
	SmallVector<MCRegister, 2> uses;
	int64_t constant = 0;		/* if there are none */
};

struct table {
	std::map<std::string, uint32_t> expressions, numbers;
	std::string expression_bytes;
	std::vector<salvo_item_place> places;
	std::vector<std::pair<MCSymbol *, uint32_t>> points;
	MCSymbol *first = nullptr;	/* of the code */

	bool add_expression(const std::string &expression, uint16_t &at)
	{
		auto [found, is_new] = expressions.try_emplace(expression, expression_bytes.size());

		if (is_new) {
			expression_bytes += (char)expression.size();
			expression_bytes += expression;
		}
		at = found->second;
		return found->second <= UINT16_MAX && expression.size() <= UINT8_MAX;
	}

	uint32_t number(const salvo_item_place &p)
	{
		auto [found, is_new] = numbers.try_emplace(
			std::string(reinterpret_cast<const char *>(&p), sizeof(p)), places.size());

		if (is_new)
			places.push_back(p);
		return found->second;
	}
};

/* Writes the table after the last function. */
class table_writer : public AsmPrinterHandler {
public:
	table_writer(AsmPrinter &printer, std::shared_ptr<table> all)
		: printer(printer), all(std::move(all)) {}

	void beginFunction(const MachineFunction *mf) override {}
	void endFunction(const MachineFunction *mf) override {}
	void endModule() override;

private:
	AsmPrinter &printer;
	std::shared_ptr<table> all;
};

class place_finder : public MachineFunctionPass {
public:
	place_finder(AsmPrinter &printer, bool debug)
		: MachineFunctionPass(id), all(std::make_shared<table>()), debug(debug)
	{
		printer.addAsmPrinterHandler(std::make_unique<table_writer>(printer, all));
	}

	bool runOnMachineFunction(MachineFunction &mf) override;
	void getAnalysisUsage(AnalysisUsage &usage) const override
	{
		usage.setPreservesAll();
		MachineFunctionPass::getAnalysisUsage(usage);
	}

private:
	using tags = SmallVector<lane_tag, 1>;

	void read_tags(const Function &f);
	bool add_argument(const MachineInstr &value, unsigned n, location &to);
	bool read_value(const MachineInstr &value, location &to);
	void read_mark(const MachineInstr &inst, location at[MARKS]);
	void forget_changed(const MachineInstr &inst, location at[MARKS]);
	const lane_tag *tag_of(const MachineMemOperand &access) const;
	bool add_access(const MachineInstr &inst, salvo_item_place &to);
	salvo_item_place place_of(const MachineInstr &inst, const location at[MARKS]);
	bool can_fault(const MachineInstr &inst) const;
	bool number_of(MCRegister reg, uint8_t &number);

	static char id;
	std::shared_ptr<table> all;
	bool debug;
	const TargetRegisterInfo *registers = nullptr;
	const TargetInstrInfo *instructions = nullptr;
	DenseMap<const Value *, tags> pointers;
};

char place_finder::id;

} /* namespace */

void place_finder::read_tags(const Function &f)
{
	lane_tag tag;

	pointers.clear();
	for (const Instruction &inst : llvm::instructions(f)) {
		if (!read_tag(inst, tag))
			continue;
		const Value *pointer = getLoadStorePointerOperand(&inst);
		if (auto *call = dyn_cast<CallBase>(&inst))
			pointer = call->getArgOperand(call->getType()->isVoidTy() ? 1 : 0);
		else if (auto *rmw = dyn_cast<AtomicRMWInst>(&inst))
			pointer = rmw->getPointerOperand();
		else if (auto *exchange = dyn_cast<AtomicCmpXchgInst>(&inst))
			pointer = exchange->getPointerOperand();
		if (pointer)
			pointers[pointer].push_back(tag);
	}
}

/* DWARF's number of a register, if it fits the table's 8 bits. */
bool place_finder::number_of(MCRegister reg, uint8_t &number)
{
	const int found = registers->getDwarfRegNum(reg, false);

	if (found < 0 || found >= SALVO_ITEM_REGISTERS)
		return false;
	number = found;
	return true;
}

static void add_number(std::string &to, uint64_t n)
{
	raw_string_ostream out(to);

	encodeULEB128(n, out);
}

static void add_constant(std::string &to, int64_t n)
{
	raw_string_ostream out(to);

	out << (char)dwarf::DW_OP_consts;
	encodeSLEB128(n, out);
}

/* Adds argument @n of a debug value to the expression, and the register that it uses. */
bool place_finder::add_argument(const MachineInstr &value, unsigned n, location &to)
{
	uint8_t reg;

	if (n >= value.getNumDebugOperands())
		return false;
	const MachineOperand &operand = value.getDebugOperand(n);
	if (operand.isImm()) {
		add_constant(to.expression, operand.getImm());
		to.constant = operand.getImm();
		return true;
	}
	if (!operand.isReg() || !operand.getReg().isPhysical() ||
	    !number_of(operand.getReg().asMCReg(), reg))
		return false;
	to.expression += (char)(dwarf::DW_OP_breg0 + reg);
	to.expression += '\0';
	to.uses.push_back(operand.getReg().asMCReg());
	return true;
}

bool place_finder::read_value(const MachineInstr &value, location &to)
{
	const DIExpression &from = *value.getDebugExpression();

	if (!value.isDebugValueList() && !add_argument(value, 0, to))
		return false;
	for (auto op = from.expr_op_begin(); op != from.expr_op_end(); ++op)
		switch (op->getOp()) {
		case dwarf::DW_OP_LLVM_arg:
			if (!add_argument(value, op->getArg(0), to))
				return false;
			break;
		case dwarf::DW_OP_constu:
		case dwarf::DW_OP_plus_uconst:
			to.expression += (char)op->getOp();
			add_number(to.expression, op->getArg(0));
			break;
		case dwarf::DW_OP_consts:
			add_constant(to.expression, op->getArg(0));
			break;
		case dwarf::DW_OP_plus:
		case dwarf::DW_OP_minus:
		case dwarf::DW_OP_mul:
		case dwarf::DW_OP_div:
		case dwarf::DW_OP_deref:
			to.expression += (char)op->getOp();
			break;
		case dwarf::DW_OP_stack_value:
			break;
		default:
			return false;
		}
	if (value.isIndirectDebugValue())
		to.expression += (char)dwarf::DW_OP_deref;
	return true;
}

void place_finder::read_mark(const MachineInstr &inst, location at[MARKS])
{
	const int d = mark_of(*inst.getDebugVariable());

	if (d < 0)
		return;
	at[d] = location();
	if (inst.isUndefDebugValue() || !read_value(inst, at[d]))
		at[d] = location();
	else
		at[d].known = true;
}

void place_finder::forget_changed(const MachineInstr &inst, location at[MARKS])
{
	const MCRegister stack = registers->getFrameRegister(*inst.getMF());

	for (unsigned d = 0; d < MARKS; d++)
		for (MCRegister reg : at[d].uses)
			/* A call preserves the stack pointer; an epilogue does not. */
			if (inst.modifiesRegister(reg, registers) &&
			    !(inst.isCall() && reg == stack)) {
				at[d] = location();
				break;
			}
}

/* The one tag that fits @access, or NULL. */
const lane_tag *place_finder::tag_of(const MachineMemOperand &access) const
{
	auto found = pointers.find(access.getValue());
	const lane_tag *fits = nullptr;

	if (!access.getValue() || found == pointers.end() || !access.getSize().hasValue() ||
	    access.getSize().isScalable())
		return nullptr;
	const uint64_t bytes = access.getSize().getValue();
	for (const lane_tag &tag : found->second) {
		if (tag.row ? access.getOffset() < 0 : access.getOffset() || bytes != tag.bytes)
			continue;
		/* Equal tags may all have caused the fault. */
		if (fits && fits->row != tag.row)
			return nullptr;
		fits = &tag;
	}
	return fits;
}

/* Adds the lanes of an access, if they are known. */
bool place_finder::add_access(const MachineInstr &inst, salvo_item_place &to)
{
	if (!inst.hasOneMemOperand())
		return false;
	const MachineMemOperand &access = **inst.memoperands_begin();
	const lane_tag *tag = tag_of(access);
	if (!tag)
		return false;
	if (!tag->row) {
		to.what = SALVO_ITEM_LANE;
		to.lane = tag->lane;
		return true;
	}
	auto address = instructions->getAddrModeFromMemoryOp(inst, registers);
	if (!address || address->Form != ExtAddrMode::Formula::Basic || tag->bytes > UINT8_MAX ||
	    !isInt<32>(address->Displacement - access.getOffset()) || address->Scale > 8)
		return false;
	to.base = to.index = SALVO_ITEM_NO_REGISTER;
	if ((address->BaseReg && !number_of(address->BaseReg.asMCReg(), to.base)) ||
	    (address->ScaledReg && !number_of(address->ScaledReg.asMCReg(), to.index)))
		return false;
	to.what = SALVO_ITEM_ROW;
	to.scale = address->Scale;
	to.each = tag->bytes;
	to.displacement = address->Displacement - access.getOffset();
	return true;
}

salvo_item_place place_finder::place_of(const MachineInstr &inst, const location at[MARKS])
{
	salvo_item_place made = {};

	if (!at[MARK_LANES].known || !at[MARK_LANES].uses.empty())
		return {};
	for (unsigned d = 0; d < 3; d++)
		if (!at[d].known || !all->add_expression(at[d].expression, made.at[d]))
			return {};
	made.lanes = at[MARK_LANES].constant;
	made.what = SALVO_ITEM_LANE;
	if (made.lanes > 1 && !add_access(inst, made))
		made.what = SALVO_ITEM_ANY;
	return made;
}

bool place_finder::can_fault(const MachineInstr &inst) const
{
	if (inst.isInlineAsm())
		return false;
	return inst.mayLoadOrStore() || inst.isCall() ||
	       instructions->getName(inst.getOpcode()).contains("DIV");
}

bool place_finder::runOnMachineFunction(MachineFunction &mf)
{
	Function &f = mf.getFunction();
	SmallVector<MachineInstr *> marks;
	uint32_t before = 0;
	bool begun = false;

	registers = mf.getSubtarget().getRegisterInfo();
	instructions = mf.getSubtarget().getInstrInfo();
	read_tags(f);
	for (MachineBasicBlock &block : mf) {
		location at[MARKS];

		for (MachineInstr &inst : block) {
			if (inst.isDebugValue()) {
				read_mark(inst, at);
				if (mark_of(*inst.getDebugVariable()) >= 0)
					marks.push_back(&inst);
				continue;
			}
			if (inst.isMetaInstruction())
				continue;
			if (!can_fault(inst)) {
				forget_changed(inst, at);
				continue;
			}
			const uint32_t now = all->number(place_of(inst, at));
			if (!begun || now != before) {
				MCSymbol *label = inst.getPreInstrSymbol();
				if (!label) {
					label = mf.getContext().createTempSymbol();
					inst.setPreInstrSymbol(mf, label);
				}
				if (!all->first)
					all->first = label;
				all->points.push_back({ label, now });
				before = now;
				begun = true;
			}
			forget_changed(inst, at);
		}
	}
	for (MachineInstr *mark : marks)
		mark->eraseFromParent();
	if (!debug)
		f.setSubprogram(nullptr);
	return true;
}

void table_writer::endModule()
{
	MCStreamer &out = *printer.OutStreamer;
	MCContext &context = printer.OutContext;
	MCSymbol *here;

	out.switchSection(context.getELFSection(".rodata.salvo", ELF::SHT_PROGBITS,
						ELF::SHF_ALLOC));
	out.emitValueToAlignment(Align(8));
	here = context.getOrCreateSymbol(items_name);
	out.emitLabel(here);
	out.emitInt32(SALVO_ITEMS_VERSION);
	out.emitInt32(all->points.size());
	out.emitInt32(all->places.size());
	out.emitInt32(all->expression_bytes.size());
	if (all->first)
		out.emitAbsoluteSymbolDiff(all->first, here, 4);
	else
		out.emitInt32(0);
	for (const auto &[label, number] : all->points) {
		out.emitAbsoluteSymbolDiff(label, all->first, 4);
		out.emitInt32(number);
	}
	for (const salvo_item_place &place : all->places)
		out.emitBytes(StringRef(reinterpret_cast<const char *>(&place), sizeof(place)));
	out.emitBytes(all->expression_bytes);
}

MachineFunctionPass *find_places(AsmPrinter &printer, bool debug)
{
	return new place_finder(printer, debug);
}
