/** Result of one reading of a server: one per role, which for most servers is one. */
import type { JobDelta } from '#core/lustre/job-deltas.ts'
import type { JobEntry } from '#core/lustre/job-stats.ts'
import type { PolicyStatus } from '#core/lustre/nrs-policies.ts'
import type { RuleLine } from '#core/lustre/nrs-tbf-rule.ts'
import type { ByteText } from '#core/lustre/text.ts'
import type { LustreVersion } from '#core/lustre/version.ts'
import type { Service } from '../../base/service.ts'
import type { ServiceWait } from './service-wait.ts'

/** Value printed by a server, and its time. */
export interface ReadText {
  /** Time on the source's clock, ns. */
  readonly atNs: number
  readonly text: ByteText
}

export interface TargetReading {
  readonly target: string
  readonly entries: readonly JobEntry[]
  /** Text of an entry as printed by the server. */
  readonly rawOf: (entry: JobEntry) => ByteText
  /**
   * Changes since the previous reading, however long ago that was; undefined on the first, and if job_stats was not
   * read.
   */
  readonly deltas: readonly JobDelta[] | undefined
  /** Entries that others cleared since the previous reading. */
  readonly replaced: number
  /** Factor that scales `deltas` to one sampling period: the period over the time between the two readings. */
  readonly scale: number
}

/** Times of a reading as the server's streaming reader reports them. */
export interface StreamTimes {
  /** Number of the reading since the reader started. */
  readonly sequence: number
  /** Uptime of the server when the reading began, ms; in steps of 10. */
  readonly uptimeMs: number
  /** Duration on the server, ms; in steps of 10. */
  readonly tookMs: number
}

/** Policies and rules of one service. */
export interface ServiceReading {
  readonly service: Service
  readonly policies: readonly PolicyStatus[]
  readonly rules: readonly RuleLine[]
  /** Value of nrs_tbf_rule as answered; empty if TBF does not run. */
  readonly rulesText: string
  /** false: rules are not read because their probe is off. */
  readonly isRead: boolean
  /** Wait of requests between two readings of the statistics; undefined if unknown. */
  readonly wait: ServiceWait | undefined
}

/**
 * A server in one of its roles. Properties of the server as a whole, its name, release and cost, are the same in each.
 */
export interface NodeReading extends ServiceReading {
  readonly host: string
  /** The other services of the role. */
  readonly others: readonly ServiceReading[]
  /** Release at the first reading after the server began to answer; undefined if it could not be read. */
  readonly version: LustreVersion | undefined
  /** Targets of the role: none if they are all unmounted. */
  readonly targets: readonly TargetReading[]
  /** Number of lines that could not be parsed. */
  readonly skipped: number
  readonly bytes: number
  /** Time from sending the command to its last byte, ms. */
  readonly tookMs: number
  /**
   * CPU time of the command on the server, ms; undefined if this reading was not measured, null if the server does not
   * report it.
   */
  readonly cpuMs: number | null | undefined
  /** Sampling period that `scale` of its targets refers to, ns. */
  readonly periodNs: number
  /** Time of parsing the answer, ms. */
  readonly parseMs: number
  /** Time of the reading on the source's clock, ns. */
  readonly atNs: number
  /** undefined: the server was read by lctl. */
  readonly stream: StreamTimes | undefined
  /** Newest value of each parameter that was read: the same texts that the entries of its targets refer to. */
  readonly texts: ReadonlyMap<string, ReadText>
}

/** Reading of one service in a role; undefined if the role does not have it. */
export const serviceReading = (reading: NodeReading, service: Service): ServiceReading | undefined =>
  [reading, ...reading.others].find((r) => r.service === service)

export type Reading =
  /** One per role, in the order of `SERVICES`. */
  { readonly ok: true; readonly readings: readonly NodeReading[] } | { readonly ok: false; readonly reason: string }
