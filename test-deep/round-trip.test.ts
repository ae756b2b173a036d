/** 2000 values into each language and back, others each time. */
import { describeRoundTrips } from '../test/properties/round-trips.ts'
import { useLazaret } from '../test/support/use-lazaret.ts'

describeRoundTrips(await useLazaret(), 4)
