/** Experiments on the paper's verbal claims and open questions: the data node's CPU, limits, and the cost of tokens. */
import { experimentOf, variant } from './expectations.ts'
import { clientBars } from './figures.ts'
import { FITS } from './fits.ts'
import { meanClients, meanTotal } from './metrics.ts'
import { FIXED } from './node-run.ts'
import { TWO_SIDED } from './set-1.ts'
import { PLAIN, PLAIN_BARE } from './set-2.ts'
import { CAPACITY, demanding, FIXED_SETUP, reserved, SETTLED } from './setups.ts'

const LIMIT = 100_000
const limited = demanding(reserved('uniform', 0.9), 0.9).map((client, i) =>
  i === 0 ? { reservation: 50_000, demand: client.demand, limit: LIMIT } : client,
)

export const openQuestions = experimentOf({
  name: 'own',
  title: 'The data node’s CPU, the cost of tokens, limits',
  setup: [
    'Uniform reservations of 90 %, demand as in 2A. With a limit every I/O is simulated, otherwise one represents 8.',
    FIXED_SETUP,
    'Beside the three readings, so that the cost of tokens does not depend on what the estimator learns.',
    'Limit: C1 reserves 50 K.',
  ],
  fits: FITS,
  variants: [
    PLAIN,
    PLAIN_BARE,
    TWO_SIDED,
    variant('own', 'limit', () => ({ clients: limited, settings: FIXED, size: 1, ...SETTLED })),
  ],
  measure(run) {
    const plain = run(PLAIN.key)
    const two = run(TWO_SIDED.key)
    const limit = run('limit')
    const first = limit.completed.slice(limit.warmUp).map((period) => period[0]!)
    return {
      'own.cpu': plain.counters.cpuEventsForData / plain.counters.dataIos,
      'own.cpu.two_sided': two.counters.cpuEventsForData / two.counters.dataIos,
      'own.loss': 1 - meanTotal(plain) / meanTotal(run(PLAIN_BARE.key)),
      limit: first.reduce((far, n) => (Math.abs(n - LIMIT) > Math.abs(far - LIMIT) ? n : far)),
      'limit.total': meanTotal(limit) / CAPACITY,
    }
  },
  figures: (run) => [
    clientBars('limit', 'C1 limited to 100 K', {
      reserved: limited.map(({ reservation }) => reservation),
      completed: meanClients(run('limit')),
    }),
  ],
})
