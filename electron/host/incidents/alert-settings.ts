/** Alert settings of the operator: kept in the data folder, with defaults if they cannot be read. */
import { readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { alertRule, type AlertRule, type AlertRuleView } from '#core/api/incidents.ts'
import { isWithin, KINDS, RULES } from '#core/alerts/rules.ts'
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import { writeFileAtomic } from '../../files/atomic-file.ts'

const FORMAT = 1
const MOST_BYTES = 100_000
const content = z.object({ format: z.literal(FORMAT), rules: z.array(alertRule).max(64) })

const isMissing = (e: unknown): boolean => e instanceof Error && 'code' in e && e.code === 'ENOENT'

export class AlertSettings {
  /** Reason why saved settings are not in force. */
  notice: Failure | undefined
  readonly #file: string | undefined
  readonly #rules = new Map(KINDS.map((k) => [k, RULES[k].usual]))

  /** @param dataDir  undefined: settings are in memory only. */
  constructor(dataDir: string | undefined) {
    this.#file = dataDir === undefined ? undefined : join(dataDir, 'alerts.json')
    this.#read()
  }

  get rules(): AlertRule[] {
    return [...this.#rules.values()]
  }

  get faces(): AlertRuleView[] {
    return this.rules.map((r) => {
      const { title, plane, about, unit, least, most, clear, holdS, usual } = RULES[r.kind]
      return { ...r, title, plane, about, unit, least, most, clear, holdS, usual }
    })
  }

  /** Failures: ALERT_BOUNDS, ALERTS_NOT_WRITTEN; the settings are then unchanged. */
  set(rule: AlertRule): Result<undefined> {
    const { title, unit, least, most } = RULES[rule.kind]
    if (!isWithin(rule)) {
      return fail({
        code: 'ALERT_BOUNDS',
        what: `The alert ${title} was not changed`,
        why: `its threshold must be from ${least} to ${most} ${unit}`,
        next: 'Choose a threshold between them.',
      })
    }
    const next = KINDS.map((k) => (k === rule.kind ? rule : (this.#rules.get(k) ?? RULES[k].usual)))
    const written = this.#write(next)
    if (!written.ok) return written
    this.#rules.set(rule.kind, rule)
    this.notice = undefined
    return ok(undefined)
  }

  #write(rules: readonly AlertRule[]): Result<undefined> {
    if (this.#file === undefined) return ok(undefined)
    try {
      writeFileAtomic(this.#file, `${JSON.stringify({ format: FORMAT, rules }, null, 2)}\n`)
      return ok(undefined)
    } catch (e) {
      return fail({
        code: 'ALERTS_NOT_WRITTEN',
        what: 'Alert settings were not changed',
        why: e instanceof Error ? e.message : String(e),
        unaffected: 'The previous alert settings apply.',
        next: 'Check the data folder, then try again.',
      })
    }
  }

  #read(): void {
    if (this.#file === undefined) return
    let text: string
    try {
      text = readFileSync(this.#file, 'utf8')
    } catch (e) {
      if (!isMissing(e)) this.#unread(e instanceof Error ? e.message : String(e), '')
      return
    }
    const read = contentOf(text)
    if (read.ok) {
      for (const r of read.value) this.#rules.set(r.kind, r)
      return
    }
    this.#unread(read.error, this.#setAside())
  }

  /** An unreadable file is renamed, so that it can be recovered. */
  #setAside(): string {
    const aside = `${this.#file}.aside`
    try {
      renameSync(this.#file ?? '', aside)
      return aside
    } catch {
      return ''
    }
  }

  #unread(why: string, aside: string): void {
    this.notice = {
      code: 'ALERTS_UNREAD',
      what: 'Default alert settings apply',
      why: `the alert settings could not be read: ${why}`,
      unaffected: aside === '' ? 'Nothing else uses them.' : `The previous settings are kept in ${aside}.`,
      next: 'Set the thresholds again if needed.',
    }
  }
}

function contentOf(
  text: string,
): { readonly ok: true; readonly value: AlertRule[] } | { readonly ok: false; readonly error: string } {
  if (text.length > MOST_BYTES) return { ok: false, error: 'the file is too long' }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return { ok: false, error: 'it is not JSON' }
  }
  const format = z.object({ format: z.number() }).safeParse(value)
  if (format.success && format.data.format > FORMAT) return { ok: false, error: 'a newer version wrote it' }
  const read = content.safeParse(value)
  if (!read.success) return { ok: false, error: 'its content is not valid in this version' }
  if (!read.data.rules.every(isWithin)) return { ok: false, error: 'a threshold is out of bounds' }
  return { ok: true, value: read.data.rules }
}
