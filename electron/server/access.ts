/**
 * Who may see the console: a token in the printed address is traded once for a session cookie, and only the cookie
 * counts from then on. Tokens and sessions live in memory; nothing survives a restart.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/** Browsers that can hold a session at once; the oldest session gives way. */
const MAX_SESSIONS = 16

const secret = (): string => randomBytes(24).toString('base64url')
const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/** The one-time token and the sessions of one server. */
export class Access {
  #token: Buffer | undefined
  #sessions: Buffer[] = []

  /** A fresh one-time token; one that was not used yet loses its validity. `given` is for callers that must know it. */
  issue(given: string = secret()): string {
    this.#token = digest(given)
    return given
  }

  /** Trades the token for the secret of a new session; undefined when it is wrong or was used before. */
  trade(given: string): string | undefined {
    if (!this.#token || !timingSafeEqual(digest(given), this.#token)) return undefined
    this.#token = undefined
    const session = secret()
    this.#sessions = [...this.#sessions, digest(session)].slice(-MAX_SESSIONS)
    return session
  }

  /** Whether a session secret is valid. */
  admits(session: string | undefined): boolean {
    if (session === undefined) return false
    const given = digest(session)
    return this.#sessions.some((known) => timingSafeEqual(known, given))
  }
}

/** Cookies know no ports: each server names its own, so that two consoles on one machine do not log each other out. */
export const cookieName = (port: number): string => `sluice_${port}`

/** The value of a cookie in a Cookie header, or undefined. */
export function readCookie(header: string | undefined, name: string): string | undefined {
  for (const part of (header ?? '').split(';')) {
    const at = part.indexOf('=')
    if (at > 0 && part.slice(0, at).trim() === name) return part.slice(at + 1).trim()
  }
  return undefined
}
