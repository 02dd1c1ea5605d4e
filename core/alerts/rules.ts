/**
 * Registry of alert kinds: plane, measure, threshold with its bounds, clear level and times. The watch, the settings, the events, the
 * rules dialog and the table of docs/incidents.md derive from it or are tested against it.
 */
import { alertKind, type AlertKind, type AlertPlane } from '../snapshot/notebook.ts'
import type { LevelKind } from './figures.ts'

export interface Rule {
  readonly kind: AlertKind
  readonly on: boolean
  readonly threshold: number
  readonly forS: number
  readonly opens: boolean
}

/** Event by which the component that measures a condition reports it itself; its text begins with `text`. */
export interface OwnEvent {
  readonly kind: 'alarm' | 'lost'
  readonly subject: string
  readonly text: string
}

export interface RuleFacts {
  readonly title: string
  readonly plane: AlertPlane
  /** Measure compared with the threshold. */
  readonly about: string
  readonly unit: string
  readonly least: number
  readonly most: number
  /** Clear level as a share of the threshold; 0: an alert ends only when the measure is 0. */
  readonly clear: number
  /** Time below the clear level after which an alert ends, s. */
  readonly holdS: number
  /** Level of its alerts; starvation in stages is `watch`. */
  readonly level: 'watch' | 'bad'
  /** Subject of its events. */
  readonly subject: string
  readonly ownEvent?: OwnEvent | undefined
  readonly usual: Rule
}

export const KINDS: readonly AlertKind[] = alertKind.options

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
    plane: 'data',
    about:
      'RPCs queued on a server relative to their 15-minute median; at least 64 RPCs and clearly above the 90th percentile',
    unit: '× usual',
    least: 1.5,
    most: 1_000,
    clear: 0.5,
    holdS: 15,
    level: 'watch',
    subject: 'Queue',
    usual: usual('queue', 4, 20),
  },
  starvation: {
    title: 'Starvation',
    plane: 'data',
    about: 'rate that a waiting job should get, relative to the rate that it gets while its servers serve other jobs',
    unit: '× below its due rate',
    least: 2,
    most: 1_000,
    clear: 0.5,
    holdS: 15,
    level: 'bad',
    subject: 'Starvation',
    usual: usual('starvation', 10, 30),
  },
  convoy: {
    title: 'Lock convoy',
    plane: 'locks',
    about: 'locks waiting for one resource; with only Lustre counters, eight times as many on one target',
    unit: 'waiters',
    least: 2,
    most: 100_000,
    clear: 0.5,
    holdS: 3,
    level: 'watch',
    subject: 'Locks',
    ownEvent: { kind: 'alarm', subject: 'Locks', text: 'Convoy' },
    usual: usual('convoy', 12, 5),
  },
  'ping-pong': {
    title: 'Lock ping-pong',
    plane: 'locks',
    about: 'changes of the owner of one resource for which the new owner had to wait; not counted in a convoy',
    unit: 'owner changes/s',
    least: 20,
    most: 100_000,
    clear: 0.5,
    holdS: 10,
    level: 'watch',
    subject: 'Locks',
    ownEvent: { kind: 'alarm', subject: 'Locks', text: 'Ping-pong' },
    usual: usual('ping-pong', 100, 15),
  },
  'lock-wait': {
    title: 'Lock wait',
    plane: 'locks',
    about:
      '95th percentile of the time that lock requests of one resource waited in the last 5 s, ungranted ones included',
    unit: 'ms',
    least: 1,
    most: 1_000_000,
    clear: 0.5,
    holdS: 10,
    level: 'watch',
    subject: 'Locks',
    usual: usual('lock-wait', 2_000, 10),
  },
  eviction: {
    title: 'Eviction risk',
    plane: 'locks',
    about:
      'age of the oldest revoked lock that a client has not released; with only Lustre counters, locks that timed out',
    unit: '% of the timeout',
    least: 5,
    most: 100,
    clear: 0.5,
    holdS: 3,
    level: 'bad',
    subject: 'Locks',
    ownEvent: { kind: 'alarm', subject: 'Locks', text: 'Eviction risk' },
    usual: usual('eviction', 50, 0),
  },
  'lock-server': {
    title: 'Silent lock server',
    plane: 'locks',
    about: 'time that the oldest request to a lock server waits while the server processes no message',
    unit: 's',
    least: 0.1,
    most: 3_600,
    clear: 0,
    holdS: 5,
    level: 'bad',
    subject: 'Locks',
    usual: usual('lock-server', 5, 0),
  },
  'metadata-wait': {
    title: 'Metadata wait',
    plane: 'metadata',
    about: 'mean time that an operation of a job waits in its stages',
    unit: 'ms',
    least: 1,
    most: 10_000_000,
    clear: 0.5,
    holdS: 15,
    level: 'watch',
    subject: 'PADLL',
    usual: usual('metadata-wait', 30_000, 30),
  },
  'false-allocation': {
    title: 'False allocation',
    plane: 'metadata',
    about: 'rate that jobs are allocated and do not use while operations of another job wait',
    unit: '% of the limit',
    least: 1,
    most: 100,
    clear: 0.5,
    holdS: 15,
    level: 'watch',
    subject: 'PADLL',
    usual: usual('false-allocation', 30, 60),
  },
  stage: {
    title: 'Lost stage',
    plane: 'metadata',
    about: 'stages of one client that send no heartbeat, or whose local controller does not',
    unit: 'stages',
    least: 1,
    most: 10_000,
    clear: 0,
    holdS: 5,
    level: 'watch',
    subject: 'PADLL',
    ownEvent: { kind: 'lost', subject: 'PADLL', text: '' },
    usual: usual('stage', 1, 10),
  },
  controller: {
    title: 'No metadata controller',
    plane: 'metadata',
    about: 'time without a status of a global controller of PADLL that is in command: silent, unreadable or superseded',
    unit: 's',
    least: 1,
    most: 3_600,
    clear: 0,
    holdS: 5,
    level: 'bad',
    subject: 'PADLL',
    ownEvent: { kind: 'lost', subject: 'PADLL', text: '' },
    usual: usual('controller', 10, 0),
  },
  mds: {
    title: 'Saturated MDS',
    plane: 'metadata',
    about:
      '95th percentile of the time that requests of an MDS wait for a thread; not judged while TBF rules limit them',
    unit: 'ms',
    least: 1,
    most: 1_000_000,
    clear: 0.5,
    holdS: 15,
    level: 'watch',
    subject: 'Queue',
    usual: usual('mds', 500, 15),
  },
  reservation: {
    title: 'Missed reservation',
    plane: 'tokens',
    about: 'consecutive periods in which a client of a data node requested its reservation and did not get it',
    unit: 'periods',
    least: 1,
    most: 1_000,
    clear: 0,
    holdS: 0,
    level: 'bad',
    subject: 'Tokens',
    usual: usual('reservation', 10, 0),
  },
  'pool-empty': {
    title: 'Empty pool',
    plane: 'tokens',
    about:
      'tokens of a period that are not used while the pool is empty and a client with waiting requests has no token',
    unit: '% of the tokens',
    least: 1,
    most: 100,
    clear: 0.5,
    holdS: 5,
    level: 'watch',
    subject: 'Tokens',
    usual: usual('pool-empty', 25, 10),
  },
  'pool-idle': {
    title: 'Unused tokens',
    plane: 'tokens',
    about:
      'tokens of a period that are not used while clients that have tokens, or find some in the pool, have waiting requests',
    unit: '% of the tokens',
    least: 1,
    most: 100,
    clear: 0.5,
    holdS: 5,
    level: 'watch',
    subject: 'Tokens',
    usual: usual('pool-idle', 25, 10),
  },
  capacity: {
    title: 'Capacity estimate',
    plane: 'tokens',
    about: 'tokens of the next period below those of the profiled capacity',
    unit: '% below the profile',
    least: 1,
    most: 100,
    clear: 0.5,
    holdS: 5,
    level: 'watch',
    subject: 'Tokens',
    usual: usual('capacity', 15, 30),
  },
  'token-client': {
    title: 'Silent token client',
    plane: 'tokens',
    about: 'consecutive periods in which a client of a data node with a reservation sent no report that was asked for',
    unit: 'periods',
    least: 1,
    most: 1_000,
    clear: 0,
    holdS: 0,
    level: 'bad',
    subject: 'Tokens',
    usual: usual('token-client', 3, 0),
  },
  disconnect: {
    title: 'Disconnect',
    plane: 'source',
    about: 'servers that do not answer',
    unit: 'servers',
    least: 1,
    most: 1_000,
    clear: 0,
    holdS: 5,
    level: 'bad',
    subject: 'Source',
    ownEvent: { kind: 'lost', subject: 'Source', text: '' },
    usual: usual('disconnect', 1, 15),
  },
}

/** Kinds with a detector of their own. */
const DETECTED: readonly AlertKind[] = ['queue', 'starvation', 'convoy', 'reservation', 'disconnect']
const isLevelKind = (kind: AlertKind): kind is LevelKind => !DETECTED.includes(kind)
export const LEVEL_KINDS: readonly LevelKind[] = KINDS.filter(isLevelKind)

export const DEFAULT_ALERT_RULES: readonly Rule[] = KINDS.map((k) => RULES[k].usual)

/** True if the threshold is within the bounds of its kind. */
export const isWithin = ({ kind, threshold }: Pick<Rule, 'kind' | 'threshold'>): boolean =>
  threshold >= RULES[kind].least && threshold <= RULES[kind].most
