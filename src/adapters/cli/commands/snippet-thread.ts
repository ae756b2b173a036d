/**
 * The one thread of `lazaret snippet`, which starts when this file is loaded. It starts while the rest of the command
 * loads, and both take about as long, so this file imports only what the thread needs.
 */
import { compileEngine, expectOneProgram } from '../../../runtimes/snippet/engine-module.ts'
import { SnippetThread } from '../../../runtimes/snippet/thread.ts'

expectOneProgram()
export const snippetThread = new SnippetThread(compileEngine, { isForOne: true })
