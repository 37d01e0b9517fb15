// SPDX-License-Identifier: MIT
/*
 * retype.cc - replaces a function by one of another type
 *
 * The type of an LLVM function is fixed. A new one takes name, attributes, debug info and
 * body of the old one. The caller maps the arguments, which the body still uses, and erases
 * the old function.
 */
#include "salvo_cc.h"

using namespace llvm;

Function *retype(Function &old, FunctionType *type)
{
	Function *f = Function::Create(type, old.getLinkage(), "", old.getParent());
	SmallVector<std::pair<unsigned, MDNode *>> attachments;

	f->copyAttributesFrom(&old);
	f->takeName(&old);
	f->setSubprogram(old.getSubprogram());
	old.getAllMetadata(attachments);
	for (auto &[kind, node] : attachments)
		f->setMetadata(kind, node);
	old.setSubprogram(nullptr);
	f->splice(f->begin(), &old);
	for (Argument &arg : old.args())
		f->getArg(arg.getArgNo())->takeName(&arg);
	return f;
}
