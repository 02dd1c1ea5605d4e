/**
 * The audit with other names in it. Its hashes are those of the texts as they were sent, by which anyone could try names; so the chain is
 * made anew over what is here, and ids of plans, hashes of their commands, have stand-ins. Numbers, times and kinds stay.
 */
import type { Redactor } from '#core/snapshot/redactor.ts'
import type { AuditContext, AuditRecord } from '../../base/audit.ts'
import { rehashed } from '../bundle/audit-member.ts'
import type { AuditSlice } from '../bundle/bundle-source.ts'

const contextOf = (by: AuditContext, r: Redactor): AuditContext => ({
  cluster: r.name('cluster', by.cluster),
  // One of figures alone would pass for a figure.
  plan: /^\d+$/.test(by.plan) ? r.name('job', by.plan) : r.text(by.plan),
  who: r.name('user', by.who),
  login: loginOf(by.login, r),
  monoMs: by.monoMs,
})

/** SSH login, and the fingerprint of its key behind a blank. */
function loginOf(login: string, r: Redactor): string {
  const at = login.indexOf(' ')
  if (at < 0) return r.name('user', login)
  return r.name('user', login.slice(0, at)) + r.text(login.slice(at))
}

/** Who is on record without knowing how its login is written: what is before a blank or an `@`. */
export const loginName = (login: string): string => login.split(' ', 1)[0] ?? ''

/** @returns  `verified` says of the chain that it was copied from. */
export function redactAudit(slice: AuditSlice, r: Redactor): AuditSlice {
  if (!r.isOn) return slice
  const records: AuditRecord[] = slice.records.map((record) => ({
    ...record,
    server: r.name('host', record.server),
    text: r.text(record.text),
    ...(record.by ? { by: contextOf(record.by, r) } : {}),
  }))
  return { ...rehashed(records), verified: slice.verified }
}
