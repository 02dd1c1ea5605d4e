/**
 * Metadata control inside the model: PADLL's controller over the metadata servers of a scenario with
 * `control.metadata`, fed from the emulator's own counters, and its rules on `mdt` and `mdt_readpage`.
 *
 * Decides as the console does: once a second, from the operations of the last second, and immediately when a job of a
 * policy starts or a step of the policies is due. A scenario that only observes or advises is not controlled.
 */
import { NS_PER_MS, NS_PER_S } from '../base/units.ts'
import { MODEL_FENCES } from '../control/fences.ts'
import { planRules } from '../control/plan.ts'
import { serverRules } from '../control/server-rules.ts'
import type { EmulatedCluster } from '../emulator/cluster.ts'
import type { EmulatedMds } from '../emulator/mds.ts'
import { METADATA_RPCS, type MetadataOperation } from '../emulator/operations.ts'
import { limitsOf } from '../emulator/scenario-metadata.ts'
import { MODEL_JOB_OWNERS } from '../lustre/job-owner.ts'
import { MDT_COUNTERS } from '../lustre/job-stats-print.ts'
import { parseNrsPolicies } from '../lustre/nrs-policies.ts'
import { desiredOn } from '../padll/mds/compile.ts'
import { MetadataController } from '../padll/mds/controller.ts'
import { MDS_SERVICES, type MdsService, type OpCounts } from '../padll/mds/operations.ts'
import type { ServiceReading } from '../padll/mds/service-rules.ts'
import type { PolicyInForce } from '../padll/mds/shares.ts'
import type { MdsServer } from '../padll/mds/spots.ts'
import { parsePolicies, PolicySchedule } from '../padll/rules/policy-schedule.ts'
import type { JobQueue } from './control-queue.ts'

/** Counts of one server at a time: operations by job and kind since the start. */
type Counts = ReadonlyMap<string, ReadonlyMap<MetadataOperation, number>>

interface WatchedMds {
  readonly mds: EmulatedMds
  readonly counters: ReadonlySet<string>
  readonly tbf: Readonly<Record<MdsService, ServiceReading['tbf']>>
  /** Oldest first: a second of readings, and the one before. */
  readonly readings: Counts[]
}

export class MetadataControl {
  readonly #controller: MetadataController
  readonly #schedule: PolicySchedule
  readonly #jobs: JobQueue
  readonly #servers: readonly WatchedMds[]
  readonly #periodNs: number
  readonly #intervalNs: number
  readonly #thinning: number
  readonly #remark: (text: string) => void
  #inForce: readonly PolicyInForce[] = []
  #steppedNs = -Infinity
  #nextNs: number

  /** Returns undefined if the scenario does not control metadata. */
  static of(
    cluster: EmulatedCluster,
    jobs: JobQueue,
    options: { readonly thinning: number; readonly remark: (text: string) => void },
  ): MetadataControl | undefined {
    const { control } = cluster.scenario
    if (!control.metadata || control.mode !== 'enforce' || cluster.mds.length === 0) return undefined
    return new MetadataControl(cluster, control.metadata, jobs, options)
  }

  private constructor(
    { mds, scenario }: EmulatedCluster,
    metadata: NonNullable<EmulatedCluster['scenario']['control']['metadata']>,
    jobs: JobQueue,
    { thinning, remark }: { readonly thinning: number; readonly remark: (text: string) => void },
  ) {
    const { algorithm, epsilon, slots = null, policies } = metadata
    const limits = new Map(limitsOf(metadata).map((l) => [l.scope, l.rate]))
    this.#controller = new MetadataController({ algorithm, epsilon, slots, limits }, MODEL_FENCES)
    this.#schedule = new PolicySchedule(parsePolicies(policies))
    this.#jobs = jobs
    this.#servers = mds.map((m) => watched(m))
    this.#periodNs = scenario.control.period_ms * NS_PER_MS
    this.#intervalNs = NS_PER_S / thinning
    this.#thinning = thinning
    this.#remark = remark
    this.#nextNs = this.#periodNs
  }

  /** Time of the next reading. */
  get nextNs(): number {
    return this.#nextNs
  }

  /** Takes a reading, and decides when due. */
  step(nowNs: number): void {
    this.#nextNs = nowNs + this.#periodNs
    const samples = Math.max(1, Math.round(this.#intervalNs / this.#periodNs))
    for (const { mds, readings } of this.#servers) {
      readings.push(countsOf(mds))
      if (readings.length > samples + 1) readings.shift()
    }
    // The first reading is the baseline.
    if (!this.#servers.every((s) => s.readings.length > 1) || !this.#isTime(nowNs)) return
    this.#steppedNs = nowNs
    const servers = this.#servers.map((s) => this.#observed(s))
    const clientsOf = (job: string): number | undefined => this.#jobs.find(job)?.nodes
    const isExempt = (job: string): boolean => MODEL_JOB_OWNERS.isSystem(job, this.#jobs.find(job)?.user ?? '')
    const observation = { servers, policies: this.#inForce, clientsOf, isExempt }
    const { rules, failures } = this.#controller.step(nowNs, observation)
    for (const f of failures) this.#remark(`metadata: ${f.what}${f.why === undefined ? '' : `: ${f.why}`}`)
    for (const { mds } of this.#servers) {
      for (const name of MDS_SERVICES) {
        const { nrs, kick } = serviceOf(mds, name)
        for (const { value } of planRules(mds.name, nrs.rules(), desiredOn(rules, mds.name, name)).commands) {
          const written = nrs.writeRule(value)
          if (!written.ok) this.#remark(`${mds.name} (${name}) refused a rule of metadata control: ${written.error}`)
          kick()
        }
      }
    }
  }

  #isTime(nowNs: number): boolean {
    const isNew = this.#schedule.advance((nowNs / NS_PER_S) * this.#thinning).length > 0
    if (isNew) this.#inForce = this.#schedule.now
    if (isNew || nowNs - this.#steppedNs >= this.#intervalNs) return true
    return this.#inForce.some(
      ({ job }) => !this.#controller.isActive(job) && this.#servers.some((s) => isMoving(s, job)),
    )
  }

  #observed({ mds, counters, tbf, readings }: WatchedMds): MdsServer {
    const service = (name: MdsService): ServiceReading => ({ tbf: tbf[name], rules: serviceOf(mds, name).nrs.rules() })
    const first = readings[0] as Counts
    const last = readings.at(-1) as Counts
    const jobs = new Map<string, OpCounts>()
    for (const [job, ops] of last) {
      const counts = new Map<string, number>()
      for (const [op, n] of ops) {
        const done = n - (first.get(job)?.get(op) ?? 0)
        if (done === 0) continue
        for (const c of METADATA_RPCS[op].counters) if (counters.has(c)) counts.set(c, (counts.get(c) ?? 0) + done)
      }
      if (counts.size > 0) jobs.set(job, counts)
    }
    const spanS = ((readings.length - 1) * this.#periodNs) / NS_PER_S
    const services = { mdt: service('mdt'), mdt_readpage: service('mdt_readpage') }
    return { host: mds.name, profile: mds.profile, services, jobs, spanS }
  }
}

const serviceOf = (mds: EmulatedMds, name: MdsService): EmulatedMds['mdt'] => (name === 'mdt' ? mds.mdt : mds.readpage)

/** Policies of a service stay unchanged during a run. */
function watched(mds: EmulatedMds): WatchedMds {
  const tbfOf = (name: MdsService): ServiceReading['tbf'] => {
    const { nrs } = serviceOf(mds, name)
    const text = nrs.readPolicies()
    const policies = text.ok ? parseNrsPolicies(text.value).policies : []
    return serverRules(mds.name, policies, nrs.rules(), mds.profile).tbf
  }
  return {
    mds,
    readings: [],
    counters: new Set(MDT_COUNTERS(mds.profile)),
    tbf: { mdt: tbfOf('mdt'), mdt_readpage: tbfOf('mdt_readpage') },
  }
}

function countsOf(mds: EmulatedMds): Counts {
  const sums = new Map<string, Map<MetadataOperation, number>>()
  for (const { flow } of mds.mdts) {
    for (const [job, { ops }] of flow) {
      const known = sums.get(job)
      if (!known) sums.set(job, new Map(ops))
      else for (const [op, n] of ops) known.set(op, (known.get(op) ?? 0) + n)
    }
  }
  return sums
}

/** True if a job did something between the last two readings. */
function isMoving({ readings }: WatchedMds, job: string): boolean {
  const before = readings.at(-2)?.get(job)
  const now = readings.at(-1)?.get(job)
  const sum = (ops: ReadonlyMap<string, number> | undefined): number =>
    ops ? [...ops.values()].reduce((s, n) => s + n, 0) : 0
  return sum(now) > sum(before)
}
