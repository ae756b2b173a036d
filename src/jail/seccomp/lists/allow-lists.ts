/** All allowlists, in the order in which their rules are tried. */
import type { AllowList } from './allow-list.ts'
import { fileLists } from './file-lists.ts'
import { ioctlList } from './ioctl-list.ts'
import { memoryLists } from './memory-lists.ts'
import { messageLists } from './message-lists.ts'
import { processLists, prctlList } from './process-lists.ts'
import { socketKinds } from './socket-kinds.ts'
import { socketOptions } from './socket-options.ts'

export const allowLists = (isZygote: boolean): readonly AllowList[] => [
  prctlList(isZygote),
  ...processLists,
  ...memoryLists,
  ioctlList,
  ...fileLists,
  ...socketKinds,
  ...socketOptions,
  ...messageLists,
]
