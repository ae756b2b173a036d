/** 20,000 values into each language and back. */
import { describeRoundTrips } from '../../test/properties/round-trips.ts'
import { useLazaret } from '../../test/support/use-lazaret.ts'

describeRoundTrips(await useLazaret(), 40)
