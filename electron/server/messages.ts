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

/** A window asked for a verb that the contract does not have. */
export type UnknownVerb = (peer: string, verb: string) => void

/** Paths of the verbs of a router, as messages name them: `/source/setMode`. */
export function verbsOf(router: unknown, at = ''): ReadonlySet<string> {
  if (!isRecord(router) || '~orpc' in router) return new Set([at])
  return new Set(Object.entries(router).flatMap(([name, inner]) => [...verbsOf(inner, `${at}/${name}`)]))
}

/** Unknown verbs that are told of one peer: the first ones say it all. */
const TOLD = 5
/** And of all of them: a window that connects again is another peer, and what is told is written down. */
const TOLD_OVERALL = 100

/** Looks at what a peer sends and tells of verbs that nobody offers; oRPC answers them by itself. */
export function verbWatch(known: ReadonlySet<string>, onUnknown: UnknownVerb): (peer: string, data: string) => void {
  const told = new Map<string, number>()
  let overall = 0
  return (peer, data) => {
    if (overall >= TOLD_OVERALL) return
    const message = JSON.parse(data) as { p?: { u?: unknown } }
    const verb = message.p?.u
    if (typeof verb !== 'string' || known.has(verb.split('?', 1)[0] as string)) return
    const before = told.get(peer) ?? 0
    if (before >= TOLD) return
    told.set(peer, before + 1)
    overall++
    onUnknown(peer, verb.slice(0, 100))
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null
