/**
 * The one thread of `lazaret snippet`, which starts when this file is loaded: it takes as long to come up as all the rest
 * takes to load, so nothing that the thread does not need is imported here.
 */
import { compileEngine, expectOneProgram } from '../../../runtimes/snippet/engine-module.ts'
import { SnippetThread } from '../../../runtimes/snippet/thread.ts'

expectOneProgram()
export const snippetThread = new SnippetThread(compileEngine, { isForOne: true })
