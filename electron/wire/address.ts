/** Addresses of peers: a UNIX socket, or a port. */
import { isIPv4 } from 'node:net'
import { fail, ok, type Result } from '#core/base/result.ts'

export interface PathAddress {
  readonly path: string
}
export interface PortAddress {
  readonly host: string
  readonly port: number
}
export type Address = PathAddress | PortAddress

/** Parses `/a/path`, `unix:/a/path`, `host:port` or `[::1]:port`. */
export function parseAddress(text: string): Result<Address> {
  if (text.startsWith('/')) return ok({ path: text })
  if (text.startsWith('unix:/')) return ok({ path: text.slice('unix:'.length) })
  const found = /^(?:\[([0-9a-fA-F:.]+)\]|([A-Za-z0-9._-]+)):(\d{1,5})$/.exec(text)
  const host = found?.[1] ?? found?.[2]
  const port = Number(found?.[3])
  if (host !== undefined && port <= 65_535) return ok({ host, port })
  return fail({
    code: 'ADDRESS',
    what: 'Not an address',
    why: 'a path, unix:/path or host:port is expected',
  })
}

export const printAddress = (a: Address): string =>
  'path' in a ? a.path : a.host.includes(':') ? `[${a.host}]:${a.port}` : `${a.host}:${a.port}`

/** True for a loopback IP address and the name `localhost`; no other name is trusted. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'))
