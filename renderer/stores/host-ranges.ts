/**
 * Host names as typed by operators: separated by blanks or commas, with ranges in brackets (`oss[01-12]`, `mds[1,3]`),
 * as in clush and pdsh. Leading zeros are kept. A host may have its own login and port: `root@127.0.0.1:[2201-2204]`.
 */
import { expandHostName } from '#core/base/host-list.ts'

/** Most servers of one cluster in the contract. */
const MOST = 512
/** Same pattern as the host's. */
const HOST = /^(?:([A-Za-z0-9_][A-Za-z0-9._-]{0,63})@)?([A-Za-z0-9_][A-Za-z0-9._-]{0,252})(?::(\d{1,5}))?$/

export interface NamedHost {
  /** Label while it is being added: host, and port if given. */
  readonly label: string
  readonly host: string
  /** Empty or null: not given. */
  readonly user: string
  readonly port: number | null
}
export interface Hosts {
  /** Labels. */
  readonly hosts: readonly string[]
  readonly named: readonly NamedHost[]
  /** Fault of the text; empty if valid. The hosts before the fault are returned nevertheless. */
  readonly fault: string
}

/** Splits at blanks and commas outside brackets. */
function names(text: string): string[] {
  return text.match(/(?:\[[^\]\s]*\]?|[^\s,[])+/g) ?? []
}

function readHost(name: string): NamedHost | null {
  const [, user = '', host = '', digits] = HOST.exec(name) ?? []
  const port = digits === undefined ? null : Number(digits)
  if (host === '' || (port !== null && (port < 1 || port > 65535))) return null
  return { label: port === null ? host : `${host}:${port}`, host, user, port }
}

export function expandHosts(text: string): Hosts {
  const found = new Map<string, NamedHost>()
  const result = (fault: string): Hosts => {
    const named = [...found.values()].slice(0, MOST)
    return { hosts: named.map((n) => n.label), named, fault }
  }
  for (const name of names(text)) {
    const expanded = expandHostName(name, MOST)
    if ('reason' in expanded)
      return result(`${name} is not a range: write oss[01-12], or oss[01,03]; at most ${MOST} hosts.`)
    for (const one of expanded) {
      const named = readHost(one)
      if (named === null)
        return result(`${one} is not a host name: letters, digits, dots and dashes, as in root@oss01:22.`)
      if (!found.has(named.label)) found.set(named.label, named)
    }
    if (found.size > MOST) return result(`More than ${MOST} servers.`)
  }
  return result('')
}
