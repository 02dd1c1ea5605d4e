/** What happened to metadata control, newest last: jobs that come and go, steps of the policies, servers lost, choices. */
import type { MetadataEvent, MetadataStep } from './state.ts'

const KEPT = 200

export class MetadataEvents {
  #events: MetadataEvent[] = []
  #seq = 0
  readonly #active = new Set<string>()

  /** The last ones, oldest first. */
  get last(): readonly MetadataEvent[] {
    return this.#events
  }

  add(atMs: number, kind: MetadataEvent['kind'], text: string, where: string): void {
    // A new list each time: states that were kept hold the old one.
    this.#events = [...this.#events, { seq: ++this.#seq, atMs, kind, text, where }].slice(-KEPT)
  }

  /** Steps of the policies that came into force since the last call. */
  policies(atMs: number, steps: readonly MetadataStep[]): void {
    const now = new Set<string>()
    for (const s of steps) {
      if (s.state !== 'active' && s.state !== 'unknown-job') continue
      const key = [s.line, s.atS, s.kind, s.job, s.scope, s.value].join('\u0000')
      now.add(key)
      if (!this.#active.has(key)) this.add(atMs, 'policy', `${s.kind} ${s.job} ${s.scope} ${s.value}`, `line ${s.line}`)
    }
    this.#active.clear()
    for (const key of now) this.#active.add(key)
  }
}
