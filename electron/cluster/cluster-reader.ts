/** Reads every server of a cluster at once, and knows who answers: the newest reading, the targets, and since when one is silent. */
import type { ServiceName } from '#core/api/rule-edits.ts'
import { NodeCollector, type NodeReading, type Reading } from './collector.ts'
import type { ClusterSource, NodeConnection } from './connection.ts'
import type { EventLog } from './event-log.ts'
import { SERVICES, type Service } from './service.ts'

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
  readonly read: readonly { readonly node: NodeConnection; readonly reading: NodeReading }[]
  /** Servers that did not answer. */
  readonly silent: readonly NodeConnection[]
}

export class ClusterReader {
  readonly #events: EventLog
  readonly #collectors: readonly { node: NodeConnection; service: Service; collector: NodeCollector }[]
  readonly #missing = new Map<string, Silence>()
  readonly #readings = new Map<string, NodeReading>()
  /** Targets of each server, as last read: a server that does not answer still has them. */
  readonly #targetsOf = new Map<string, readonly string[]>()

  constructor(source: ClusterSource, events: EventLog) {
    this.#events = events
    const first = Object.values(SERVICES).filter((s) => s.isFirst)
    this.#collectors = first.flatMap((service) =>
      source.nodes
        .filter((n) => n.role === service.role)
        .map((node) => ({ node, service, collector: new NodeCollector(node, service) })),
    )
  }

  /** OSSes, then MDSes. */
  get hosts(): readonly string[] {
    return this.#collectors.map((c) => c.node.host)
  }

  /** Servers of a service, in the order of the source. */
  serversOf(service: ServiceName): readonly string[] {
    const { role } = SERVICES[service]
    return this.#collectors.filter((c) => c.service.role === role).map((c) => c.node.host)
  }

  node(host: string): NodeConnection | undefined {
    return this.#collectors.find((c) => c.node.host === host)?.node
  }

  /** Servers that do not answer now, by host. */
  get missing(): ReadonlyMap<string, Silence> {
    return this.#missing
  }

  /** The newest reading of a server, also of one that is silent by now. */
  reading(host: string): NodeReading | undefined {
    return this.#readings.get(host)
  }

  targetsOf(host: string): readonly string[] {
    return this.#targetsOf.get(host) ?? []
  }

  /** Reads all servers side by side; `atMs` is the source's clock for the events. */
  async read(atMs: number): Promise<Round> {
    const results = await Promise.all(
      this.#collectors.map(async ({ node, collector }) => ({ node, collector, result: await collector.read() })),
    )
    for (const { node, collector, result } of results) this.#note(node.host, collector, result, atMs)
    return {
      read: results.flatMap(({ node, result }) => (result.ok ? [{ node, reading: result.reading }] : [])),
      silent: results.flatMap(({ node, result }) => (result.ok ? [] : [node])),
    }
  }

  #note(host: string, collector: NodeCollector, result: Reading, atMs: number): void {
    const was = this.#missing.get(host)
    if (result.ok) {
      const { reading } = result
      this.#readings.set(host, reading)
      this.#targetsOf.set(
        host,
        reading.targets.map((t) => t.target),
      )
      if (!was) return
      this.#missing.delete(host)
      const text = `${host} answers again after ${Math.round((atMs - was.sinceMs) / 1000)} s, gap kept`
      this.#events.add({ atMs, kind: 'lost', level: 'ok', subject: 'Source', text, where: host })
    } else if (!was) {
      this.#missing.set(host, { reason: result.reason, sinceMs: atMs })
      collector.forgetBase()
      const text = `${host} does not answer: ${result.reason}`
      this.#events.add({ atMs, kind: 'lost', level: 'bad', subject: 'Source', text, where: host })
    }
  }
}
