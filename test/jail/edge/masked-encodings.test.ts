/** test-deep/masked-secrets.test.ts draws thousands of other secrets. */
import { describeEncoders } from '../../support/secrets/describe-encoders.ts'
import { fixedSeed } from '../../support/seed.ts'

describeEncoders({ count: 40, seed: fixedSeed })
