/**
 * Names that the browser shell and its page share. A cookie goes to every port of a host, so it opens the page's files and nothing
 * else; the socket asks for a key besides, which a page keeps in the storage of its own origin, and a port has another origin.
 */

/** Subprotocol of the socket; the server selects it. */
export const RPC_PROTOCOL = 'sluice.rpc'
const KEY_PROTOCOL = 'sluice.key.'

/** Subprotocols that a page offers: headers of the handshake, which no address carries and no log has. */
export const offeredProtocols = (key: string): string[] => [RPC_PROTOCOL, KEY_PROTOCOL + key]

/** The key among the offered subprotocols, or undefined. */
export function keyOffered(header: string | undefined): string | undefined {
  const offered = (header ?? '').split(',').map((name) => name.trim())
  return offered.find((name) => name.startsWith(KEY_PROTOCOL))?.slice(KEY_PROTOCOL.length)
}

/** Answers 204 to a page whose cookie and key (`Authorization: Bearer`) are valid, 401 to any other. */
export const SESSION_PATH = '/session'

/** The fragment by which the server hands over the key once: a browser sends no fragment to any server. */
export const keyFragment = (key: string): string => `#key=${key}`

/** The key in a fragment, or undefined. */
export const keyInFragment = (fragment: string): string | undefined => /^#key=([\w-]{32})$/.exec(fragment)?.[1]

/** Instruction for opening the console in a browser. */
export const FRESH_ADDRESS =
  'In the terminal where Sluice runs, press u and Enter for a fresh address, or start Sluice again and open the one it prints.'
