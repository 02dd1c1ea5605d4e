/**
 * Authentication of processes on different machines: by one shared key (TLS-PSK with a fresh key exchange), or by
 * certificates of one CA on both sides (mutual TLS 1.3). Without either, only this machine is reached: UNIX sockets and
 * loopback.
 *
 * A key is bound to its purpose, so that the same file does not open the port of another protocol. The permissions of
 * an authenticated peer are up to the protocol.
 */
import { hkdfSync, randomBytes } from 'node:crypto'
import { closeSync, constants, fstatSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { createSecureContext, type ConnectionOptions, type TlsOptions } from 'node:tls'
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import { isLoopback, printAddress, type Address, type PortAddress } from './address.ts'

/** Secret by which peers authenticate each other. */
export type PeerSecret =
  | { readonly kind: 'key'; readonly key: Buffer }
  | { readonly kind: 'certificate'; readonly ca: Buffer; readonly certificate: Buffer; readonly key: Buffer }

/** Files of a secret: one with a shared key, or three of mutual TLS. */
export interface SecretFiles {
  readonly keyFile?: string | undefined
  readonly tlsCa?: string | undefined
  readonly tlsCert?: string | undefined
  readonly tlsKey?: string | undefined
}

/** Purpose of a connection, and its secret. */
export interface Peering {
  /** Name of the protocol, `sluice-padll/1`: the key of one does not open another. */
  readonly purpose: string
  readonly secret: PeerSecret | undefined
}

const SECRET_BYTES_MAX = 1 << 16
/** Length of 32 bytes in base64. */
const KEY_LENGTH = 43
/** Deadline of a handshake. */
export const HANDSHAKE_MS = 5000
/** The only suite: forward secrecy by an ephemeral exchange, authenticated encryption. */
const PSK = { ciphers: 'ECDHE-PSK-CHACHA20-POLY1305', minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2' } as const

const refused = (file: string, why: string, next = 'Name another file.'): Result<never> =>
  fail({ code: 'SECRET_FILE', what: `The file ${file} cannot be used`, why, next })

/** Reads a file; a secret must be owned by the user or root, and closed to all others. */
function readBounded(file: string, isSecret: boolean): Result<Buffer> {
  let fd: number | undefined
  try {
    // A FIFO would block the program.
    fd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK)
    const found = fstatSync(fd)
    if (!found.isFile()) return refused(file, 'it is not a file')
    if (found.size > SECRET_BYTES_MAX) return refused(file, `it has more than ${SECRET_BYTES_MAX} bytes`)
    if (isSecret && found.uid !== 0 && found.uid !== process.getuid?.()) {
      return refused(file, 'it belongs to another user')
    }
    if (isSecret && (found.mode & 0o077) !== 0) {
      return refused(
        file,
        'other users can read it',
        `Remove their access with chmod 600, and replace the key if they could read it.`,
      )
    }
    return ok(readFileSync(fd))
  } catch (e) {
    return refused(file, e instanceof Error ? e.message : String(e))
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
}

function readKey(file: string): Result<PeerSecret> {
  const read = readBounded(file, true)
  if (!read.ok) return read
  const text = read.value.toString('latin1').trim()
  if (text.length < KEY_LENGTH || !/^[\x21-\x7e]+$/.test(text)) {
    return refused(
      file,
      `a key is one word of at least ${KEY_LENGTH} characters`,
      'Make one with sluice padll key FILE or sluice ccpfs key FILE, and copy it to the other machines.',
    )
  }
  return ok({ kind: 'key', key: Buffer.from(text, 'latin1') })
}

function readCertificates(ca: string, cert: string, key: string): Result<PeerSecret> {
  const authority = readBounded(ca, false)
  if (!authority.ok) return authority
  const certificate = readBounded(cert, false)
  if (!certificate.ok) return certificate
  const ownKey = readBounded(key, true)
  if (!ownKey.ok) return ownKey
  try {
    createSecureContext({ ca: authority.value, cert: certificate.value, key: ownKey.value })
  } catch (e) {
    return refused(cert, `with ${ca} and ${key}: ${e instanceof Error ? e.message : String(e)}`)
  }
  return ok({ kind: 'certificate', ca: authority.value, certificate: certificate.value, key: ownKey.value })
}

/**
 * Reads the secret from the named files; undefined if none is named.
 *
 * @returns SECRET_FILE, SECRET_CHOICE.
 */
export function readSecret({ keyFile, tlsCa, tlsCert, tlsKey }: SecretFiles): Result<PeerSecret | undefined> {
  const named = [tlsCa, tlsCert, tlsKey].filter((file) => file !== undefined).length
  if (named > 0 && keyFile !== undefined) {
    return fail({
      code: 'SECRET_CHOICE',
      what: 'Two ways of authentication are configured',
      why: 'a key file and TLS certificates are named',
      next: 'Name one of them.',
    })
  }
  if (keyFile !== undefined) return readKey(keyFile)
  if (tlsCa !== undefined && tlsCert !== undefined && tlsKey !== undefined)
    return readCertificates(tlsCa, tlsCert, tlsKey)
  if (named === 0) return ok(undefined)
  return fail({
    code: 'SECRET_CHOICE',
    what: 'Mutual TLS cannot be used',
    why: 'it needs three files',
    next: 'Name the CA, the certificate and its key.',
  })
}

/** Writes a new key to a file that must not exist. @returns SECRET_FILE. */
export function writeKey(file: string): Result<string> {
  try {
    writeFileSync(file, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600, flag: 'wx' })
    return ok(file)
  } catch (e) {
    return refused(file, e instanceof Error ? e.message : String(e))
  }
}

/** Reason why an address may not be used without a secret; undefined if it may. */
export function openAddressFault(address: Address, secret: PeerSecret | undefined): Failure | undefined {
  if ('path' in address || secret !== undefined || isLoopback(address.host)) return undefined
  return {
    code: 'PEER_UNAUTHENTICATED',
    what: `${printAddress(address)} is not used without authentication`,
    why: 'it is not on this machine, and any host that reaches it could pose as the other side',
    unaffected: 'Nothing was opened.',
    next: 'Name a key file that both sides have (sluice padll key or sluice ccpfs key makes one), or TLS certificates of one CA; or use loopback through SSH.',
  }
}

/** Derives the key of one protocol. */
const keyFor = (key: Buffer, purpose: string): Buffer =>
  Buffer.from(hkdfSync('sha256', key, 'sluice peer key', purpose, 32))

/** TLS options of a server. */
export function serverTls(secret: PeerSecret, purpose: string): TlsOptions {
  if (secret.kind === 'certificate') {
    return {
      ca: secret.ca,
      cert: secret.certificate,
      key: secret.key,
      requestCert: true,
      rejectUnauthorized: true,
      minVersion: 'TLSv1.3',
      handshakeTimeout: HANDSHAKE_MS,
    }
  }
  const key = keyFor(secret.key, purpose)
  return {
    ...PSK,
    pskCallback: (_socket, identity) => (identity === purpose ? key : null),
    handshakeTimeout: HANDSHAKE_MS,
  }
}

/** TLS options of a client. A certificate must name the host that was requested. */
export function clientTls(secret: PeerSecret, purpose: string, { host, port }: PortAddress): ConnectionOptions {
  if (secret.kind === 'certificate') {
    return {
      host,
      port,
      ca: secret.ca,
      cert: secret.certificate,
      key: secret.key,
      minVersion: 'TLSv1.3',
      // An IP address is not a valid server name.
      servername: isIP(host) === 0 ? host : '',
    }
  }
  const psk = keyFor(secret.key, purpose)
  return {
    ...PSK,
    host,
    port,
    pskCallback: () => ({ psk, identity: purpose }),
    // There is no certificate: the key proves the identity.
    checkServerIdentity: () => undefined,
  }
}

/** Reason of a failed handshake for display. */
export function handshakeFault(error: NodeJS.ErrnoException & { reason?: string }): string {
  const code = error.code ?? ''
  if (/BAD_RECORD_MAC|DECRYPT/.test(code)) return 'it has another key'
  if (/PSK_IDENTITY/.test(code)) return 'it speaks another protocol'
  if (/HTTP_REQUEST|WRONG_VERSION_NUMBER|PACKET_LENGTH/.test(code)) return 'it does not speak TLS'
  if (code === 'ERR_TLS_HANDSHAKE_TIMEOUT') return 'it did not finish the handshake'
  return error.reason ?? error.message.split('\n', 1)[0] ?? code
}
