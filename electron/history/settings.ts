/** Operator settings of this file: retention of each tier, and the size limit. */
import type { Database } from 'better-sqlite3'
import { fail, ok, type Result } from '#core/base/result.ts'
import { checkKeep, KEEP, QUOTA_BYTES, QUOTA_LEAST, TIER_COUNT, tierOf } from './tiers.ts'

export class Settings {
  readonly #db: Database
  readonly #keeps: number[]
  #quota: number

  constructor(db: Database) {
    this.#db = db
    const rows = db.prepare('SELECT name, value FROM setting').all() as { name: string; value: string }[]
    const stored = new Map(rows.map((r) => [r.name, Number(r.value)]))
    this.#keeps = KEEP.map(({ keepMs, leastMs, mostMs }, tier) => {
      const ms = stored.get(`keep ${tierOf(tier)}`)
      return ms !== undefined && ms >= leastMs && ms <= mostMs ? ms : keepMs
    })
    const quota = stored.get('quota')
    this.#quota = quota !== undefined && quota >= QUOTA_LEAST ? quota : QUOTA_BYTES
  }

  /** Retention by tier, ms. */
  get keeps(): readonly number[] {
    return this.#keeps
  }

  get quotaBytes(): number {
    return this.#quota
  }

  keepOf(tier: number): number {
    return this.#keeps[Math.min(tier, TIER_COUNT - 1)] ?? 0
  }

  /** Sets the retention of a tier. Failures: KEEP_OUT_OF_RANGE. @throws if the file does not accept it. */
  setKeep(tier: number, keepMs: number): Result<undefined> {
    const checked = checkKeep(tier, keepMs, this.#keeps)
    if (!checked.ok) return checked
    this.#write(`keep ${tierOf(tier)}`, keepMs)
    this.#keeps[tier] = keepMs
    return checked
  }

  /** Sets the size limit. Failures: QUOTA_OUT_OF_RANGE. @throws if the file does not accept it. */
  setQuota(bytes: number): Result<undefined> {
    if (!(bytes >= QUOTA_LEAST && Number.isSafeInteger(bytes))) {
      return fail({
        code: 'QUOTA_OUT_OF_RANGE',
        what: 'The quota of the history was not changed',
        why: `it must be at least ${QUOTA_LEAST / 2 ** 20} MiB`,
        unaffected: 'The previous quota applies.',
        next: 'Choose a larger one.',
      })
    }
    this.#write('quota', bytes)
    this.#quota = bytes
    return ok(undefined)
  }

  #write(name: string, value: number): void {
    this.#db.prepare('INSERT OR REPLACE INTO setting VALUES (?, ?)').run(name, String(value))
  }
}
