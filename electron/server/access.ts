/**
 * Access control of the console. The token in the printed address is exchanged once for two secrets: a session cookie, which a
 * browser sends to every port of the host and which therefore only gives access to the page's files, and a key, which the page
 * keeps for its own origin and which the socket requires. Tokens and sessions are kept in memory; nothing survives a restart.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/** Most concurrent sessions; the oldest one is dropped. */
const MAX_SESSIONS = 16

const secret = (): string => randomBytes(24).toString('base64url')
const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/** Secrets of a session, in exchange for a token. */
export interface Session {
  readonly cookie: string
  readonly key: string
}

/** One-time token and sessions of one server. */
export class Access {
  #token: Buffer | undefined
  #sessions: { readonly cookie: Buffer; readonly key: Buffer }[] = []

  /** Issues a new one-time token; an unused earlier one becomes invalid. `given` is for callers that must know it. */
  issue(given: string = secret()): string {
    this.#token = digest(given)
    return given
  }

  /** Exchanges the token for the secrets of a new session; undefined if it is wrong or was used before. */
  trade(given: string): Session | undefined {
    if (!this.#token || !timingSafeEqual(digest(given), this.#token)) return undefined
    this.#token = undefined
    const session = { cookie: secret(), key: secret() }
    const known = { cookie: digest(session.cookie), key: digest(session.key) }
    this.#sessions = [...this.#sessions, known].slice(-MAX_SESSIONS)
    return session
  }

  /** True if one of the cookie's values is a session's: a page on another port can add values, which come first. */
  admits(cookies: readonly string[]): boolean {
    return cookies.some((cookie) => {
      const given = digest(cookie)
      return this.#sessions.some((known) => timingSafeEqual(known.cookie, given))
    })
  }

  /**
   * True if a key is a session's. Not necessarily the cookie's: a tab keeps its key when another address is opened beside it,
   * which replaces the cookie of both.
   */
  opens(key: string | undefined): boolean {
    if (key === undefined) return false
    const given = digest(key)
    return this.#sessions.some((known) => timingSafeEqual(known.key, given))
  }
}

/**
 * Cookies are not separated by port: each server has its own name, so that two consoles on one machine do not log each other out.
 */
export const cookieName = (port: number): string => `sluice_${port}`

/** Values of a cookie in a Cookie header: there may be several, of other paths. */
export function readCookies(header: string | undefined, name: string): string[] {
  return (header ?? '').split(';').flatMap((part) => {
    const at = part.indexOf('=')
    return at > 0 && part.slice(0, at).trim() === name ? [part.slice(at + 1).trim()] : []
  })
}
