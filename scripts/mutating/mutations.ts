/** All defects. When a file changes so that the text of a defect is not in it any more, the defect gets another text. */
import type { Mutation } from './mutation.ts'
import { doors } from './table/doors.ts'
import { ends } from './table/ends.ts'
import { limits } from './table/limits.ts'
import { outcomes } from './table/outcomes.ts'
import { secrets } from './table/secrets.ts'
import { walls } from './table/walls.ts'

export const mutations: readonly Mutation[] = [
  ...walls,
  ...limits,
  ...outcomes,
  ...ends,
  ...doors,
  ...secrets,
]
