/**
 * Redacted audit. The original hashes cover the original texts and would allow names to be guessed; so the chain is
 * rehashed over the redacted records, and plan ids, which are hashes of commands, are replaced. Numbers, times and
 * kinds are kept.
 */
import type { Redactor } from '#core/snapshot/redactor.ts'
import type { AuditContext, AuditRecord } from '../../base/audit.ts'
import { rehashed } from '../bundle/audit-member.ts'
import type { AuditSlice } from '../bundle/bundle-source.ts'

const contextOf = (by: AuditContext, r: Redactor): AuditContext => ({
  cluster: r.name('cluster', by.cluster),
  // An all-digit id would be taken for a figure.
  plan: /^\d+$/.test(by.plan) ? r.name('job', by.plan) : r.text(by.plan),
  who: r.name('user', by.who),
  login: loginOf(by.login, r),
  monoMs: by.monoMs,
})

/** SSH login, and the fingerprint of its key after a blank. */
function loginOf(login: string, r: Redactor): string {
  const at = login.indexOf(' ')
  if (at < 0) return r.name('user', login)
  return r.name('user', login.slice(0, at)) + r.text(login.slice(at))
}

/** Login without the fingerprint of its key: the part before a blank, `user` or `user@host`. */
export const loginName = (login: string): string => login.split(' ', 1)[0] ?? ''

/** @returns  `verified` refers to the original chain. */
export function redactAudit(slice: AuditSlice, r: Redactor): AuditSlice {
  if (!r.isOn) return slice
  const records: AuditRecord[] = slice.records.map((record) => ({
    ...record,
    server: r.name('host', record.server),
    // An operator's choice has the reason as typed, or a verdict of the sandbox.
    text: record.kind === 'mode' ? r.prose(record.text) : r.text(record.text),
    ...(record.by ? { by: contextOf(record.by, r) } : {}),
  }))
  return { ...rehashed(records), verified: slice.verified }
}
