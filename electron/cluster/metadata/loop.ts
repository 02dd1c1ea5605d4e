/**
 * The control loop of metadata beside the one of data RPCs: reads what jobs did on all MDTs, lets PADLL's controller decide
 * once a second (and at once when a job begins, a step of the policies is due or a setting changes), and shows or writes the
 * rules of `mdt` and `mdt_readpage`.
 *
 * A server that does not answer keeps its rules, and what they allow stays taken from every limit until its timer has removed
 * them; then it is left out. Nothing is tightened by counts that are not there.
 */
import { ok, type Failure, type Result } from '#core/base/result.ts'
import { NS_PER_MS, NS_PER_S } from '#core/base/units.ts'
import type { Mode } from '#core/control/controller.ts'
import { LIVE_FENCES, MODEL_FENCES, type Fences } from '#core/control/fences.ts'
import { serverRules } from '#core/control/server-rules.ts'
import { Watchdog, type Sight } from '#core/control/watchdog.ts'
import { profileOf } from '#core/lustre/profile.ts'
import { desiredOn } from '#core/padll/mds/compile.ts'
import { MetadataController, type MetadataDecision } from '#core/padll/mds/controller.ts'
import { MDS_SERVICES, type MdsService, type OpCounts } from '#core/padll/mds/operations.ts'
import type { PolicyInForce } from '#core/padll/mds/shares.ts'
import type { ServiceReading } from '#core/padll/mds/service-rules.ts'
import type { MdsServer } from '#core/padll/mds/spots.ts'
import type { Audit } from '../../base/audit.ts'
import type { Lease } from '../../enforce/lease.ts'
import { serviceReading, type NodeReading } from '../read/collector.ts'
import type { ClusterSource, NodeConnection } from '../../base/connection.ts'
import type { PlanOutcome, ServerPeriod } from '../control/control-loop.ts'
import { idlePeriod } from '../control/control-loop.ts'
import type { JobIdWatch } from '../state/job-id-watch.ts'
import type { JobRegistry } from '../state/job-registry.ts'
import { MetadataEvents } from './events.ts'
import { MetadataPolicies, type PoliciesAt } from './policies.ts'
import { MetadataSeries } from './series.ts'
import { changedSettings, limitMap, type KeptMetadataSettings } from './settings.ts'
import type { MetadataChange, MetadataPreview, MetadataSettings, MetadataState } from './state.ts'
import { type LastServer, metadataState } from './view.ts'
import { countsOf, MetadataWindow } from './window.ts'
import { MetadataWriter, type DesiredServices, type WriterOptions, type WrittenServer } from './writer.ts'
import { SERVICES } from '../../base/service.ts'

/** What one sample brings. */
export interface MetadataSample {
  readonly sample: number
  readonly atNs: number
  readonly mode: Mode
  readonly read: readonly { readonly node: NodeConnection; readonly reading: NodeReading }[]
  /** A metadata server is still being read: what jobs did on all of them is not known. */
  readonly isLate: boolean
  /** Metadata servers that do not answer, and why. */
  readonly silent: ReadonlyMap<string, string>
  readonly jobs: JobRegistry
}

/** What jobs did is judged over so long, s, or over one sample where samples are longer. */
const SPAN_S = 1

export class MetadataLoop {
  readonly series: MetadataSeries
  readonly #source: ClusterSource
  readonly #writer: MetadataWriter
  readonly #controller: MetadataController
  readonly #window: MetadataWindow
  /** Servers seen in part are held, then relaxed. */
  readonly #watchdog: Watchdog
  /** What the watchdog says of each server that answered in the newest sample. */
  readonly #seen = new Map<string, Sight>()
  readonly #fences: Fences
  readonly #jobIds: Pick<JobIdWatch, 'isSystem'>
  /** Since when plans have been shown; undefined while there are none. */
  #shownSinceNs: number | undefined
  readonly #events = new MetadataEvents()
  readonly #kept: KeptMetadataSettings | undefined
  readonly #servers = new Map<string, LastServer>()
  #settings: MetadataSettings
  #policies: MetadataPolicies
  #decision: MetadataDecision | undefined
  #inForce: readonly PolicyInForce[] = []
  #mode: Mode
  #cycle = 0
  #cycleMs: number | null = null
  #steppedNs = -Infinity
  #shownNs = -Infinity
  /** A setting changed since the last cycle. */
  #isDue = true

  constructor(
    source: ClusterSource,
    audit: Audit,
    session: string,
    start: {
      readonly mode: Mode
      readonly settings: MetadataSettings
      /** @default by the kind of the source: narrower on real servers */
      readonly fences?: Fences | undefined
      /** Which jobs are never limited. */
      readonly jobIds: Pick<JobIdWatch, 'isSystem'>
    } & WriterOptions,
    kept?: KeptMetadataSettings,
  ) {
    this.#source = source
    this.#mode = start.mode
    this.#kept = kept
    this.#settings = kept?.load() ?? start.settings
    if (this.#settings.policies !== '' && this.#settings.startedMs === null) {
      this.#settings = { ...this.#settings, startedMs: this.#nowMs() }
    }
    this.#policies = new MetadataPolicies(this.#settings.policies)
    this.#writer = new MetadataWriter(source, audit, session, start)
    this.#jobIds = start.jobIds
    this.#fences = start.fences ?? (source.kind === 'LIVE' ? LIVE_FENCES : MODEL_FENCES)
    this.#controller = new MetadataController(controlOf(this.#settings), this.#fences)
    this.#watchdog = new Watchdog(this.#fences.holdNs)
    this.#window = new MetadataWindow(SPAN_S)
    this.series = new MetadataSeries(SPAN_S)
  }

  get settings(): MetadataSettings {
    return this.#settings
  }

  /** Whether there is anything to control: a source without metadata servers has no such plane. */
  get hasServers(): boolean {
    return this.#source.nodes.some((n) => n.roles.includes('mds'))
  }

  get failures(): readonly Failure[] {
    return [...this.#writer.failures, ...(this.#decision?.failures ?? [])]
  }

  /** Everything of the control cycle at or before a sample; undefined when it is no longer (or not yet) known. */
  stateAt(sample: number): MetadataState | undefined {
    return this.series.stateAt(sample)
  }

  outcome(host: string, service: string): PlanOutcome | undefined {
    const known = MDS_SERVICES.find((s) => s === service)
    return known && this.#writer.outcome(host, known)
  }

  lease(host: string): Lease | undefined {
    return this.#writer.lease(host)
  }

  /** Servers on which a command is under way. */
  get busy(): ReadonlySet<string> {
    return this.#writer.busy
  }

  /** Resolves when nothing is under way, or after so many ms of wall time; @returns servers on which something still is. */
  over(ms: number): Promise<ReadonlySet<string>> {
    return this.#writer.over(ms)
  }

  /** Checks a change; `apply` puts it in force. Failures: those of `changedSettings`. */
  check(change: MetadataChange): Result<MetadataSettings> {
    return changedSettings(this.#settings, change, this.#nowMs())
  }

  apply(settings: MetadataSettings, what: string): void {
    const isOther = settings.policies !== this.#settings.policies || settings.startedMs !== this.#settings.startedMs
    if (isOther) this.#policies = new MetadataPolicies(settings.policies)
    this.#settings = settings
    this.#controller.setSettings(controlOf(settings))
    this.#kept?.keep(settings)
    this.#isDue = true
    this.#events.add(this.#nowMs(), 'controller', what, this.#source.cluster)
  }

  /** What a change would send now, were it in force from this instant on. Nothing is kept. */
  preview(change: MetadataChange, jobs: JobRegistry): Result<MetadataPreview> {
    const checked = this.check(change)
    if (!checked.ok) return checked
    const settings = checked.value
    const isKnown = (job: string): boolean => jobs.find(job) !== undefined
    const at = new MetadataPolicies(settings.policies).at(secondOf(settings, this.#nowMs()), isKnown)
    const servers = this.#observed()
    const trial = new MetadataController(controlOf(settings), this.#fences)
    const { rules, unexpressed } = trial.step(this.#source.nowNs(), {
      servers,
      policies: at.inForce,
      clientsOf: (job) => jobs.find(job)?.nodes,
      isExempt: (job) => this.#isExempt(job, jobs),
    })
    const commands = [...this.#servers.values()].map(({ written, reading }) => ({
      host: reading.host,
      commands: MetadataWriter.commandsOf(written, desiredOf(rules, reading.host)),
    }))
    return ok({ steps: at.steps, unexpressed, commands })
  }

  /**
   * Takes one sample, and decides when it is time to.
   *
   * @returns  the servers that answered, with their rules as they stand for the next period.
   */
  async look(s: MetadataSample): Promise<ReadonlyMap<string, ServerPeriod>> {
    const began = performance.now()
    const atMs = this.#source.toUnixMs(s.atNs)
    if (s.mode !== this.#mode) {
      this.#mode = s.mode
      this.#writer.forgetFailures()
      this.#isDue = true
    }
    if (this.#mode === 'observe' || this.#settings.policies === '') this.#shownSinceNs = undefined
    else this.#shownSinceNs ??= s.atNs
    const counts = this.#take(s, atMs)
    const isDue = this.#isTime(s, counts)
    if (isDue) this.#decide(s)
    if (isDue || this.#mode !== 'enforce' || this.#shadowLeftNs(s.atNs) > 0) await this.#write(s, isDue)
    this.series.push(atMs, counts, this.#decision?.shares ?? [], this.#settings, this.#source.periodNs / NS_PER_S)
    if (isDue) this.#cycleMs = performance.now() - began
    if (isDue || this.#isStale(s.atNs)) {
      this.#shownNs = s.atNs
      const policies = this.#policies.at(secondOf(this.#settings, atMs), (job) => s.jobs.find(job) !== undefined)
      this.#events.policies(atMs, policies.steps)
      this.series.keep(this.#stateNow(s.sample, atMs, policies))
    }
    return new Map(s.read.map(({ reading }) => [reading.host, this.#period(reading)]))
  }

  /** Counts of the sample by job, one map a server; undefined where a server was not measured. */
  #take(s: MetadataSample, atMs: number): ReadonlyMap<string, readonly OpCounts[]> | undefined {
    let isWhole = s.silent.size === 0 && !s.isLate
    const all = new Map<string, OpCounts[]>()
    const periodS = this.#source.periodNs / NS_PER_S
    for (const { node, reading } of s.read) {
      const { host } = reading
      const counts = countsOf(reading)
      this.#window.add(host, counts, periodS)
      this.#seen.set(host, this.#watchdog.look(host, reading.targets, s.atNs))
      isWhole &&= counts !== undefined
      for (const [job, ops] of counts ?? []) {
        const list = all.get(job)
        if (list) list.push(ops)
        else all.set(job, [ops])
      }
      const known = this.#servers.get(host)
      if (known?.silent !== undefined) this.#events.add(atMs, 'lost', `${host} answers again`, host)
      this.#servers.set(host, {
        written: { node, services: statesOf(reading) },
        reading,
        seenMs: atMs,
        silent: undefined,
      })
    }
    for (const [host, why] of s.silent) {
      this.#window.add(host, undefined, periodS)
      const known = this.#servers.get(host)
      if (!known || known.silent !== undefined) continue
      known.silent = why
      this.#events.add(atMs, 'lost', `${host} does not answer: ${why}`, host)
    }
    return isWhole ? all : undefined
  }

  #isTime(s: MetadataSample, counts: ReadonlyMap<string, unknown> | undefined): boolean {
    // Without any counts there is nothing to judge by: what stands, stands.
    if (!s.read.some(({ reading }) => this.#window.has(reading.host))) return false
    const before = this.#inForce
    this.#inForce = this.#policies.advance(secondOf(this.#settings, this.#nowMs()))
    if (this.#isDue || before !== this.#inForce) return true
    const sinceNs = s.atNs - this.#steppedNs
    // A clock that was set back begins anew.
    if (sinceNs >= this.#settings.intervalMs * NS_PER_MS || sinceNs < 0) return true
    return this.#inForce.some((p) => counts?.has(p.job) === true && !this.#controller.isActive(p.job))
  }

  /** Where nothing can be decided, that servers are silent is shown all the same: old figures never stand for new ones. */
  #isStale(atNs: number): boolean {
    const sinceNs = atNs - this.#shownNs
    return this.hasServers && (sinceNs >= this.#settings.intervalMs * NS_PER_MS || sinceNs < 0)
  }

  /** Servers as the controller sees them; one that is silent stays while rules of ours may be in force there. */
  #observed(): MdsServer[] {
    const nowNs = this.#source.nowNs()
    return [...this.#servers.values()].flatMap(({ reading, written, silent }) => {
      const { host, version } = reading
      if (silent !== undefined && (this.#writer.lease(host)?.state?.expiresNs ?? 0) <= nowNs) return []
      const profile = profileOf(version)
      const service = (name: MdsService): ServiceReading => {
        const policies = serviceReading(reading, SERVICES[name])?.policies ?? []
        const { rules } = written.services[name]
        return { rules, tbf: serverRules(host, policies, rules, profile).tbf }
      }
      const services = { mdt: service('mdt'), mdt_readpage: service('mdt_readpage') }
      // Rules of a server that is seen in part stay as they are.
      const isWhole = silent === undefined && this.#seen.get(host) === 'act'
      const counts = isWhole ? this.#window.of(host) : undefined
      return [{ host, profile, services, jobs: counts?.jobs, spanS: counts?.spanS ?? 1 }]
    })
  }

  #isExempt(job: string, jobs: JobRegistry): boolean {
    return this.#jobIds.isSystem(job, jobs.find(job)?.user ?? '')
  }

  /** Time for which plans are still only shown although the mode is enforce, ns. */
  #shadowLeftNs(nowNs: number): number {
    return Math.max(0, (this.#shownSinceNs ?? nowNs) + this.#fences.shadowNs - nowNs)
  }

  #decide(s: MetadataSample): void {
    this.#isDue = false
    this.#steppedNs = s.atNs
    this.#cycle++
    const clientsOf = (job: string): number | undefined => s.jobs.find(job)?.nodes
    const isExempt = (job: string): boolean => this.#isExempt(job, s.jobs)
    const observation = { servers: this.#observed(), policies: this.#inForce, clientsOf, isExempt }
    this.#decision = this.#controller.step(s.atNs, observation)
    const atMs = this.#source.toUnixMs(s.atNs)
    for (const job of this.#decision.joined) this.#events.add(atMs, 'join', `${job} began`, '')
    for (const job of this.#decision.left) this.#events.add(atMs, 'leave', `${job} is idle`, '')
  }

  async #write(s: MetadataSample, isDue: boolean): Promise<void> {
    const answering = [...this.#servers.values()].filter((x) => x.silent === undefined)
    const relaxed = new Set<string>()
    const shadowLeftNs = this.#shadowLeftNs(s.atNs)
    if (this.#mode === 'enforce' && shadowLeftNs === 0) {
      const measured = answering.filter(({ reading }) => {
        const seen = this.#seen.get(reading.host)
        if (seen === 'relax') relaxed.add(reading.host)
        return seen !== 'relax' && this.#window.has(reading.host) && reading.version !== undefined
      })
      await Promise.all(
        answering
          .filter(({ reading }) => relaxed.has(reading.host) && this.#writer.isWritten(reading.host))
          .map(({ written }) => this.#writer.withdraw(written)),
      )
      const rules = this.#decision?.rules ?? []
      await this.#writer.keep(
        measured.map(({ written, reading }) => ({ server: written, desired: desiredOf(rules, reading.host) })),
        s.atNs,
      )
      return
    }
    const isLeft = (x: LastServer): boolean => this.#writer.isWritten(x.reading.host)
    const left = answering.filter(isLeft)
    if (this.#mode !== 'observe' && isDue) {
      const leftS = Math.ceil(shadowLeftNs / NS_PER_S)
      const detail = this.#mode === 'enforce' ? `shown first, written in ${leftS} s` : 'advise: not written'
      for (const { written, reading } of answering.filter((x) => !isLeft(x))) {
        this.#writer.show(written, desiredOf(this.#decision?.rules ?? [], reading.host), detail)
      }
    }
    await Promise.all(left.map(({ written }) => this.#writer.withdraw(written)))
  }

  #period(reading: NodeReading): ServerPeriod {
    const services = this.#servers.get(reading.host)?.written.services ?? statesOf(reading)
    const others = reading.others.map(({ service, rules, rulesText }) => {
      const written = service.name === 'mdt_readpage' ? services.mdt_readpage : undefined
      return { service: service.name, rules: written?.rules ?? rules, rulesText: written?.rulesText ?? rulesText }
    })
    const idle = idlePeriod(reading.host, services.mdt.rules, services.mdt.rulesText)
    return { ...idle, service: 'mdt', others }
  }

  #stateNow(sample: number, atMs: number, policies: PoliciesAt): MetadataState {
    return metadataState({
      ...{ sample, atMs, cycle: this.#cycle, cycleMs: this.#cycleMs, settings: this.#settings },
      ...{ decision: this.#decision, policies, failures: this.failures, events: this.#events.last },
      hosts: this.#source.nodes.filter((n) => n.roles.includes('mds')).map((n) => n.host),
      serverOf: (host) => this.#servers.get(host),
      countsOf: (host) => this.#window.of(host),
      leaseUntilMs: (host) => {
        const state = this.#writer.lease(host)?.state
        return state ? this.#source.toUnixMs(state.expiresNs) : null
      },
    })
  }

  #nowMs(): number {
    return this.#source.toUnixMs(this.#source.nowNs())
  }
}

/** Second of the policy file at an instant. */
const secondOf = ({ startedMs }: MetadataSettings, nowMs: number): number =>
  startedMs === null ? 0 : Math.max(0, (nowMs - startedMs) / 1000)

const controlOf = (s: MetadataSettings): ConstructorParameters<typeof MetadataController>[0] => ({
  algorithm: s.algorithm,
  epsilon: s.epsilon,
  slots: s.slots,
  limits: limitMap(s),
})

const desiredOf = (rules: Parameters<typeof desiredOn>[0], host: string): DesiredServices => ({
  mdt: desiredOn(rules, host, 'mdt'),
  mdt_readpage: desiredOn(rules, host, 'mdt_readpage'),
})

function statesOf(reading: NodeReading): WrittenServer['services'] {
  const state = (name: MdsService): { rules: NodeReading['rules']; rulesText: string } => {
    const { rules = [], rulesText = '' } = serviceReading(reading, SERVICES[name]) ?? {}
    return { rules, rulesText }
  }
  return { mdt: state('mdt'), mdt_readpage: state('mdt_readpage') }
}
