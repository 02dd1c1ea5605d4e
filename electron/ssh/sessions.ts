/** All sessions of a console: one connection per server, shared jump hosts. */
import type { SshEndpoint } from './config.ts'
import { Session, type SessionParts } from './session.ts'
import type { HostKeys } from './verdict.ts'

/** Another identity, or other known hosts, gets a connection of its own. */
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

  /** Session of a server, shared by equal endpoints; a new one is not connected yet. */
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
