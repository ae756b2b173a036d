/** A thousand programs on each kind of host. */
import { drawSeed } from '../../test/support/seed.ts'
import { testDeterminism } from '../../test/support/sizes/snippet-determinism-tests.ts'

testDeterminism(1000, drawSeed())
