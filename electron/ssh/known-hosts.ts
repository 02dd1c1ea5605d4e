/**
 * known_hosts as sshd(8) describes it, read and never written: plain and hashed names, `[host]:port`, wildcards, negation,
 * `@revoked`, `@cert-authority`.
 *
 * What cannot be read closes the door instead of opening it: a file that is there and unreadable, and a revocation for this host
 * whose key makes no sense. Deviation from OpenSSH: a key known for the host's port 22 does not vouch for another port.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { parseHostKey } from './host-key.ts'
import { hostAndPort } from './names.ts'
import { matchesList } from './patterns.ts'
import { readPlainFile } from './plain-file.ts'

const FILE_BYTES = 16 << 20
const LINE_BYTES = 32 << 10

export interface KnownHostsFile {
  readonly path: string
  /** A file that somebody named must be there; one of the defaults need not. */
  readonly isRequired: boolean
}

/** One line that names the host. */
export interface KnownKey {
  readonly kind: 'key' | 'revoked' | 'authority'
  readonly type: string
  readonly fingerprint: string
  /** `file:line`, for people. */
  readonly where: string
}

export interface KnownKeys {
  readonly keys: readonly KnownKey[]
  /** Why what is known may be incomplete: the host is then refused. */
  readonly faults: readonly string[]
}

interface Line {
  readonly marker: string
  readonly names: string
  readonly type: string
  readonly key: string
}

function splitLine(text: string): Line | undefined {
  const words = text.trim().split(/[ \t]+/)
  const marker = words[0]?.startsWith('@') ? (words.shift() ?? '') : ''
  const [names = '', type = '', key = ''] = words
  return key === '' ? undefined : { marker, names, type, key }
}

function isHashOf(entry: string, name: string): boolean {
  const [, magic, salt, hash, ...rest] = entry.split('|')
  if (magic !== '1' || !salt || !hash || rest.length > 0) return false
  const want = Buffer.from(hash, 'base64')
  const have = createHmac('sha1', Buffer.from(salt, 'base64')).update(name).digest()
  return want.length === have.length && timingSafeEqual(want, have)
}

const isFor = (names: string, name: string): boolean =>
  names.startsWith('|') ? isHashOf(names, name) : matchesList(names.toLowerCase().split(','), name) === 'yes'

/** What one file's text has of a host. */
export function knownKeysIn(text: string, where: string, host: string, port: number): KnownKeys {
  const name = hostAndPort(host, port)
  const keys: KnownKey[] = []
  const faults: string[] = []
  let at = 0
  for (const raw of text.split('\n')) {
    at++
    const place = `${where}:${at}`
    if (raw.length > LINE_BYTES) {
      // It may be about any host.
      faults.push(`${place} is longer than ${LINE_BYTES} bytes`)
      continue
    }
    if (/^\s*(#|$)/.test(raw)) continue
    const line = splitLine(raw)
    if (!line) {
      if (/^\s*@revoked\b/.test(raw)) faults.push(`${place} revokes something and is cut short`)
      continue
    }
    const kind = ({ '': 'key', '@revoked': 'revoked', '@cert-authority': 'authority' } as const)[line.marker]
    if (!kind || !isFor(line.names, name)) continue
    const key = /^[A-Za-z0-9+/]+={0,2}$/.test(line.key) ? parseHostKey(Buffer.from(line.key, 'base64')) : undefined
    if (key?.type === line.type) keys.push({ kind, type: key.type, fingerprint: key.fingerprint, where: place })
    else if (kind === 'revoked') faults.push(`${place} revokes a key of this host that cannot be read`)
  }
  return { keys, faults }
}

/** What the files have of a host, together. They are read anew each time: a line taken out counts at the next connection. */
export function readKnownKeys(files: readonly KnownHostsFile[], host: string, port: number): KnownKeys {
  const keys: KnownKey[] = []
  const faults: string[] = []
  for (const file of files) {
    const read = readPlainFile(file.path, FILE_BYTES)
    if (read.kind === 'unreadable') faults.push(`${file.path}: ${read.why}`)
    else if (read.kind === 'absent' && file.isRequired) faults.push(`${file.path}: there is no such file`)
    if (read.kind !== 'read') continue
    const known = knownKeysIn(read.bytes.toString('latin1'), file.path, host, port)
    keys.push(...known.keys)
    faults.push(...known.faults)
  }
  return { keys, faults }
}
