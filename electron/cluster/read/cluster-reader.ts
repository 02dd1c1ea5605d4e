/**
 * Reads the servers of a cluster concurrently, and tracks their availability: the newest reading, the targets, and the
 * time since which one is silent.
 *
 * A sample starts a reading of every idle server, waits for some time, and takes the results: a slow server delays no
 * other, and its later answer belongs to the next sample.
 */
import type { ServiceName } from '#core/api/rule-edits.ts'
import { plural } from '#core/base/figure-text.ts'
import { isControllerRule } from '#core/controllers/registry.ts'
import { DEFAULT_RULE } from '#core/control/server-rules.ts'
import { primaryPolicy } from '#core/lustre/nrs-policies.ts'
import { ServerReader, type TakenReadings } from './server-reader.ts'
import { NodeCollector, type NodeReading, type Reading, type ServiceReading } from './collector.ts'
import { isLustreServer, type ClusterSource, type NodeConnection, type NodeRole } from '../../base/connection.ts'
import { endsWithin } from '../../base/deadline.ts'
import type { EventLog } from '../state/event-log.ts'
import type { ReadTimeouts } from './timeouts.ts'
import type { ProbeScheduler } from '../probes/probe-scheduler.ts'
import type { ServerProbe } from '../probes/server-probe.ts'
import type { ReadingTime } from './sampling-period.ts'
import { SERVICES } from '../../base/service.ts'

export interface TargetNow {
  readonly target: string
  readonly node: string
}

export interface Silence {
  readonly reason: string
  readonly sinceMs: number
}

/** Server in one role. */
export interface RoleReading {
  readonly node: NodeConnection
  readonly reading: NodeReading
  /** Part of the reading on which no period of the server's own clock has decided; undefined if there is none. */
  readonly undecided: NodeReading | undefined
}

/** Result of one round of reading. */
export interface Round {
  /** One reading per role of each server that answered. */
  readonly read: readonly RoleReading[]
  /** Servers that did not answer. */
  readonly silent: readonly NodeConnection[]
  /** Servers that are still pending, and those that were not due. */
  readonly late: readonly NodeConnection[]
  /** Reasons why servers have no counts in this sample, by host. */
  readonly gaps: ReadonlyMap<string, string>
}

const NO_BASE = 'first reading: a rate needs two'

const whyLate = ({ runningMs }: ServerReader): string =>
  runningMs === undefined
    ? 'not due in this sample'
    : `its reading is not done after ${(runningMs / 1000).toFixed(1)} s`

const hasCounts = ({ targets }: NodeReading): boolean => targets.some((t) => t.deltas !== undefined)

/** Rules not managed by controllers; these come and go by themselves. */
const rulesOfOthers = (s: ServiceReading): string[] => [
  ...new Set(s.rules.filter((r) => r.name !== DEFAULT_RULE && !isControllerRule(r.name)).map((r) => r.name)),
]

function lostOf(before: ServiceReading, now: ServiceReading | undefined): string {
  if (!now?.isRead || !before.isRead) return ''
  const had = rulesOfOthers(before)
  const has = rulesOfOthers(now)
  const hadTbf = before.rules.length > 0
  const isGone = had.length > 0 && has.length === 0
  const { name } = now.service
  if (hadTbf && now.rules.length === 0) {
    const policy = primaryPolicy(now.policies, 'reg')?.name ?? 'no policy'
    const rules = had.length === 0 ? 'TBF is' : `${plural(had.length, 'rule')} not managed by Sluice and TBF are`
    return `${rules} gone from ${name} at once, ${policy} is active: the server was restarted, or its policy changed`
  }
  return isGone && had.length > 1
    ? `${plural(had.length, 'rule')} not managed by Sluice are gone from ${name} at once`
    : ''
}

/**
 * Describes rules that disappeared at once between two consecutive readings of a server: the server was restarted, its targets
 * moved, or its policy was changed. Usually empty.
 */
function describeLostRules(before: NodeReading | undefined, now: NodeReading): string {
  if (!before) return ''
  return [before, ...before.others]
    .map((s) =>
      lostOf(
        s,
        [now, ...now.others].find((o) => o.service === s.service),
      ),
    )
    .filter((t) => t !== '')
    .join('; ')
}

export class ClusterReader {
  readonly #source: ClusterSource
  readonly #events: EventLog
  readonly #readTimeouts: () => ReadTimeouts
  readonly #servers: readonly { readonly node: NodeConnection; readonly server: ServerReader }[]
  readonly #missing = new Map<string, Silence>()
  readonly #readings = new Map<string, readonly NodeReading[]>()
  /** Targets of each server at its last reading: a server that does not answer still has them. */
  readonly #targetsOf = new Map<string, readonly { readonly target: string; readonly role: NodeRole }[]>()

  /**
   * @param probeOf   returns the probe of a server.
   * @param readTimeouts  longest wait of a sample.
   */
  constructor(
    source: ClusterSource,
    events: EventLog,
    board: ProbeScheduler,
    probeOf: (node: NodeConnection) => ServerProbe,
    readTimeouts: () => ReadTimeouts,
  ) {
    this.#source = source
    this.#events = events
    this.#readTimeouts = readTimeouts
    const servers = source.nodes.filter(isLustreServer)
    const isData = (n: NodeConnection): boolean => n.roles.includes('oss')
    this.#servers = [...servers.filter(isData), ...servers.filter((n) => !isData(n))].map((node) => ({
      node,
      server: new ServerReader(new NodeCollector(probeOf(node), board, source)),
    }))
  }

  /** OSSes, then MDSes. */
  get hosts(): readonly string[] {
    return this.#servers.map((c) => c.node.host)
  }

  /** Servers of a service, in the order of the source. */
  serversOf(service: ServiceName): readonly string[] {
    const { role } = SERVICES[service]
    return this.#servers.filter((c) => c.node.roles.includes(role)).map((c) => c.node.host)
  }

  /** Takes note that Sluice cleared job_stats on a server; see `NodeCollector.cleared`. */
  cleared(host: string, sentNs: number, clearedNs: number): void {
    this.#servers.find((c) => c.node.host === host)?.server.collector.cleared(sentNs, clearedNs)
  }

  /** Servers of a service with their readers, in the order of the source. */
  readersOf(service: ServiceName): readonly { readonly node: NodeConnection; readonly server: ServerReader }[] {
    return this.#servers.filter((c) => c.node.roles.includes(SERVICES[service].role))
  }

  node(host: string): NodeConnection | undefined {
    return this.#servers.find((c) => c.node.host === host)?.node
  }

  /** Servers that do not answer now, by host. */
  get missing(): ReadonlyMap<string, Silence> {
    return this.#missing
  }

  /**
   * Newest reading of a server, even if it is silent now.
   *
   * @param service  selects a role; by default the first one.
   */
  reading(host: string, service?: ServiceName): NodeReading | undefined {
    const readings = this.#readings.get(host)
    return service === undefined ? readings?.[0] : readings?.find((r) => r.service.role === SERVICES[service].role)
  }

  /** Age of the newest reading of a server at a time of the source's clock, ms; undefined without any. */
  ageMs(host: string, atNs: number): number | undefined {
    const reading = this.reading(host)
    return reading && Math.max(0, (atNs - reading.atNs) / 1e6)
  }

  /** @param service  selects a role; by default all targets of the server. */
  targetsOf(host: string, service?: ServiceName): readonly string[] {
    const role = service && SERVICES[service].role
    const all = this.#targetsOf.get(host) ?? []
    return all.flatMap((t) => (role === undefined || t.role === role ? t.target : []))
  }

  /** Times of the readings since the last call, each with its server. */
  takeTimes(): (readonly [host: string, ReadingTime])[] {
    return this.#servers.flatMap(({ node, server }) => server.takeTimes().map((time) => [node.host, time] as const))
  }

  /** True if the targets of a server are known because it was read before. */
  hasMet(host: string): boolean {
    return this.#targetsOf.has(host)
  }

  /** Targets of these servers, each with its server. */
  targetsAt(hosts: readonly string[], service?: ServiceName): TargetNow[] {
    return hosts.flatMap((node) => this.targetsOf(node, service).map((target) => ({ target, node })))
  }

  /** Starts readings of all idle servers, and takes the results that arrive in time. */
  async read(atNs: number, atMs: number): Promise<Round> {
    const readTimeouts = this.#readTimeouts()
    const started = this.#servers.flatMap((s) => s.server.start(atNs, readTimeouts) ?? [])
    if (started.length > 0) await endsWithin(Promise.all(started), readTimeouts.waitMs)
    const read: RoleReading[] = []
    const silent: NodeConnection[] = []
    const late: NodeConnection[] = []
    const gaps = new Map<string, string>()
    for (const { node, server: a } of this.#servers) {
      const taken = this.#inPeriod(a.take(readTimeouts))
      // A missing server stays missing until it answers.
      if (taken === 'idle' || taken === 'late') {
        const missing = this.#missing.get(node.host)
        const list = missing ? silent : late
        list.push(node)
        gaps.set(node.host, missing?.reason ?? whyLate(a))
      } else {
        this.#note(node.host, a, taken, atMs)
        if (taken.ok) {
          for (const reading of taken.readings) {
            read.push({ node, reading, undecided: taken.undecided.find((u) => u.service === reading.service) })
          }
        } else silent.push(node)
        const why = taken.ok ? (taken.readings.every(hasCounts) ? '' : NO_BASE) : taken.reason
        if (why !== '') gaps.set(node.host, why)
      }
    }
    return { read, silent, late, gaps }
  }

  /** Rescales the counts of a reading to the sampling period. */
  #inPeriod<T extends TakenReadings | { readonly ok: false } | 'late' | 'idle'>(taken: T): T | TakenReadings {
    if (typeof taken === 'string' || !taken.ok) return taken
    const { periodNs } = this.#source
    const rescaled = (reading: NodeReading): NodeReading => {
      if (reading.periodNs === periodNs) return reading
      const times = periodNs / reading.periodNs
      return { ...reading, targets: reading.targets.map((t) => ({ ...t, scale: t.scale * times })), periodNs }
    }
    return { ok: true, readings: taken.readings.map(rescaled), undecided: taken.undecided.map(rescaled) }
  }

  #note(host: string, server: ServerReader, result: Reading, atMs: number): void {
    const was = this.#missing.get(host)
    const event = (level: 'ok' | 'bad', text: string): void => {
      this.#events.add({ atMs, kind: 'lost', level, subject: 'Source', text, where: host })
    }
    if (result.ok) {
      const { readings } = result
      for (const reading of readings) {
        const lost = describeLostRules(this.reading(host, reading.service.name), reading)
        if (lost !== '')
          this.#events.add({ atMs, kind: 'lost', level: 'bad', subject: 'Rule', text: lost, where: host })
      }
      this.#readings.set(host, readings)
      this.#targetsOf.set(
        host,
        readings.flatMap(({ targets, service: { role } }) => targets.map(({ target }) => ({ target, role }))),
      )
      if (!was) return
      this.#missing.delete(host)
      event('ok', `${host} answers again after ${Math.round((atMs - was.sinceMs) / 1000)} s, gap kept`)
    } else if (!was) {
      this.#missing.set(host, { reason: result.reason, sinceMs: atMs })
      if (!server.isRunning) server.collector.forgetBase()
      event('bad', `${host} does not answer: ${result.reason}`)
    }
  }
}
