/** All sessions of a console: one connection a server, jump hosts shared. */
import type { SshEndpoint } from './config.ts'
import { Session, type SessionParts } from './session.ts'
import type { HostKeys } from './verdict.ts'

/** Another key, or other known hosts, is another way in: it is tried on a connection of its own. */
const keyOf = (e: SshEndpoint): string =>
  JSON.stringify(
    [...e.jumps, e].map((hop) => [
      `${hop.user}@${hop.host.toLowerCase()}:${hop.port}`,
      hop.identities,
      hop.knownHosts,
      hop.identitiesOnly,
    ]),
  )

export class Sessions {
  readonly #hostKeys: HostKeys
  readonly #parts: Omit<SessionParts, 'via'>
  readonly #sessions = new Map<string, Session>()

  constructor(hostKeys: HostKeys, parts: Omit<SessionParts, 'via'>) {
    this.#hostKeys = hostKeys
    this.#parts = parts
  }

  /** The session of a server, the same one for the same way there; not connected yet when it is new. */
  to(endpoint: SshEndpoint): Session {
    const key = keyOf(endpoint)
    const known = this.#sessions.get(key)
    if (known) return known
    const last = endpoint.jumps.at(-1)
    const via = last && this.to({ ...last, jumps: endpoint.jumps.slice(0, -1) })
    const session = new Session(this.#hostKeys, endpoint, { ...this.#parts, via })
    this.#sessions.set(key, session)
    return session
  }

  stop(): void {
    for (const session of this.#sessions.values()) session.stop()
    this.#sessions.clear()
  }
}
