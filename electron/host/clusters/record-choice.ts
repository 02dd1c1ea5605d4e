/** Records operators' choices about servers in the audit of commands. */
import { fail, ok, type Result } from '#core/base/result.ts'
import type { EnforcementStore } from '../../enforce/store.ts'

/** Failure: NOT_ON_RECORD. */
export function recordChoice(store: Result<EnforcementStore>, server: string, text: string): Result<undefined> {
  const refuse = (why: string): Result<undefined> =>
    fail({
      code: 'NOT_ON_RECORD',
      what: 'It could not be recorded, so it was not done',
      why,
      next: 'Check the data folder, then try again.',
    })
  if (!store.ok) return refuse(store.error.why ?? store.error.what)
  try {
    store.value.audit({ cluster: '' }).write(Date.now(), server, 'mode', text)
    return ok(undefined)
  } catch (e) {
    return refuse(e instanceof Error ? e.message : String(e))
  }
}
