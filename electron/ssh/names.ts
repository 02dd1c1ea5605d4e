/**
 * Valid names of a session. Stricter than OpenSSH: a name becomes part of file names (`%h`), messages and words of
 * command lines on other machines, so it contains no character that is special there.
 */
const HOST = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,252}$/
const USER = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$/

export const isHostName = (text: string): boolean => HOST.test(text)
export const isUserName = (text: string): boolean => USER.test(text)

/** @returns undefined unless the text is a port, 1..65535, in decimal. */
export function parsePort(text: string): number | undefined {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0
  return port >= 1 && port <= 65535 ? port : undefined
}

/** Name of a server as in known_hosts and the trust store. */
export const hostAndPort = (host: string, port: number): string =>
  port === 22 ? host.toLowerCase() : `[${host.toLowerCase()}]:${port}`
