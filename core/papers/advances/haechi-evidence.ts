/** Capacity estimate by saturation beside the rule of three sigma: Experiment 4 by sigma and traffic, and low demand. */
import { mean } from '../../base/statistics.ts'
import { HAECHI_EVIDENCE } from '../../controllers/advances.ts'
import type { HaechiSettings } from '../../haechi/settings.ts'
import type { Curve, Part } from '../experiment.ts'
import { ratios } from '../haechi/metrics.ts'
import { estimating, type NodeRun, runNode } from '../haechi/node-run.ts'
import { clientsOf, without } from '../haechi/set-4.ts'
import { CAPACITY, CLIENTS, NOISE, SIZE as SMALL, sizeSetup } from '../haechi/setups.ts'
import { advanceExperiment, type Compared } from './advance.ts'

const SIZE = SMALL / 2
/** % of C_G. The advances do not use sigma: its ends show that. */
const SIGMAS = { original: [0.1, 1, 7], evidence: [0.1, 7], both: [0.1, 7] } as const
const TRAFFIC = [5, 10, 15, 20, 30] as const
/** Part of C_G that is reserved. */
const RESERVED = 0.8
/** Period in which the traffic starts, in which it has ended, and the end of the run. */
const DOWN = 8
const UP = 24
const END = 38
/** Distance of the estimate from the capacity that counts as recovered. */
const NEAR = 0.02
/** Completed / reserved that counts as having the reservation, and periods over which it is averaged. */
const HAS = 0.99
const OVER = 5

const RULES = {
  original: (sigma: number): HaechiSettings => estimating({ sigma }),
  evidence: (sigma: number): HaechiSettings => estimating({ sigma, rule: 'evidence' }),
  both: (sigma: number): HaechiSettings => ({ ...estimating({ sigma, rule: 'evidence' }), conversion: 'deadline' }),
} as const
type Rule = keyof typeof RULES
const RULE_NAMES = Object.keys(RULES) as Rule[]

/** Demand of all clients together, % of C_G, and its pattern: none of them needs the whole capacity. */
const LOW = [
  ['constant', 50],
  ['constant', 85],
  ['constant', 95],
  ['burst', 60],
  ['burst', 85],
] as const
type Low = (typeof LOW)[number]
const LOW_PERIODS = 20

const idOf = (rule: Rule, sigma: number, what: string): string =>
  `advances/haechi-evidence/${what}, sigma ${sigma} %/${rule}`
const trafficName = (traffic: number): string => `traffic ${traffic} %`
const lowName = ([pattern, percent]: Low): string => `low demand, ${pattern} ${percent} %`

const disturbed = (rule: Rule, sigma: number, traffic: number): Part<NodeRun> => ({
  id: idOf(rule, sigma, trafficName(traffic)),
  run: (seed) =>
    runNode(
      {
        clients: clientsOf('zipf'),
        settings: RULES[rule](sigma / 100),
        size: SIZE,
        noise: NOISE,
        warmUp: DOWN,
        measured: END - DOWN,
        capacity: [
          { period: DOWN, iops: without(traffic / 100) },
          { period: UP, iops: CAPACITY },
        ],
      },
      seed,
    ),
})

const low = (rule: Rule, sigma: number, of: Low): Part<NodeRun> => ({
  id: idOf(rule, sigma, lowName(of)),
  run: (seed) =>
    runNode(
      {
        clients: clientsOf('uniform').map(({ reservation }) => ({
          reservation,
          demand: Math.round((of[1] / 100) * (CAPACITY / CLIENTS)),
        })),
        pattern: of[0],
        settings: RULES[rule](sigma / 100),
        size: SIZE,
        noise: NOISE,
        warmUp: 1,
        measured: LOW_PERIODS,
      },
      seed,
    ),
})

type RunOf = (rule: Rule, what: string, sigma: number) => NodeRun

/** Periods until omega is near the capacity; all of them if it never is. */
function periodsUntil({ omega }: NodeRun, capacity: number, from: number, to: number): number {
  const at = omega.slice(from, to).findIndex((tokens) => Math.abs(tokens / capacity - 1) <= NEAR)
  return at < 0 ? to - from : at
}

/** Periods until C1 has what fits of its reservation on the mean of five; all of them if it never has. */
function c1Recovery(run: NodeRun, capacity: number): number {
  const wanted = HAS * Math.min(1, capacity / (RESERVED * CAPACITY))
  const c1 = ratios(run, 0).slice(DOWN, UP)
  const at = c1.findIndex((_, i) => i + OVER <= c1.length && mean(c1.slice(i, i + OVER)) >= wanted)
  return at < 0 ? UP - DOWN : at
}

/** Least completed / reserved of a client, mean of the last five periods with traffic. */
const leastAtEnd = (run: NodeRun): number =>
  Math.min(...run.reservations.map((_, client) => mean(ratios(run, client).slice(UP - OVER, UP))))

function measure(runOf: RunOf): Record<string, Compared> {
  const worst = (
    rule: Rule,
    valueOf: (run: NodeRun, capacity: number) => number,
    traffics: readonly number[] = TRAFFIC,
  ): number =>
    Math.max(
      ...SIGMAS[rule].flatMap((sigma) =>
        traffics.map((traffic) => valueOf(runOf(rule, trafficName(traffic), sigma), without(traffic / 100))),
      ),
    )
  const down = (run: NodeRun, capacity: number): number => periodsUntil(run, capacity, DOWN, UP)
  const up = (run: NodeRun): number => periodsUntil(run, CAPACITY, UP, END)
  const lowest = (rule: Rule): number =>
    Math.min(...SIGMAS[rule].flatMap((sigma) => LOW.flatMap((of) => runOf(rule, lowName(of), sigma).omega))) / CAPACITY
  const error = (run: NodeRun, capacity: number): number => Math.abs(run.omega[UP - 1]! / capacity - 1)
  const fitting = TRAFFIC.filter((traffic) => traffic / 100 < 1 - RESERVED)
  const least = (rule: Rule): number => -worst(rule, (run) => -leastAtEnd(run), fitting)
  return {
    recovery: { advance: worst('evidence', down), original: worst('original', down) },
    return: { advance: worst('evidence', up), original: worst('original', up) },
    error: { advance: worst('evidence', error), original: worst('original', error) },
    'low-demand': { advance: lowest('evidence'), original: lowest('original') },
    'both-recovery': { advance: worst('both', down), original: worst('original', down) },
    'both-low-demand': { advance: lowest('both'), original: lowest('original') },
    'both-c1-recovery': { advance: worst('both', c1Recovery), original: worst('original', c1Recovery) },
    'both-least-client': { advance: least('both'), original: least('original') },
    'ledger-c1-recovery': { advance: worst('evidence', c1Recovery), original: worst('original', c1Recovery) },
  }
}

const curve = (
  runOf: RunOf,
  id: string,
  title: string,
  unit: string,
  valueOf: (run: NodeRun, capacity: number) => number,
): Curve => ({
  kind: 'curve',
  id: `haechi-evidence.${id}`,
  title,
  unit,
  across: 'traffic, % of C_G',
  series: RULE_NAMES.flatMap((rule) =>
    (rule === 'original' ? SIGMAS.original : SIGMAS[rule].slice(0, 1)).map((sigma) => ({
      name: rule === 'original' ? `original, sigma ${sigma} %` : rule === 'both' ? 'evidence and deadline' : 'evidence',
      points: TRAFFIC.map(
        (traffic) => [traffic, valueOf(runOf(rule, trafficName(traffic), sigma), without(traffic / 100))] as const,
      ),
    })),
  ),
})

export const haechiEvidence = advanceExperiment<NodeRun>({
  advance: HAECHI_EVIDENCE,
  setup: [
    `Experiment 4 under zipf reservations of 80 %: traffic takes 5 to 30 % of the capacity in ${UP - DOWN} periods and ends; sigma is set to 0.1, 1 and 7 %. ` +
      'Each period’s capacity is off by up to 0.1 %, from the seed. What fits of a reservation: all of it up to 20 % of traffic.',
    'Low demand: no client wants more than its part of the capacity, 50 to 95 % of it in all, for 20 periods.',
    '`both` adds haechi.deadline: an estimate alone does not change how a pool is shared.',
    sizeSetup(SIZE),
  ],
  parts: RULE_NAMES.flatMap((rule) =>
    SIGMAS[rule].flatMap((sigma) => [
      ...TRAFFIC.map((traffic) => disturbed(rule, sigma, traffic)),
      ...LOW.map((of) => low(rule, sigma, of)),
    ]),
  ),
  measure: (run) => measure((rule, what, sigma) => run(idOf(rule, sigma, what))),
  figures: (run) => {
    const runOf: RunOf = (rule, what, sigma) => run(idOf(rule, sigma, what))
    return [
      curve(runOf, 'recovery', 'Periods until the estimate is within 2 % of the capacity', 'periods', (of, capacity) =>
        periodsUntil(of, capacity, DOWN, UP),
      ),
      curve(runOf, 'c1', 'C1, completed / reserved at the end of the traffic', 'part', (of) =>
        mean(ratios(of, 0).slice(UP - OVER, UP)),
      ),
    ]
  },
})
