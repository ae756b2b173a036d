/** A thousand programs on each kind of host. */
import { testDeterminism } from '../../test/support/sizes/snippet-determinism-tests.ts'

testDeterminism(1000)
