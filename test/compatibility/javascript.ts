/** Programs that run in both Node and Bun. */
import { javascriptFiles } from './javascript-files.ts'
import { javascriptNetwork } from './javascript-network.ts'
import { javascriptProcesses } from './javascript-processes.ts'

export const everyday = [...javascriptFiles, ...javascriptProcesses, ...javascriptNetwork]
