/** 3,500 values in three languages: more than 10,000 ways there and back. The deep suite sends 20,000 to each. */
import { useLazaret } from '../support/use-lazaret.ts'
import { describeRoundTrips } from './round-trips.ts'

describeRoundTrips(await useLazaret(), 7)
