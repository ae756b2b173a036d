/** fast-check with the seed of the tests. Its own default is the time. */
import fc from 'fast-check'

import { fixedSeed } from './seed.ts'

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: fixedSeed })

export { fc as default }
