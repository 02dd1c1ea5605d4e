/** The only access to the system's browser, enforced by a lint rule. */
import { shell } from 'electron'
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'

const LONGEST = 2000

export const notOpened = (why: string): { ok: false; error: Failure } =>
  fail({ code: 'LINK_REFUSED', what: 'The page was not opened', why, next: 'Copy the address and open it manually.' })

/** Validates an address: https only, without user name or password, without invisible characters. */
export function safeLink(address: string): Result<string> {
  if (address.length > LONGEST) return notOpened('its address is too long')
  if (/[\u0000-\u0020\u007f-\u00a0\u200b-\u200f\u2028-\u202e\u2066-\u2069\\]/.test(address)) {
    return notOpened('its address has invalid characters')
  }
  const url = URL.parse(address)
  if (url?.protocol !== 'https:') return notOpened('its address is not https')
  if (url.username !== '' || url.password !== '') return notOpened('its address contains a user name')
  return ok(url.href)
}

export async function openExternal(address: string): Promise<Result<undefined>> {
  const link = safeLink(address)
  if (!link.ok) return link
  try {
    await shell.openExternal(link.value)
    return ok(undefined)
  } catch (e) {
    return notOpened(e instanceof Error ? e.message : String(e))
  }
}
