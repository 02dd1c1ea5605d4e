/** The rules that the paper prints (spec/haechi 4, 7, 8): effect of each, alone, beside the amended ones. */
import { DEFAULT_SETTINGS, type HaechiSettings } from '../../haechi/settings.ts'
import { experimentOf, variant, type Variant } from './expectations.ts'
import { clientBars, lines } from './figures.ts'
import { FITS } from './fits.ts'
import { leastMet, meanClients } from './metrics.ts'
import { estimating } from './node-run.ts'
import { PRINTED, WIDE } from './readings.ts'
import { learning } from './set-2.ts'
import { clientsOf, DOWN, without } from './set-4.ts'
import { CAPACITY, LEARNING_SETUP, reserved, SIZE, sizeSetup, type Spread } from './setups.ts'

/** Traffic of 15 % ends: the capacity is underestimated (Fig. 18, 19). */
const ending = (key: string, spread: Spread, settings: HaechiSettings, measured: number): Variant =>
  variant('literal', key, () => ({
    clients: clientsOf(spread),
    settings,
    size: SIZE,
    warmUp: DOWN,
    measured,
    capacity: [
      { period: 0, iops: without(0.15) },
      { period: DOWN, iops: CAPACITY },
    ],
  }))

const AMENDED_90 = learning('zipf', 90, WIDE)
const PRINTED_90 = learning('zipf', 90, PRINTED)

const rules = experimentOf({
  name: 'cap',
  title: 'The printed rules one by one',
  setup: [
    'Set 4, traffic of 15 % that ends, with one rule as the paper prints it: the pool refilled to C_G (T - t) - L, U == omega as ' +
      'the condition to raise omega, a history that a rise does not empty. sigma is 7 %, or the traffic would never have ' +
      'been learned. No noise.',
    sizeSetup(SIZE),
    `All of them together and the literal decay, on zipf reservations of 90 % as in 2A. ${LEARNING_SETUP}`,
  ],
  fits: FITS,
  variants: [
    ending('conversion', 'uniform', { ...DEFAULT_SETTINGS, conversion: 'literal' }, 20),
    ending('equality', 'zipf', estimating({ rule: 'literal' }), 20),
    ending('history', 'uniform', estimating({ clearOnIncrease: false }), 25),
    ending('amended', 'uniform', DEFAULT_SETTINGS, 20),
    PRINTED_90,
    AMENDED_90,
  ],
  measure(run) {
    const omega = run('equality').omega
    const history = run('history').used.slice(DOWN)
    return {
      'cap.variant.literal_conversion': run('conversion').used[DOWN]!,
      'cap.variant.ledger': run('amended').used[DOWN]!,
      'cap.variant.literal_equality': omega.at(-1)! / omega[DOWN - 1]!,
      'cap.variant.literal_equality.used': run('equality').used.at(-1)! / omega.at(-1)!,
      'cap.variant.literal_history': Math.max(...history.slice(1).map((used, i) => 1 - used / history[i]!)),
      'cap.literal': leastMet(run(PRINTED_90.key)),
      'cap.defaults': leastMet(run(AMENDED_90.key)),
    }
  },
  figures: (run) => [
    lines('fig18-literal', 'Traffic of 15 % ends, uniform', {
      ledger: run('amended').used.slice(DOWN - 5, DOWN + 20),
      'literal conversion': run('conversion').used.slice(DOWN - 5, DOWN + 20),
      'history kept': run('history').used.slice(DOWN - 5, DOWN + 20),
    }),
    clientBars('fig9-literal', 'Zipf reservations of 90 %', {
      reserved: reserved('zipf', 0.9),
      [WIDE.title]: meanClients(run(AMENDED_90.key)),
      [PRINTED.title]: meanClients(run(PRINTED_90.key)),
    }),
  ],
})

export const printedRules = [rules]
