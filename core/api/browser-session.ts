/**
 * Names shared by the browser shell and its page. A cookie is sent to every port of a host, so it only authorizes the page's files; the
 * socket also requires a key, which the page keeps in the storage of its origin, and origins include the port.
 */

/** Subprotocol of the socket; the server selects it. */
export const RPC_PROTOCOL = 'sluice.rpc'
const KEY_PROTOCOL = 'sluice.key.'

/** Subprotocols offered by a page: handshake headers, which appear in no address and no log. */
export const offeredProtocols = (key: string): string[] => [RPC_PROTOCOL, KEY_PROTOCOL + key]

/** Returns the key among the offered subprotocols, or undefined. */
export function keyOffered(header: string | undefined): string | undefined {
  const offered = (header ?? '').split(',').map((name) => name.trim())
  return offered.find((name) => name.startsWith(KEY_PROTOCOL))?.slice(KEY_PROTOCOL.length)
}

/** Answers 204 to a page whose cookie and key (`Authorization: Bearer`) are valid, 401 to any other. */
export const SESSION_PATH = '/session'

/** URL fragment with which the server passes the key once: browsers send fragments to no server. */
export const keyFragment = (key: string): string => `#key=${key}`

/** Returns the key in a fragment, or undefined. */
export const keyInFragment = (fragment: string): string | undefined => /^#key=([\w-]{32})$/.exec(fragment)?.[1]

/** Instruction for opening the console in a browser. */
export const FRESH_ADDRESS =
  'In the terminal where Sluice runs, press u and Enter for a fresh address, or start Sluice again and open the one it prints.'
