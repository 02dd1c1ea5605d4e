/** Targets of one server: their entries from reading to reading, read whole or filtered by the server. */
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

/** Total size of the tables from which a server filters them, bytes. */
const CUT_FROM = 32_000
/** A filtered reading longer than this part of a whole one is not worth the server's time. */
const WORTH = 0.7
/** Interval of whole readings, and their duration after filtering was not worthwhile, s. */
const FULL_READ_EVERY_S = 60
/** Duration of whole readings after awk timed out, s: doubles each time. */
const NO_AWK_S = { least: 60, most: 600 } as const
/** Consecutive filtered readings that did not add up. */
const FAILS_MOST = 3

/** A target with the service that its role is named after. */
export interface ServedTarget extends TargetReading {
  readonly service: Service
}

interface Target {
  readonly service: Service
  readonly deltas: JobDeltas
  readonly table: JobTable
  reader: JobStatsReader
}

export class TargetTables {
  readonly #services: readonly Service[]
  readonly #mayCut: boolean
  readonly #cutFrom: number
  readonly #targets = new Map<string, Target>()
  #fullReadBytes = 0
  #fullReadNs = -Infinity
  /** No filtered reading before this time. */
  #pauseNs = -Infinity
  #fails = 0
  /** Consecutive timeouts of awk. */
  #withoutAwk = 0
  #why = ''
  /** Parsed entries of the current filtered answer, by target. */
  #cut: Map<string, { readonly entries: readonly JobEntry[]; readonly skipped: number }> | undefined

  /**
   * @param services  services of these targets, one per role.
   * @param cutFrom   bytes of a whole reading from which it is filtered.
   */
  constructor(services: readonly Service[], mayCut: boolean, cutFrom = CUT_FROM) {
    this.#cutFrom = cutFrom
    this.#services = services
    this.#mayCut = mayCut
  }

  /** Reason why the server does not filter; empty while it does or need not. */
  get fullReadReason(): string {
    return this.#why
  }

  /** Mark for the next reading; undefined if it is to be whole. */
  mark(atNs: number): Mark | undefined {
    this.#cut = undefined
    if (!this.#mayCut || this.#fullReadBytes < this.#cutFrom || atNs < this.#pauseNs) return undefined
    if (atNs - this.#fullReadNs > FULL_READ_EVERY_S * NS_PER_S) return undefined
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

  /** Duration of whole readings after the last failure. */
  get #pauseS(): number {
    if (this.#withoutAwk === 0) return FULL_READ_EVERY_S
    return Math.min(NO_AWK_S.most, NO_AWK_S.least * 2 ** (this.#withoutAwk - 1))
  }

  #placeOf(name: string): { readonly target: string; readonly service: Service } | undefined {
    for (const service of this.#services) {
      const target = service.target.exec(name)?.[1]
      if (target !== undefined) return { target, service }
    }
    return undefined
  }

  /** Applies a filtered answer; false if any of its tables does not add up: then it must be read whole. */
  takeCut(values: ReadonlyMap<string, ByteText>): boolean {
    const cut = new Map<string, { readonly entries: readonly JobEntry[]; readonly skipped: number }>()
    let tables = 0
    let bytes = 0
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
    // Without awk nothing is returned at all.
    if (tables === 0) return this.#failed(false)
    this.#fails = 0
    this.#withoutAwk = 0
    this.#why = ''
    this.#cut = cut
    if (bytes > WORTH * this.#fullReadBytes) this.#pauseNs = Infinity
    return true
  }

  #failed(answered: boolean): false {
    this.#fails++
    // Once it is known to fail, one more failure is enough.
    if (this.#fails < FAILS_MOST && this.#withoutAwk === 0) return false
    this.#fails = 0
    this.#withoutAwk = answered ? 0 : this.#withoutAwk + 1
    const pauseS = this.#pauseS
    const what = answered ? 'the filtered job_stats did not add up' : 'awk timed out'
    this.#why = `${what}; retried in ${pauseS} s`
    this.#pauseNs = Infinity
    return false
  }

  /**
   * Changes of every target since the previous reading.
   *
   * @param isStreamed  true for a reading of the streaming reader: what a filtered reading needs is then not kept.
   */
  take(
    values: ReadonlyMap<string, ByteText>,
    atNs: number,
    scale: number,
    isStreamed = false,
  ): { readonly targets: readonly ServedTarget[]; readonly skipped: number } {
    const targets: ServedTarget[] = []
    let skipped = 0
    let bytes = 0
    for (const [name, text] of values) {
      const place = this.#placeOf(name)
      if (!place) continue
      const { target } = place
      const t = this.#target(target, place.service)
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
        if (isStreamed) t.table.forget()
        else if (this.#mayCut && this.#fullReadBytes >= this.#cutFrom) t.table.whole(entries, text)
      }
      const { table } = t
      const rawOf = cut ? (e: JobEntry) => table.textOf(e) ?? '' : (e: JobEntry) => text.slice(...e.span)
      const deltas = t.deltas.update(entries)
      targets.push({ ...place, entries, rawOf, deltas, replaced: t.deltas.replaced, scale })
    }
    if (!this.#cut) {
      this.#fullReadBytes = bytes
      this.#fullReadNs = atNs
      if (this.#pauseNs === Infinity) this.#pauseNs = atNs + this.#pauseS * NS_PER_S
    }
    this.#cut = undefined
    // A target that is gone (unmounted, failed over) starts with a new base when it returns.
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
    this.#fullReadNs = -Infinity
    this.#withoutAwk = 0
    this.#pauseNs = -Infinity
  }

  /** Takes note that the tables of a service were cleared: what they have at the next reading came since. */
  cleared(service: Service): void {
    for (const t of this.#targets.values()) {
      if (t.service !== service) continue
      t.deltas.cleared()
      t.table.forget()
    }
  }

  #target(name: string, service: Service): Target {
    let t = this.#targets.get(name)
    if (!t) {
      t = { service, deltas: new JobDeltas(), table: new JobTable(), reader: new JobStatsReader(toBytes) }
      this.#targets.set(name, t)
    }
    return t
  }
}
