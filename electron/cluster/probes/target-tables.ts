/** The targets of one server: their entries from reading to reading, read whole or cut down by the server. */
import { JobDeltas } from '#core/lustre/job-deltas.ts'
import type { JobEntry } from '#core/lustre/job-entry.ts'
import { JobStatsReader } from '#core/lustre/job-stats-reader.ts'
import type { ByteText } from '#core/lustre/text.ts'
import { NS_PER_S } from '#core/base/units.ts'
import { toBytes } from '../../base/detach.ts'
import type { TargetReading } from './reading.ts'
import type { Service } from '../../base/service.ts'
import { filteredCommand, parseFilterSum, sumNameOf, type Mark } from './job-filter.ts'
import { JobTable } from './job-table.ts'

/** A server whose tables come to more than this, bytes, is asked to cut them down. */
const CUT_FROM = 32_000
/** A cut-down reading that is longer than this part of a whole one is not worth the server's time. */
const WORTH = 0.7
/** Whole readings at least this often, and for this long where cutting down is of no use, s. */
const WHOLE_EVERY_S = 60
/** How long readings are whole after awk did not answer, s: twice as long each time. */
const NO_AWK_S = { least: 60, most: 600 } as const
/** Cut-down readings in a row that did not add up. */
const FAILS_MOST = 3

/** A target with the service that its role is named after. */
export interface ServedTarget extends TargetReading {
  readonly service: Service
}

interface Target {
  readonly deltas: JobDeltas
  readonly table: JobTable
  reader: JobStatsReader
}

export class TargetTables {
  readonly #services: readonly Service[]
  readonly #mayCut: boolean
  readonly #cutFrom: number
  readonly #targets = new Map<string, Target>()
  #wholeBytes = 0
  #wholeNs = -Infinity
  /** No cut-down reading before. */
  #pauseNs = -Infinity
  #fails = 0
  /** Times in a row that awk did not answer. */
  #withoutAwk = 0
  #why = ''
  /** What the cut-down answer at hand comes to, by target. */
  #cut: Map<string, { readonly entries: readonly JobEntry[]; readonly skipped: number }> | undefined

  /**
   * @param services  whose targets these are, one service a role.
   * @param cutFrom   bytes of a whole reading from which it is cut down.
   */
  constructor(services: readonly Service[], mayCut: boolean, cutFrom = CUT_FROM) {
    this.#cutFrom = cutFrom
    this.#services = services
    this.#mayCut = mayCut
  }

  /** Why the server does not cut down; empty as long as it does or need not. */
  get whyWhole(): string {
    return this.#why
  }

  /** What the next reading may leave out; undefined when it is to be whole. */
  mark(atNs: number): Mark | undefined {
    this.#cut = undefined
    if (!this.#mayCut || this.#wholeBytes < this.#cutFrom || atNs < this.#pauseNs) return undefined
    if (atNs - this.#wholeNs > WHOLE_EVERY_S * NS_PER_S) return undefined
    let least: Mark | undefined
    for (const { table } of this.#targets.values()) {
      if (table.size === 0) continue
      const { mark } = table
      if (!mark) return undefined
      if (!least || mark.s < least.s || (mark.s === least.s && mark.ns < least.ns)) least = mark
    }
    return least
  }

  command(names: readonly string[], mark: Mark): string {
    return filteredCommand(names, mark)
  }

  /** How long readings are whole after what went wrong last. */
  get #pauseS(): number {
    if (this.#withoutAwk === 0) return WHOLE_EVERY_S
    return Math.min(NO_AWK_S.most, NO_AWK_S.least * 2 ** (this.#withoutAwk - 1))
  }

  #placeOf(name: string): { readonly target: string; readonly service: Service } | undefined {
    for (const service of this.#services) {
      const target = service.target.exec(name)?.[1]
      if (target !== undefined) return { target, service }
    }
    return undefined
  }

  /** Takes a cut-down answer; false when it does not add up for every table in it: then it is to be read whole. */
  takeCut(values: ReadonlyMap<string, ByteText>): boolean {
    const cut = new Map<string, { readonly entries: readonly JobEntry[]; readonly skipped: number }>()
    let [tables, bytes] = [0, 0]
    for (const [name, text] of values) {
      const target = this.#placeOf(name)?.target
      if (target === undefined) continue
      tables++
      bytes += text.length
      const sum = parseFilterSum(values.get(sumNameOf(name)))
      const part = sum && this.#targets.get(target)?.table.part(text, sum)
      if (!part) return this.#failed(tables > 0 && sum !== undefined)
      cut.set(target, part)
    }
    // Without awk nothing comes back at all.
    if (tables === 0) return this.#failed(false)
    this.#fails = 0
    this.#withoutAwk = 0
    this.#why = ''
    this.#cut = cut
    if (bytes > WORTH * this.#wholeBytes) this.#pauseNs = Infinity
    return true
  }

  #failed(answered: boolean): false {
    this.#fails++
    // Once it is known to fail, one more failure is enough.
    if (this.#fails < FAILS_MOST && this.#withoutAwk === 0) return false
    this.#fails = 0
    this.#withoutAwk = answered ? 0 : this.#withoutAwk + 1
    const pauseS = this.#pauseS
    const what = answered ? 'what it cut down did not add up' : 'awk did not answer'
    this.#why = `${what}; tried again in ${pauseS} s`
    this.#pauseNs = Infinity
    return false
  }

  /** What every target did since the reading before. */
  take(
    values: ReadonlyMap<string, ByteText>,
    atNs: number,
    scale: number,
  ): { readonly targets: readonly ServedTarget[]; readonly skipped: number } {
    const targets: ServedTarget[] = []
    let [skipped, bytes] = [0, 0]
    for (const [name, text] of values) {
      const place = this.#placeOf(name)
      if (!place) continue
      const { target } = place
      const t = this.#target(target)
      bytes += text.length
      const cut = this.#cut?.get(target)
      let entries: readonly JobEntry[]
      if (cut) {
        entries = cut.entries
        skipped += cut.skipped
      } else {
        const stats = t.reader.read(text)
        entries = stats.entries
        skipped += stats.skipped.length + stats.skippedMore
        if (this.#mayCut && this.#wholeBytes >= this.#cutFrom) t.table.whole(entries, text)
      }
      const { table } = t
      const rawOf = cut ? (e: JobEntry) => table.textOf(e) ?? '' : (e: JobEntry) => text.slice(...e.span)
      targets.push({ ...place, entries, rawOf, deltas: t.deltas.update(entries), scale })
    }
    if (!this.#cut) {
      this.#wholeBytes = bytes
      this.#wholeNs = atNs
      if (this.#pauseNs === Infinity) this.#pauseNs = atNs + this.#pauseS * NS_PER_S
    }
    this.#cut = undefined
    // A target that is gone (unmounted, failed over) begins anew when it returns.
    const here = new Set(targets.map((t) => t.target))
    for (const [target, t] of this.#targets) {
      if (here.has(target)) continue
      t.deltas.reset()
      t.table.forget()
    }
    return { targets, skipped }
  }

  forget(): void {
    for (const t of this.#targets.values()) {
      t.deltas.reset()
      t.table.forget()
    }
    this.#wholeNs = -Infinity
    this.#withoutAwk = 0
    this.#pauseNs = -Infinity
  }

  #target(name: string): Target {
    let t = this.#targets.get(name)
    if (!t) {
      t = { deltas: new JobDeltas(), table: new JobTable(), reader: new JobStatsReader(toBytes) }
      this.#targets.set(name, t)
    }
    return t
  }
}
