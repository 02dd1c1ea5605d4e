/**
 * Reads one server, OSS, MDS or both: a single `lctl get_param` per sample for everything that is due, parsed into
 * typed records. Text that cannot be parsed is counted and skipped; values that cannot be read are reported.
 *
 * Occasionally each probe is read by a command of its own, which shows its cost; the time of a common command is
 * divided in that proportion.
 */
import { firstLine } from '#core/base/plain-text.ts'
import { formatReason, ok, type Result } from '#core/base/result.ts'
import { PERIOD_MAX_NS, PERIOD_MIN_NS } from '#core/adaptbf/period.ts'
import { getParamCommand, splitParams } from '#core/lustre/lctl.ts'
import type { ByteText } from '#core/lustre/text.ts'
import { parseVersion, type LustreVersion } from '#core/lustre/version.ts'
import { parseNrsPolicies } from '#core/lustre/nrs-policies.ts'
import { parseNrsTbfRule } from '#core/lustre/nrs-tbf-rule.ts'
import type { ClusterSource, NodeConnection, NodeRole } from '../../base/connection.ts'
import type { ProbeScheduler } from '../probes/probe-scheduler.ts'
import { readCosts, type PartOfReading } from '../probes/shares.ts'
import type { ServerProbe } from '../probes/server-probe.ts'
import { TargetTables, type ServedTarget } from '../probes/target-tables.ts'
import type { NodeReading, Reading, ReadText, ServiceReading, StreamTimes } from '../probes/reading.ts'
import { isJobStats, SERVICES, servicesOf, statsOf, type Service } from '../../base/service.ts'
import { detach } from '../../base/detach.ts'
import { ServerClock } from './server-clock.ts'
import { WaitMeter } from '../probes/service-wait.ts'

type Rules = Pick<ServiceReading, 'policies' | 'rules' | 'rulesText'>

const NOTHING: Rules = { policies: [], rules: [], rulesText: '' }

/** Rules, policies and statistics of one service from reading to reading: unchanged text is not parsed again. */
class ServiceTexts {
  readonly service: Service
  readonly #wait = new WaitMeter()
  #policiesText = ''
  #rules: Rules = NOTHING
  #skippedPolicies = 0
  #skippedRules = 0

  constructor(service: Service) {
    this.service = service
  }

  /** Known lines that could not be parsed. */
  get skipped(): number {
    return this.#skippedPolicies + this.#skippedRules
  }

  /**
   * @param isDue  true if rules and policies are among the values: otherwise the previous ones are kept.
   * @param isOn   true if they are read at all.
   */
  take(values: ReadonlyMap<string, ByteText>, isDue: boolean, isOn: boolean): ServiceReading {
    if (isDue) this.#read(values)
    else if (!isOn) {
      this.#rules = NOTHING
      this.#policiesText = ''
      this.#skippedPolicies = this.#skippedRules = 0
    }
    const wait = this.#wait.take(values.get(statsOf(this.service)))
    return { service: this.service, ...this.#rules, isRead: isOn, wait }
  }

  #read(values: ReadonlyMap<string, ByteText>): void {
    const policiesText = values.get(this.service.policies) ?? ''
    const text = values.get(this.service.rules) ?? ''
    if (policiesText !== this.#policiesText) {
      const { policies, skipped } = parseNrsPolicies(policiesText)
      this.#policiesText = detach(policiesText)
      this.#skippedPolicies = skipped.length
      this.#rules = { ...this.#rules, policies }
    }
    if (text !== this.#rules.rulesText) {
      const rulesText = detach(text)
      const { rules, skipped } = parseNrsTbfRule(rulesText)
      this.#skippedRules = skipped.length
      this.#rules = { ...this.#rules, rules, rulesText }
    }
  }
}

export type { NodeReading, Reading, ServiceReading, TargetReading } from '../probes/reading.ts'
export { serviceReading } from '../probes/reading.ts'

/** Longest answer that is parsed, bytes: twenty targets of 2000 jobs each. */
const ANSWER_MAX = 48 << 20
const REASON_MAX = 300

/** Deviation from the nominal length above which a period counts with its measured length. Source: spec/adaptbf A20. */
const NOMINAL_WITHIN = 0.2

const READ_VERSION = 'lctl get_param -n version'

/** Answer to one reading. */
interface Answer {
  readonly values: ReadonlyMap<string, ByteText>
  readonly stderr: string
  readonly code: number
  readonly bytes: number
  readonly tookMs: number
  readonly cpuMs: number | null | undefined
  /** Time of reading job_stats on the source's clock: on the server if it was streamed, otherwise the middle of the exchange. */
  readonly atNs: number
  readonly stream: StreamTimes | undefined
}

/** References to the texts, not copies; those of removed targets are dropped with them. */
function newestTexts(
  before: ReadonlyMap<string, ReadText>,
  { values, atNs }: Pick<Answer, 'values' | 'atNs'>,
  hasJobs: boolean,
): ReadonlyMap<string, ReadText> {
  const out = new Map<string, ReadText>()
  for (const [name, read] of before) if (!values.has(name) && !(hasJobs && isJobStats(name))) out.set(name, read)
  for (const [name, text] of values) out.set(name, { atNs, text })
  return out
}

export class NodeCollector {
  readonly #probe: ServerProbe
  readonly #board: ProbeScheduler
  readonly #source: Pick<ClusterSource, 'kind' | 'periodNs' | 'nowNs'>
  /** First service of each role, with the others of the role. */
  readonly #first: readonly Service[]
  readonly #services: readonly ServiceTexts[]
  #version: LustreVersion | undefined
  /** Set while the probe has a note that the server is read whole. */
  #isFullReadReported = false
  readonly #tables: TargetTables
  readonly #clock = new ServerClock()
  /** True while job_stats are being read. */
  #isReadingJobs = false
  /** Time of the last reading of job_stats on the source's clock; undefined if the next reading is a base. */
  #jobsNs: number | undefined
  #targets: readonly ServedTarget[] = []
  #texts: ReadonlyMap<string, ReadText> = new Map()

  constructor(probe: ServerProbe, board: ProbeScheduler, source: Pick<ClusterSource, 'kind' | 'periodNs' | 'nowNs'>) {
    this.#probe = probe
    this.#board = board
    this.#source = source
    const services = servicesOf(probe.node.roles)
    this.#first = services.filter((s) => s.isFirst)
    this.#services = services.map((s) => new ServiceTexts(s))
    this.#tables = new TargetTables(this.#first, source.kind === 'LIVE')
  }

  get node(): NodeConnection {
    return this.#probe.node
  }

  get host(): string {
    return this.node.host
  }

  /**
   * Starts a reading of everything due at `atNs`; a node that does not answer, or has no targets, is reported as a
   * reason, not an exception.
   *
   * @param ownNs  control period of the server, if it has its own clock: what is read in every sample is then due.
   * @returns      undefined if nothing is due.
   */
  begin(atNs: number, ownNs?: number): Promise<Reading> | undefined {
    const due = (['job_stats', 'rules', 'stats'] as const).filter((id) =>
      this.#board.takeDue(id, this.host, atNs, ownNs),
    )
    return due.length === 0 ? undefined : this.#read(due, atNs, ownNs)
  }

  /**
   * After a gap the next reading is a base again: a rate across the gap would be invented. The server may be another
   * one.
   */
  forgetBase(): void {
    this.#version = undefined
    this.#jobsNs = undefined
    this.#clock.reset()
    this.#tables.forget()
  }

  /**
   * Takes note that Sluice cleared the job_stats of the OSTs: the next reading counts from then on. Without effect if a reading was taken
   * meanwhile, which may have seen the tables before or after; then the entries tell.
   *
   * @param sentNs    time of sending the command, on the source's clock.
   * @param clearedNs time of its answer.
   */
  cleared(sentNs: number, clearedNs: number): void {
    if (this.#isReadingJobs || this.#jobsNs === undefined || this.#jobsNs > sentNs) return
    this.#tables.cleared(SERVICES.ost_io)
    // Metadata targets of a combined server are still counted from their last reading.
    if (this.#targets.every((t) => t.service === SERVICES.ost_io)) this.#jobsNs = Math.round((sentNs + clearedNs) / 2)
  }

  #namesOf(part: PartOfReading): string[] {
    if (part === 'job_stats') return this.#first.map((s) => s.jobStats)
    const all = this.#services.map((s) => s.service)
    return part === 'stats' ? all.map(statsOf) : all.flatMap((s) => [s.policies, s.rules])
  }

  async #read(due: readonly PartOfReading[], atNs: number, ownNs: number | undefined): Promise<Reading> {
    this.#isReadingJobs = due.includes('job_stats')
    const answered = await this.#probe
      .together(() => this.#collect(due, atNs, ownNs !== undefined))
      .finally(() => (this.#isReadingJobs = false))
    if (!answered.ok) return { ok: false, reason: firstLine(formatReason(answered.error), REASON_MAX) }
    const answer = answered.value
    if (answer.bytes > ANSWER_MAX) {
      return { ok: false, reason: `it answered ${answer.bytes} bytes, more than the limit of ${ANSWER_MAX}` }
    }
    const began = performance.now()
    const readings = this.#take(due, answer, ownNs)
    const [first, ...others] = readings
    if (!first) {
      const why = firstLine(answer.stderr, REASON_MAX)
      const what = due.includes('job_stats') ? 'target' : 'service'
      return { ok: false, reason: why === '' ? `lctl exited with ${answer.code} and named no ${what}` : why }
    }
    return { ok: true, readings: [{ ...first, parseMs: performance.now() - began }, ...others] }
  }

  async #collect(due: readonly PartOfReading[], atNs: number, isOwn: boolean): Promise<Result<Answer>> {
    const began = performance.now()
    if (this.#version === undefined) {
      const named = await this.node.exec(READ_VERSION)
      if (!named.ok) return named
      this.#version = parseVersion(named.value.stdout)
    }
    const hasStream = this.node.counters !== undefined
    // Measured parts need a request each: not within a control period.
    const look = isOwn ? undefined : this.#probe.lookAt('sample')
    const isClose = look === 'parts'
    const groups = isClose ? due.map((d) => [d]) : [due]
    const mark = due.includes('job_stats') ? this.#tables.mark(atNs) : undefined
    const all = new Map<string, ByteText>()
    let stderr = ''
    let code = 0
    let bytes = 0
    let jobsNs = this.#source.nowNs()
    let totalCpuMs: number | undefined
    let streamed: StreamTimes | undefined
    let streamCpuMs: number | undefined
    /** Reads parts with the streaming reader; @returns  names that are to be read by lctl. */
    const stream = async (parts: readonly PartOfReading[], names: readonly string[]): Promise<readonly string[]> => {
      const fromNs = this.#source.nowNs()
      const read = await this.#probe.stream(names)
      if (!read) return names
      const { reading, tookMs, cpuMs } = read
      const atNs = this.#clock.timeOf(reading, fromNs, this.#source.nowNs())
      if (parts.includes('job_stats')) jobsNs = atNs
      const { sequence, uptimeMs } = reading
      streamed = { sequence, uptimeMs, tookMs: reading.tookMs }
      if (cpuMs !== undefined) streamCpuMs = (streamCpuMs ?? 0) + cpuMs
      readCosts(this.#board.costs, this.#board.shares, { parts, ...reading, tookMs, cpuMs })
      // Tables of all targets come from one place, as they may be filtered.
      const isByLctl = (name: string): boolean =>
        reading.absent.includes(name) || (isJobStats(name) && reading.absent.some(isJobStats))
      const left = names.filter(isByLctl)
      for (const [name, value] of reading.values) if (!isJobStats(name) || !left.some(isJobStats)) all.set(name, value)
      bytes += reading.bytes
      return left
    }
    const run = async (
      parts: readonly PartOfReading[],
      names: readonly string[],
      isCut: boolean,
    ): Promise<Result<undefined>> => {
      const command = isCut && mark ? this.#tables.command(names, mark) : getParamCommand(...names)
      const fromNs = this.#source.nowNs()
      const timed = await this.#probe.exec(command, look !== undefined)
      if (!timed.ok) return timed
      const { result, tookMs, cpuMs } = timed.value
      if (look === 'whole') totalCpuMs = cpuMs
      if (parts.includes('job_stats')) jobsNs = Math.round((fromNs + this.#source.nowNs()) / 2)
      const values = splitParams(result.stdout)
      const received = result.stdout.length + result.stderr.length
      readCosts(this.#board.costs, this.#board.shares, { parts, values, bytes: received, tookMs, cpuMs })
      for (const [name, value] of values) all.set(name, value)
      stderr += result.stderr
      code = result.code
      bytes += received
      return ok(undefined)
    }
    let isFiltered = false
    for (const parts of groups) {
      const names = parts.flatMap((p) => this.#namesOf(p))
      const left = hasStream ? await stream(parts, names) : names
      if (left.length === 0) continue
      const isTables = left.some(isJobStats)
      if (isTables) isFiltered = mark !== undefined
      const ofParts = parts.filter((p) => this.#namesOf(p).some((n) => left.includes(n)))
      const ran = await run(ofParts, left, mark !== undefined && isTables)
      if (!ran.ok) return ran
    }
    if (isFiltered && !this.#tables.takeCut(all)) {
      // The filtered reading does not add up, or there is no awk: read whole, in the same sample. Without awk the
      // command printed nothing at all: what else it was to read would look as if the server had lost it.
      for (const name of [...all.keys()]) if (isJobStats(name)) all.delete(name)
      const shared = groups.find((parts) => parts.includes('job_stats')) ?? []
      const isUnread = (p: PartOfReading): boolean => p === 'job_stats' || !this.#namesOf(p).every((n) => all.has(n))
      const unread = shared.filter(isUnread)
      const ran = await run(
        unread,
        unread.flatMap((p) => this.#namesOf(p)),
        false,
      )
      if (!ran.ok) return ran
      const why = this.#tables.fullReadReason
      if (why !== '') {
        this.#isFullReadReported = true
        this.#board.note('job_stats', `read in full on ${this.host}: ${why}`)
      }
    } else if (isFiltered && this.#isFullReadReported) {
      this.#isFullReadReported = false
      this.#board.note('job_stats', '')
    }
    const tookMs = performance.now() - began
    const cpuMs = streamed ? streamCpuMs : this.#probe.reportsCpu ? totalCpuMs : null
    return ok({ values: all, stderr, code, bytes, tookMs, cpuMs, atNs: jobsNs, stream: streamed })
  }

  /** @returns  one reading per role; none if the server has none of the requested data. */
  #take(due: readonly PartOfReading[], answer: Answer, ownNs: number | undefined): NodeReading[] {
    const { values, atNs } = answer
    const hasJobs = due.includes('job_stats')
    let skipped = 0
    const { periodNs, scale } = this.#lengthAt(atNs, ownNs)
    if (hasJobs) {
      const read = this.#tables.take(values, atNs, scale, answer.stream !== undefined)
      if (read.targets.length === 0) return []
      this.#jobsNs = atNs
      this.#targets = read.targets
      skipped += read.skipped
    } else {
      // Not read this time: changes since then are not known yet.
      const isOn = this.#board.isOn('job_stats')
      if (!isOn) this.#tables.forget()
      this.#targets = this.#targets.map((t) => ({ ...t, deltas: undefined, entries: isOn ? t.entries : [] }))
    }
    const isOn = this.#board.isOn('rules')
    const services = this.#services.map((s) => s.take(values, due.includes('rules'), isOn))
    if (!hasJobs && due.includes('rules') && services.every((s) => s.policies.length === 0)) return []
    for (const s of this.#services) skipped += s.skipped
    this.#texts = newestTexts(this.#texts, answer, hasJobs)
    const isOf = (role: NodeRole) => (of: { readonly service: Service }) => of.service.role === role
    return this.#first.flatMap(({ role }): NodeReading[] => {
      const [first, ...others] = services.filter(isOf(role))
      if (!first) return []
      return [
        {
          ...first,
          host: this.host,
          others,
          version: this.#version,
          targets: this.#targets.filter(isOf(role)),
          skipped,
          bytes: answer.bytes,
          tookMs: answer.tookMs,
          cpuMs: answer.cpuMs,
          periodNs,
          parseMs: 0,
          atNs,
          stream: answer.stream,
          texts: this.#texts,
        },
      ]
    })
  }

  /** Period that a reading covers, and the scale of its counts to it: a live server is never read exactly when due. */
  #lengthAt(atNs: number, ownNs: number | undefined): { readonly periodNs: number; readonly scale: number } {
    const { kind } = this.#source
    const nominalNs = ownNs ?? this.#source.periodNs
    const spanNs = this.#jobsNs === undefined ? NaN : atNs - this.#jobsNs
    if (kind !== 'LIVE' || !(spanNs > 0)) return { periodNs: nominalNs, scale: 1 }
    const isUsable = spanNs >= PERIOD_MIN_NS && spanNs <= PERIOD_MAX_NS
    const isFar = Math.abs(spanNs / nominalNs - 1) > NOMINAL_WITHIN
    // Samples of views have one length; periods of a controller may differ.
    if (ownNs !== undefined && isUsable && isFar) return { periodNs: spanNs, scale: 1 }
    return { periodNs: nominalNs, scale: nominalNs / spanNs }
  }
}
