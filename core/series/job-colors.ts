/**
 * Colors of the jobs of one cluster. A job gets a color when it first becomes prominent and keeps it while it lives, so
 * that it has the same color in every view. Nothing is stored across restarts: the preferred color follows from the job
 * id, so that a job mostly gets the same one again.
 */
import { COLORS, HUES } from '../base/categorical-color.ts'
import { shortHash } from '../base/hash.ts'

/** Most jobs of one list that become prominent. */
export const PROMINENT = HUES
/** Time for which the color of an ended job, or of one that only the history knows, is kept. */
const KEEP_MS = 600_000
/** Number of colored jobs from which on expired ones are looked for. */
const PURGE_FROM = 1_024

/** Claim of a color, weakest first. */
const FREE = 0
/** Its holders are not living jobs: they are shown from the history or in the sandbox. */
const SHOWN = 1
/** A holder lives, or ended a short time ago. */
const HELD = 2
/** A holder is in the list that is being colored. */
const LISTED = 3

interface Holder {
  readonly color: number
  /** Number of the last list that it was in. */
  list: number
  /** Time when it was last prominent, or ended. */
  lastMs: number
  hasEnded: boolean
}

export interface JobColorsParts {
  /** True for a job of the cluster's registry. */
  readonly isLiving: (jobId: string) => boolean
  /** Clock, ms. */
  readonly nowMs: () => number
}

export class JobColors {
  readonly #isLiving: JobColorsParts['isLiving']
  readonly #nowMs: JobColorsParts['nowMs']
  readonly #holders = new Map<string, Holder>()
  #lists = 0
  #purgeFrom = PURGE_FROM

  constructor({ isLiving, nowMs }: JobColorsParts) {
    this.#isLiving = isLiving
    this.#nowMs = nowMs
  }

  /** Color of a job, 1 to 14; 0: it was never prominent. */
  of(jobId: string): number {
    return this.#holders.get(jobId)?.color ?? 0
  }

  /**
   * Colors of prominent jobs: those of a chart, of the top of a list, or the selected one. New jobs get colors that no
   * living job has, in the order of the list; if there are none, those whose jobs were prominent longest ago. New jobs
   * of one list get different colors, as far as there are enough.
   *
   * @param top  job ids; an empty one is `other`.
   */
  colors(top: readonly string[]): number[] {
    const list = ++this.#lists
    const atMs = this.#nowMs()
    for (const jobId of top) {
      const holder = this.#holders.get(jobId)
      if (!holder) continue
      holder.list = list
      holder.lastMs = atMs
    }
    for (const jobId of top) {
      if (jobId === '' || this.#holders.has(jobId)) continue
      this.#hold(jobId, this.#choose(jobId, list, atMs), list, atMs)
    }
    return top.map((jobId) => this.of(jobId))
  }

  /** Gives a job without a color the stored one. */
  restore(jobId: string, color: number): void {
    if (!this.#holders.has(jobId)) this.#hold(jobId, color, 0, this.#nowMs())
  }

  /** The job has left the registry: its color is kept for a while, in case that it returns. */
  end(jobId: string): void {
    const holder = this.#holders.get(jobId)
    if (!holder) return
    holder.hasEnded = true
    holder.lastMs = this.#nowMs()
  }

  /** Colored jobs. */
  entries(): [jobId: string, color: number][] {
    return Array.from(this.#holders, ([jobId, { color }]) => [jobId, color])
  }

  #hold(jobId: string, color: number, list: number, lastMs: number): void {
    this.#holders.set(jobId, { color, list, lastMs, hasEnded: false })
  }

  #choose(jobId: string, list: number, atMs: number): number {
    this.#purge(atMs)
    const claims = new Uint8Array(COLORS + 1)
    const lists = new Float64Array(COLORS + 1)
    for (const [id, holder] of this.#holders) {
      const claim = holder.list === list ? LISTED : this.#claim(id, holder, atMs)
      if (claim === FREE) continue
      const { color } = holder
      claims[color] = Math.max(claims[color] as number, claim)
      lists[color] = Math.max(lists[color] as number, holder.list)
    }
    const weaker = (a: number, b: number): boolean => {
      const [x, y] = [claims[a] as number, claims[b] as number]
      return x < y || (x === y && (lists[a] as number) < (lists[b] as number))
    }
    const color = preferred(jobId).reduce((best, other) => (weaker(other, best) ? other : best))
    this.#release(color, atMs)
    return color
  }

  #claim(jobId: string, { lastMs, hasEnded }: Holder, atMs: number): typeof FREE | typeof SHOWN | typeof HELD {
    if (this.#isLiving(jobId)) return HELD
    if (atMs - lastMs >= KEEP_MS) return FREE
    return hasEnded ? HELD : SHOWN
  }

  /** Takes a color from jobs that no longer have a claim to it. */
  #release(color: number, atMs: number): void {
    for (const [jobId, holder] of this.#holders)
      if (holder.color === color && this.#claim(jobId, holder, atMs) === FREE) this.#holders.delete(jobId)
  }

  #purge(atMs: number): void {
    if (this.#holders.size < this.#purgeFrom) return
    for (const [jobId, holder] of this.#holders)
      if (this.#claim(jobId, holder, atMs) === FREE) this.#holders.delete(jobId)
    this.#purgeFrom = Math.max(PURGE_FROM, 2 * this.#holders.size)
  }
}

/** Colors of jobs that do not end: those of a file, or of a scenario. */
export const fixedJobColors = (): JobColors => new JobColors({ isLiving: () => true, nowMs: () => 0 })

/** All colors in the order in which a job takes them: from the one of its id on, the first shades first. */
function preferred(jobId: string): number[] {
  const slot = parseInt(shortHash(jobId).slice(-8), 16) % HUES
  return Array.from({ length: COLORS }, (_, i) => (i < HUES ? 0 : HUES) + ((slot + i) % HUES) + 1)
}
