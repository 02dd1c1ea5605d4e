/** Validates the outline of window messages before oRPC decodes them: oRPC throws on those it cannot read. */

/** Largest message of a window; the largest legitimate one is a filter of a few hundred characters. */
export const MAX_MESSAGE = 1 << 20

const EVENT = 3
const ABORT = 4

/** True if data is an encoded oRPC message: { i: id, p: { u: path } } for a call, { i, t } for its follow-ups. */
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

/** Called when a window requests a verb that the contract does not have. */
export type UnknownVerb = (peer: string, verb: string) => void

/** Paths of the verbs of a router, as in messages: `/source/setMode`. */
export function verbsOf(router: unknown, at = ''): ReadonlySet<string> {
  if (!isRecord(router) || '~orpc' in router) return new Set([at])
  return new Set(Object.entries(router).flatMap(([name, inner]) => [...verbsOf(inner, `${at}/${name}`)]))
}

/** Most unknown verbs that are reported per peer. */
const REPORTED_PER_PEER = 5
/** Most unknown verbs that are reported over all peers: a window that reconnects is a new peer, and reports are logged. */
const REPORTED_OVERALL = 100

/** Watches the messages of a peer and reports unknown verbs; oRPC itself answers them. */
export function verbWatch(known: ReadonlySet<string>, onUnknown: UnknownVerb): (peer: string, data: string) => void {
  const reported = new Map<string, number>()
  let overall = 0
  return (peer, data) => {
    if (overall >= REPORTED_OVERALL) return
    const message = JSON.parse(data) as { p?: { u?: unknown } }
    const verb = message.p?.u
    if (typeof verb !== 'string' || known.has(verb.split('?', 1)[0] as string)) return
    const before = reported.get(peer) ?? 0
    if (before >= REPORTED_PER_PEER) return
    reported.set(peer, before + 1)
    overall++
    onUnknown(peer, verb.slice(0, 100))
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null
