/** Experiments of the Haechi paper, in its order, and those on its open questions. */
import type { Experiment } from '../experiment.ts'
import { DEFAULT_SETTINGS, PAPER_LITERAL, type HaechiSettings } from '../../haechi/settings.ts'
import { own } from './open-questions.ts'
import { set1 } from './set-1.ts'
import { set2, learning } from './set-2.ts'
import { set3 } from './set-3.ts'
import { set4, clientsOf, DOWN, SIZE, UNIFORM_15, without } from './set-4.ts'
import { experimentOf, variant, type Variant } from './expectations.ts'
import { clientBars, lines } from './figures.ts'
import { leastMet, meanClients } from './metrics.ts'
import { estimating } from './node-run.ts'
import { CAPACITY, LEARNING_SETUP, reserved, sizeSetup, type Spread } from './setups.ts'

/** Traffic of 15 % ends: the capacity is underestimated (Fig. 18, 19). */
const ending = (key: string, spread: Spread, settings: HaechiSettings, measured: number): Variant =>
  variant('literal', key, {
    clients: clientsOf(spread),
    settings,
    size: SIZE,
    warmUp: DOWN,
    measured,
    capacity: [
      { period: 0, iops: without(0.15) },
      { period: DOWN, iops: CAPACITY },
    ],
  })

const DEFAULTS = learning('zipf', 90)
/** Periods between the two changes of a run of set 4. */
const LOW = 30

/** The paper taken literally (spec/haechi 4, 7, 8): effect of each of its rules, alone and together. */
const literal = experimentOf({
  name: 'cap',
  title: 'The paper taken literally',
  setup: [
    'Set 4, traffic of 15 % that ends, with one rule as the paper prints it: the pool refilled to C_G (T - t) - L, U == omega as ' +
      'the condition to raise omega, a history that a rise does not empty.',
    `${sizeSetup(SIZE)} No noise.`,
    `All of them together and the literal decay, on zipf reservations of 90 % as in 2A. ${LEARNING_SETUP}`,
  ],
  variants: [
    ending('conversion', 'uniform', { ...DEFAULT_SETTINGS, conversion: 'literal' }, 20),
    ending('equality', 'zipf', estimating({ rule: 'literal' }), 20),
    ending('history', 'uniform', estimating({ clearOnIncrease: false }), 25),
    UNIFORM_15,
    learning('zipf', 90, PAPER_LITERAL),
    DEFAULTS,
  ],
  measure(run) {
    const omega = run('equality').omega
    const history = run('history').used.slice(DOWN)
    return {
      'cap.variant.literal_conversion': run('conversion').used[DOWN]!,
      'cap.variant.ledger': run('uniform 15 %').used[DOWN + LOW]!,
      'cap.variant.literal_equality': omega.at(-1)! / omega[DOWN - 1]!,
      'cap.variant.literal_equality.used': run('equality').used.at(-1)! / omega.at(-1)!,
      'cap.variant.literal_history': Math.max(...history.slice(1).map((used, i) => 1 - used / history[i]!)),
      'cap.literal': leastMet(run(`${DEFAULTS.key} ${PAPER_LITERAL.name}`)),
      'cap.defaults': leastMet(run(DEFAULTS.key)),
    }
  },
  figures: (run) => [
    lines('fig18-literal', 'Traffic of 15 % ends, uniform', {
      ledger: run('uniform 15 %').used.slice(DOWN + LOW - 5, DOWN + LOW + 20),
      'literal conversion': run('conversion').used.slice(DOWN - 5, DOWN + 20),
      'history kept': run('history').used.slice(DOWN - 5, DOWN + 20),
    }),
    clientBars('fig9-literal', 'Zipf reservations of 90 %', {
      reserved: reserved('zipf', 0.9),
      defaults: meanClients(run(DEFAULTS.key)),
      literal: meanClients(run(`${DEFAULTS.key} ${PAPER_LITERAL.name}`)),
    }),
  ],
})

export const experiments = [...set1, ...set2, ...set3, ...set4, literal, own] as readonly Experiment[]
