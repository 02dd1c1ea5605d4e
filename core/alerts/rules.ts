/** Alert rules: measures, bounds and defaults of each kind. */
import type { AlertKind } from '../snapshot/notebook.ts'

export interface Rule {
  readonly kind: AlertKind
  readonly on: boolean
  readonly threshold: number
  readonly forS: number
  readonly opens: boolean
}

export interface RuleFacts {
  readonly title: string
  readonly about: string
  readonly unit: string
  readonly least: number
  readonly most: number
  readonly usual: Rule
}

export const KINDS: readonly AlertKind[] = ['queue', 'starvation', 'convoy', 'reservation', 'disconnect']

const usual = (kind: AlertKind, threshold: number, forS: number): Rule => ({
  kind,
  on: true,
  threshold,
  forS,
  opens: true,
})

export const RULES: Readonly<Record<AlertKind, RuleFacts>> = {
  queue: {
    title: 'Queue growth',
    about:
      'RPCs queued on a server relative to their 15-minute median; at least 64 RPCs and clearly above the 90th percentile',
    unit: '× usual',
    least: 1.5,
    most: 1_000,
    usual: usual('queue', 4, 20),
  },
  starvation: {
    title: 'Starvation',
    about: 'rate that a waiting job should get, relative to the rate that it gets while its servers serve other jobs',
    unit: '× below its due rate',
    least: 2,
    most: 1_000,
    usual: usual('starvation', 10, 30),
  },
  convoy: {
    title: 'Lock convoy',
    about: 'locks waiting for one resource; with only Lustre counters, eight times as many on one target',
    unit: 'waiters',
    least: 2,
    most: 100_000,
    usual: usual('convoy', 12, 5),
  },
  reservation: {
    title: 'Missed reservation',
    about: 'consecutive periods in which a client of a data node requested its reservation and did not get it',
    unit: 'periods',
    least: 1,
    most: 1_000,
    usual: usual('reservation', 10, 0),
  },
  disconnect: {
    title: 'Disconnect',
    about: 'servers that do not answer',
    unit: 'servers',
    least: 1,
    most: 1_000,
    usual: usual('disconnect', 1, 15),
  },
}

export const DEFAULT_ALERT_RULES: readonly Rule[] = KINDS.map((k) => RULES[k].usual)

/** True if the threshold is within the bounds of its kind. */
export const isWithin = ({ kind, threshold }: Pick<Rule, 'kind' | 'threshold'>): boolean =>
  threshold >= RULES[kind].least && threshold <= RULES[kind].most
