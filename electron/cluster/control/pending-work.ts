/** Pending work on servers, so that a busy server gets no more of it and a stop can wait for its end. */
import { endsWithin } from '../../base/deadline.ts'

export class PendingWork {
  readonly #work = new Map<string, Set<Promise<unknown>>>()

  has(host: string): boolean {
    return this.#work.has(host)
  }

  /** Servers with pending work. */
  get hosts(): ReadonlySet<string> {
    return new Set(this.#work.keys())
  }

  /** Pending until the promise settles. */
  add(host: string, work: Promise<unknown>): void {
    const of = this.#work.get(host) ?? new Set()
    this.#work.set(host, of)
    of.add(work)
    const end = (): void => {
      of.delete(work)
      if (of.size === 0) this.#work.delete(host)
    }
    work.then(end, end)
  }

  /** Resolves when no work is pending, or after so many ms of wall time. @returns servers that still have some. */
  async over(ms: number): Promise<ReadonlySet<string>> {
    const untilMs = performance.now() + ms
    for (;;) {
      const remainingMs = untilMs - performance.now()
      const all = [...this.#work.values()].flatMap((w) => [...w])
      if (all.length === 0 || remainingMs <= 0) return this.hosts
      await endsWithin(Promise.allSettled(all), remainingMs)
    }
  }
}
