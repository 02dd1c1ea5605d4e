/**
 * Reader of known_hosts as described in sshd(8), which is never written: plain and hashed names, `[host]:port`,
 * wildcards, negation, `@revoked`, `@cert-authority`.
 *
 * Unreadable input fails closed: an existing file that cannot be read, and a revocation for this host whose key is not
 * valid. Deviation from OpenSSH: a key known for the host's port 22 does not count for another port.
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
  /** A file that was named explicitly must exist; a default one need not. */
  readonly isRequired: boolean
}

/** One line that names the host. */
export interface KnownKey {
  readonly kind: 'key' | 'revoked' | 'authority'
  readonly type: string
  readonly fingerprint: string
  /** `file:line`, for display. */
  readonly where: string
}

export interface KnownKeys {
  readonly keys: readonly KnownKey[]
  /** Reasons why the known keys may be incomplete: the host is then refused. */
  readonly faults: readonly string[]
}

interface Line {
  readonly marker: string
  readonly names: string
  readonly type: string
  readonly key: string
}

function splitLine(text: string): Line | undefined {
  const fields = text.trim().split(/[ \t]+/)
  const marker = fields[0]?.startsWith('@') ? (fields.shift() ?? '') : ''
  const [names = '', type = '', key = ''] = fields
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

/** Entries of a host in the text of one file. */
export function knownKeysIn(text: string, where: string, host: string, port: number): KnownKeys {
  const name = hostAndPort(host, port)
  const keys: KnownKey[] = []
  const faults: string[] = []
  let at = 0
  for (const raw of text.split('\n')) {
    at++
    const place = `${where}:${at}`
    if (raw.length > LINE_BYTES) {
      // The line may concern any host.
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

/**
 * Entries of a host in all files. They are read each time, so that a removed line takes effect at the next connection.
 */
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
