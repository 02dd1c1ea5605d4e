/**
 * Reads the servers of a cluster side by side, and knows who answers: the newest reading, the targets, and since when one is silent.
 *
 * A sample asks every server that is not being read, waits a while, and takes what has come: a slow server holds up none of the
 * others, and what it answers later belongs to the next sample.
 */
import type { ServiceName } from '#core/api/rule-edits.ts'
import { Asked } from './asked.ts'
import { NodeCollector, type NodeReading, type Reading } from './collector.ts'
import { isLustreServer, type ClusterSource, type NodeConnection, type NodeRole } from './connection.ts'
import { within } from './deadline.ts'
import type { EventLog } from './event-log.ts'
import type { Patience } from './patience.ts'
import type { ProbeBoard } from './probes/board.ts'
import type { ServerProbe } from './probes/server-probe.ts'
import { lostRules } from './rule-loss.ts'
import { SERVICES } from './service.ts'

export interface TargetNow {
  readonly target: string
  readonly node: string
}

export interface Silence {
  readonly reason: string
  readonly sinceMs: number
}

/** What one round of reading came to. */
export interface Round {
  /** One reading a role of each server that answered. */
  readonly read: readonly { readonly node: NodeConnection; readonly reading: NodeReading }[]
  /** Servers that did not answer. */
  readonly silent: readonly NodeConnection[]
  /** Servers that are waited for, and those that were not to be read this time. */
  readonly late: readonly NodeConnection[]
}

export class ClusterReader {
  readonly #source: ClusterSource
  readonly #events: EventLog
  readonly #patience: Patience
  readonly #servers: readonly { readonly node: NodeConnection; readonly asked: Asked }[]
  readonly #missing = new Map<string, Silence>()
  readonly #readings = new Map<string, readonly NodeReading[]>()
  /** Targets of each server, as last read: a server that does not answer still has them. */
  readonly #targetsOf = new Map<string, readonly { readonly target: string; readonly role: NodeRole }[]>()

  /**
   * @param probeOf   how each server is read.
   * @param patience  how long a sample waits for them.
   */
  constructor(
    source: ClusterSource,
    events: EventLog,
    board: ProbeBoard,
    probeOf: (node: NodeConnection) => ServerProbe,
    patience: Patience,
  ) {
    this.#source = source
    this.#events = events
    this.#patience = patience
    const servers = source.nodes.filter(isLustreServer)
    const isData = (n: NodeConnection): boolean => n.roles.includes('oss')
    this.#servers = [...servers.filter(isData), ...servers.filter((n) => !isData(n))].map((node) => ({
      node,
      asked: new Asked(new NodeCollector(probeOf(node), board, source)),
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

  node(host: string): NodeConnection | undefined {
    return this.#servers.find((c) => c.node.host === host)?.node
  }

  /** Servers that do not answer now, by host. */
  get missing(): ReadonlyMap<string, Silence> {
    return this.#missing
  }

  /**
   * The newest reading of a server, also of one that is silent by now.
   *
   * @param service  in whose role; the first role without.
   */
  reading(host: string, service?: ServiceName): NodeReading | undefined {
    const readings = this.#readings.get(host)
    return service === undefined ? readings?.[0] : readings?.find((r) => r.service.role === SERVICES[service].role)
  }

  /** How old the newest reading of a server is at an instant of the source's clock, ms; undefined without any. */
  ageMs(host: string, atNs: number): number | undefined {
    const reading = this.reading(host)
    return reading && Math.max(0, (atNs - reading.atNs) / 1e6)
  }

  /** @param service  in whose role; all targets of the server without. */
  targetsOf(host: string, service?: ServiceName): readonly string[] {
    const role = service && SERVICES[service].role
    const all = this.#targetsOf.get(host) ?? []
    return all.flatMap((t) => (role === undefined || t.role === role ? t.target : []))
  }

  /** Targets of these servers, each with its server. */
  targetsAt(hosts: readonly string[], service?: ServiceName): TargetNow[] {
    return hosts.flatMap((node) => this.targetsOf(node, service).map((target) => ({ target, node })))
  }

  /** Asks all servers that are not being read, and takes what has come in time. */
  async read(atNs: number, atMs: number): Promise<Round> {
    const asked = this.#servers.flatMap((s) => s.asked.ask(atNs, this.#patience) ?? [])
    if (asked.length > 0) {
      await within(Promise.all(asked), this.#patience.waitMs).catch(() => undefined)
    }
    const read: { node: NodeConnection; reading: NodeReading }[] = []
    const silent: NodeConnection[] = []
    const late: NodeConnection[] = []
    for (const { node, asked: a } of this.#servers) {
      const taken = a.take(this.#patience)
      // One that is missing stays so until it answers.
      if (taken === 'idle' || taken === 'late') (this.#missing.has(node.host) ? silent : late).push(node)
      else {
        this.#note(node.host, a, taken, atMs)
        if (taken.ok) for (const reading of taken.readings) read.push({ node, reading })
        else silent.push(node)
      }
    }
    return { read, silent, late }
  }

  #note(host: string, asked: Asked, result: Reading, atMs: number): void {
    const was = this.#missing.get(host)
    const event = (level: 'ok' | 'bad', text: string): void => {
      this.#events.add({ atMs, kind: 'lost', level, subject: 'Source', text, where: host })
    }
    if (result.ok) {
      const { readings } = result
      for (const reading of readings) {
        const lost = lostRules(this.reading(host, reading.service.name), reading)
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
      if (!asked.isRunning) asked.collector.forgetBase()
      event('bad', `${host} does not answer: ${result.reason}`)
    }
  }
}
