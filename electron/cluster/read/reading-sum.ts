/**
 * Sum of consecutive readings of one server: the newest state, with the counts of all readings since the sum was last
 * taken. Every count is in exactly one sum.
 */
import type { JobDelta } from '#core/lustre/job-deltas.ts'
import type { Service } from '../../base/service.ts'
import type { NodeReading } from '../probes/reading.ts'

/** Counts of one job on one target. */
class DeltaSum implements JobDelta {
  readonly jobId: string
  rpcs = 0
  readonly ops = new Map<string, number>()
  readBytes = 0
  writeBytes = 0
  serviceUsecs = 0
  dataRpcs = 0

  constructor(jobId: string) {
    this.jobId = jobId
  }

  add(d: JobDelta): void {
    this.rpcs += d.rpcs
    this.readBytes += d.readBytes
    this.writeBytes += d.writeBytes
    this.serviceUsecs += d.serviceUsecs
    this.dataRpcs += d.dataRpcs
    for (const [op, n] of d.ops) this.ops.set(op, (this.ops.get(op) ?? 0) + n)
  }
}

type Target = NodeReading['targets'][number]

/** One target: its newest reading, and its counts. */
interface TargetSum {
  newest: Target
  /** Time that the counts cover, ns; 0 without any. */
  spanNs: number
  /** Entries that others cleared. */
  replaced: number
  readonly jobs: Map<string, DeltaSum>
}

/** One role of the server. */
interface RoleSum {
  newest: NodeReading
  count: number
  bytes: number
  tookMs: number
  parseMs: number
  readonly targets: Map<string, TargetSum>
}

const newRole = (newest: NodeReading): RoleSum => ({
  newest,
  count: 0,
  bytes: 0,
  tookMs: 0,
  parseMs: 0,
  targets: new Map(),
})

function addTarget(targets: Map<string, TargetSum>, t: Target, periodNs: number): void {
  let sum = targets.get(t.target)
  if (!sum) targets.set(t.target, (sum = { newest: t, spanNs: 0, replaced: 0, jobs: new Map() }))
  sum.newest = t
  sum.replaced += t.replaced
  if (t.deltas === undefined) return
  sum.spanNs += periodNs / t.scale
  for (const d of t.deltas) {
    let job = sum.jobs.get(d.jobId)
    if (!job) sum.jobs.set(d.jobId, (job = new DeltaSum(d.jobId)))
    job.add(d)
  }
}

function addReading(role: RoleSum, reading: NodeReading): void {
  role.newest = reading
  role.count++
  role.bytes += reading.bytes
  role.tookMs += reading.tookMs
  role.parseMs += reading.parseMs
  for (const t of reading.targets) addTarget(role.targets, t, reading.periodNs)
}

/** Reading of a role whose counts are those of all its readings; durations are means of one reading. */
function summed({ newest, count, bytes, tookMs, parseMs, targets }: RoleSum): NodeReading {
  if (count === 1) return newest
  const spanNs = Math.max(0, ...[...targets.values()].map((t) => t.spanNs))
  const periodNs = spanNs > 0 ? spanNs : newest.periodNs
  return {
    ...newest,
    bytes,
    tookMs: tookMs / count,
    parseMs: parseMs / count,
    periodNs,
    // A target that is gone has the counts until then.
    targets: [...targets.values()].map((t) => ({
      ...t.newest,
      replaced: t.replaced,
      deltas: t.spanNs > 0 ? [...t.jobs.values()] : undefined,
      scale: t.spanNs > 0 ? periodNs / t.spanNs : 1,
    })),
  }
}

export class ReadingSum {
  readonly #roles = new Map<Service, RoleSum>()

  get isEmpty(): boolean {
    return this.#roles.size === 0
  }

  /** Adds one reading of the server: one per role. */
  add(readings: readonly NodeReading[]): void {
    for (const reading of readings) {
      let role = this.#roles.get(reading.service)
      if (!role) this.#roles.set(reading.service, (role = newRole(reading)))
      addReading(role, reading)
    }
  }

  /** Sum since the last call, one reading per role; none if nothing was added. */
  take(): readonly NodeReading[] {
    const all = [...this.#roles.values()].map(summed)
    this.#roles.clear()
    return all
  }
}
