/** The one door to the system's browser. The linter lets nobody else open it. */
import { shell } from 'electron'
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'

const LONGEST = 2000

export const notOpened = (why: string): { ok: false; error: Failure } =>
  fail({ code: 'LINK_REFUSED', what: 'The page was not opened', why, next: 'Copy the address and open it by hand.' })

/** The address as it is handed over: https only, no name or password in it, nothing that cannot be seen. */
export function safeLink(address: string): Result<string> {
  if (address.length > LONGEST) return notOpened('its address is too long')
  if (/[\u0000-\u0020\u007f-\u00a0\u200b-\u200f\u2028-\u202e\u2066-\u2069\\]/.test(address)) {
    return notOpened('its address has characters that no address has')
  }
  const url = URL.parse(address)
  if (url?.protocol !== 'https:') return notOpened('its address is none of https')
  if (url.username !== '' || url.password !== '') return notOpened('its address names a user')
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
