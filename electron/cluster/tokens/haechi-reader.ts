/**
 * Reads a running data node: `sluice haechi status` once a second of the source's clock, never two at once. Over SSH and on this
 * machine alike, through the shell of the node.
 */
import { formatReason, type Failure } from '#core/base/result.ts'
import { NS_PER_S } from '#core/base/units.ts'
import { statusCommand } from '#core/haechi/console.ts'
import { parseHaechiStatus } from '#core/haechi/status.ts'
import type { NodeConnection } from '../../base/connection.ts'
import { endsWithin, within } from '../../base/deadline.ts'
import type { EventLog } from '../state/event-log.ts'
import { LiveDataNode } from './live-data-node.ts'

/** Deadline of a node, wall ms. */
const LATE_MS = 10_000

export class HaechiReader {
  readonly node: NodeConnection
  readonly dataNode: LiveDataNode
  readonly #events: EventLog
  readonly #nowNs: () => number
  #pending: Promise<unknown> | undefined
  #nextNs = 0
  #costs: { readonly bytes: number; readonly tookMs: number }[] = []
  #failure: Failure | undefined

  /** @param nowNs  the source's clock. */
  constructor(node: NodeConnection, events: EventLog, nowNs: () => number) {
    this.node = node
    this.dataNode = new LiveDataNode(node.host)
    this.#events = events
    this.#nowNs = nowNs
  }

  /** Reason why there is no current status; undefined while the node answers. */
  get failure(): Failure | undefined {
    return this.#failure
  }

  /** Cost of the readings since the last call. */
  takeCosts(): readonly { readonly bytes: number; readonly tookMs: number }[] {
    const costs = this.#costs
    this.#costs = []
    return costs
  }

  /** Reads once a second has passed and no earlier reading is pending. Never rejects. */
  async refresh(atNs: number, atMs: number): Promise<void> {
    if (atNs < this.#nextNs || this.#pending) return
    this.#nextNs = atNs + NS_PER_S
    await this.#read(atMs)
  }

  /** Reads the current status, after a pending reading; true if the answer was stored. Never rejects. */
  async readNow(clockMs: () => number): Promise<boolean> {
    const end = performance.now() + LATE_MS
    while (this.#pending && performance.now() < end) await endsWithin(this.#pending, LATE_MS)
    return !this.#pending && this.#read(clockMs())
  }

  async #read(atMs: number): Promise<boolean> {
    const began = performance.now()
    const answer = this.node.exec(statusCommand(this.dataNode.epoch))
    const ended = (): void => {
      this.#pending = undefined
    }
    this.#pending = answer.then(ended, ended)
    const ran = await within(answer, LATE_MS)
    const { stdout, stderr, code } = ran.ok ? ran.value : { stdout: '', stderr: '', code: 0 }
    this.#costs.push({ bytes: stdout.length + stderr.length, tookMs: performance.now() - began })
    if (this.#costs.length > 100) this.#costs.shift()
    if (!ran.ok) return this.#miss(atMs, 'DATA_NODE_SILENT', formatReason(ran.error))
    if (code !== 0) {
      const why = stderr.trim().split('\n')[0]?.slice(0, 300) || `it exited with ${code}`
      return this.#miss(atMs, 'DATA_NODE_SILENT', why)
    }
    const read = parseHaechiStatus(stdout)
    if ('fault' in read) return this.#miss(atMs, 'DATA_NODE_UNREADABLE', read.fault)
    // A node that was restarted has lower epochs: what it left out is read next time.
    const isRestarted = this.dataNode.status !== undefined && this.dataNode.status.run !== read.status.run
    this.dataNode.take(read.status, this.#nowNs())
    if (this.#failure || isRestarted) {
      const text = isRestarted ? 'the data node was restarted' : 'the data node answers again'
      this.#events.add({ atMs, kind: 'lost', level: 'ok', subject: 'Haechi', text, where: this.node.host })
    }
    this.#failure = undefined
    return true
  }

  #miss(atMs: number, code: 'DATA_NODE_SILENT' | 'DATA_NODE_UNREADABLE', why: string): boolean {
    const { host } = this.node
    const isSilent = code === 'DATA_NODE_SILENT'
    const what = isSilent
      ? `The data node on ${host} does not answer`
      : `The answer of the data node on ${host} cannot be parsed`
    if (this.#failure?.code !== code)
      this.#events.add({ atMs, kind: 'lost', level: 'bad', subject: 'Haechi', text: `${what}: ${why}`, where: host })
    this.#failure = {
      code,
      what,
      why,
      unaffected: 'Its clients continue with their reservations; everything else is shown as usual.',
      next: isSilent
        ? `Check whether it runs: ${statusCommand(0)}.`
        : `Compare the versions of Sluice here and on ${host}.`,
    }
    return false
  }
}
