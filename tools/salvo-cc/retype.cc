// SPDX-License-Identifier: MIT
/*
 * retype.cc - a function gets another type
 *
 * LLVM's functions keep the type they were made with. Here a new one takes the name,
 * attributes, debug info and body of the old one; what it has more or other arguments
 * for is the caller's, as is the end of the old one, whose arguments the body still uses.
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
