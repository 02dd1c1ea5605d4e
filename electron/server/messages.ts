/** The outline of what a window may send, checked before oRPC decodes it: oRPC throws on what it cannot read. */

/** Largest message of a window; the biggest honest one is a filter of a few hundred characters. */
export const MAX_MESSAGE = 1 << 20

const EVENT = 3
const ABORT = 4

/** Whether data is one of oRPC's encoded messages: { i: id, p: { u: path } } for a call, { i, t } for what follows it. */
export function isMessage(data: unknown): data is string {
  if (typeof data !== 'string' || data.length > MAX_MESSAGE) return false
  let message: unknown
  try {
    message = JSON.parse(data)
  } catch {
    return false
  }
  if (!isRecord(message) || typeof message.i !== 'string') return false
  if (message.t === ABORT) return true
  if (message.t === EVENT) return isRecord(message.p)
  const path = isRecord(message.p) ? message.p.u : undefined
  return typeof path === 'string' && path.startsWith('/') && URL.canParse(`http://orpc${path}`)
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null
