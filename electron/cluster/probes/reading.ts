/** What one reading of a server says: one text a role, which for most servers is one. */
import type { JobDelta } from '#core/lustre/job-deltas.ts'
import type { JobEntry } from '#core/lustre/job-stats.ts'
import type { PolicyStatus } from '#core/lustre/nrs-policies.ts'
import type { RuleLine } from '#core/lustre/nrs-tbf-rule.ts'
import type { ByteText } from '#core/lustre/text.ts'
import type { LustreVersion } from '#core/lustre/version.ts'
import type { Service } from '../../base/service.ts'
import type { ServiceWait } from './service-wait.ts'

/** A value as a server printed it, and when. */
export interface ReadText {
  /** On the source's clock, ns. */
  readonly atNs: number
  readonly text: ByteText
}

export interface TargetReading {
  readonly target: string
  readonly entries: readonly JobEntry[]
  /** The text of an entry as the server printed it. */
  readonly rawOf: (entry: JobEntry) => ByteText
  /**
   * Since the reading before, however long ago that was; undefined on the first, and where job_stats was not read.
   */
  readonly deltas: readonly JobDelta[] | undefined
  /** Times this, `deltas` are what was done in one sampling period: the period over the time between the two readings. */
  readonly scale: number
}

/** What schedules one service, and its rules. */
export interface ServiceReading {
  readonly service: Service
  readonly policies: readonly PolicyStatus[]
  readonly rules: readonly RuleLine[]
  /** The value of nrs_tbf_rule as answered; empty when TBF does not run. */
  readonly rulesText: string
  /** false: rules are not read at all, their probe is off. */
  readonly isRead: boolean
  /** How long requests waited, over the time between two readings of its statistics; undefined where that is not known. */
  readonly wait: ServiceWait | undefined
}

/** A server in one of its roles. What is of the server as a whole, its name, release and cost, is the same in each. */
export interface NodeReading extends ServiceReading {
  readonly host: string
  /** The other services of the role. */
  readonly others: readonly ServiceReading[]
  /** As the server named it on the first reading after it began to answer; undefined where it could not be read. */
  readonly version: LustreVersion | undefined
  /** Of the role: none where they are all unmounted. */
  readonly targets: readonly TargetReading[]
  /** Lines that no parser could read. */
  readonly skipped: number
  readonly bytes: number
  /** Time from sending the command to its last byte, ms. */
  readonly tookMs: number
  /** CPU time of that on the server, ms; undefined where this reading was not looked at, null where the server does not tell. */
  readonly cpuMs: number | null | undefined
  /** Sampling period that `scale` of its targets is of, ns. */
  readonly periodNs: number
  /** Time of reading what it answered, ms. */
  readonly parseMs: number
  /** When it was read, on the source's clock, ns. */
  readonly atNs: number
  /** The newest value of each parameter that was read: the very texts, which the entries of its targets refer to as well. */
  readonly texts: ReadonlyMap<string, ReadText>
}

/** What was read of one service in a role; undefined where the role does not have it. */
export const serviceReading = (reading: NodeReading, service: Service): ServiceReading | undefined =>
  [reading, ...reading.others].find((r) => r.service === service)

export type Reading =
  /** One a role, in the order of `SERVICES`. */
  { readonly ok: true; readonly readings: readonly NodeReading[] } | { readonly ok: false; readonly reason: string }
