/**
 * Who may see the console. The token in the printed address is traded once for two secrets: a session cookie, which a browser sends to
 * every port of the host and which therefore opens the page's files only, and a key, which the page keeps for its own origin and
 * the socket asks for. Tokens and sessions live in memory; nothing survives a restart.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/** Browsers that can hold a session at once; the oldest session gives way. */
const MAX_SESSIONS = 16

const secret = (): string => randomBytes(24).toString('base64url')
const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/** What a traded token gives a browser. */
export interface Session {
  readonly cookie: string
  readonly key: string
}

/** The one-time token and the sessions of one server. */
export class Access {
  #token: Buffer | undefined
  #sessions: { readonly cookie: Buffer; readonly key: Buffer }[] = []

  /** A fresh one-time token; one that was not used yet loses its validity. `given` is for callers that must know it. */
  issue(given: string = secret()): string {
    this.#token = digest(given)
    return given
  }

  /** Trades the token for the secrets of a new session; undefined when it is wrong or was used before. */
  trade(given: string): Session | undefined {
    if (!this.#token || !timingSafeEqual(digest(given), this.#token)) return undefined
    this.#token = undefined
    const session = { cookie: secret(), key: secret() }
    const known = { cookie: digest(session.cookie), key: digest(session.key) }
    this.#sessions = [...this.#sessions, known].slice(-MAX_SESSIONS)
    return session
  }

  /** Whether one of the values of the cookie is a session's: a page on another port can add values, which stand first. */
  admits(cookies: readonly string[]): boolean {
    return cookies.some((cookie) => {
      const given = digest(cookie)
      return this.#sessions.some((known) => timingSafeEqual(known.cookie, given))
    })
  }

  /**
   * Whether a key is a session's. Not necessarily the cookie's: a tab keeps its key when another address is opened beside it, which
   * replaces the cookie of both.
   */
  opens(key: string | undefined): boolean {
    if (key === undefined) return false
    const given = digest(key)
    return this.#sessions.some((known) => timingSafeEqual(known.key, given))
  }
}

/** Cookies know no ports: each server names its own, so that two consoles on one machine do not log each other out. */
export const cookieName = (port: number): string => `sluice_${port}`

/** The values of a cookie in a Cookie header: there can be several, of other paths. */
export function readCookies(header: string | undefined, name: string): string[] {
  return (header ?? '').split(';').flatMap((part) => {
    const at = part.indexOf('=')
    return at > 0 && part.slice(0, at).trim() === name ? [part.slice(at + 1).trim()] : []
  })
}
