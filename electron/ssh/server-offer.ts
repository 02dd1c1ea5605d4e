/**
 * Cleartext of a server before key exchange (RFC 4253 4.2, 7.1): its version and the algorithms that it offers. Parsed
 * beside ssh2, which reports neither why negotiation failed nor whether key exchange is strict.
 */
const CLEAR_BYTES = 64 << 10
const KEXINIT = 20
const COOKIE_BYTES = 16
const STRICT = 'kex-strict-s-v00@openssh.com'

export interface OfferedLists {
  readonly kex: readonly string[]
  readonly hostKey: readonly string[]
  /** Client to server. */
  readonly cipherIn: readonly string[]
  readonly cipherOut: readonly string[]
  readonly macIn: readonly string[]
  readonly macOut: readonly string[]
  readonly compressIn: readonly string[]
}

export class ServerOffer {
  #bytes: Buffer = Buffer.alloc(0)
  #isDone = false
  /** `OpenSSH_9.2p1 Debian-2`; undefined until received. */
  software: string | undefined
  lists: OfferedLists | undefined

  get isStrict(): boolean {
    return this.lists?.kex.includes(STRICT) ?? false
  }

  /** @returns true while more bytes are needed. */
  push(chunk: Buffer): boolean {
    if (this.#isDone) return false
    this.#bytes = Buffer.concat([this.#bytes, chunk])
    this.#isDone = this.#read() || this.#bytes.length > CLEAR_BYTES
    if (this.#isDone) this.#bytes = Buffer.alloc(0)
    return !this.#isDone
  }

  /** @returns true when complete. */
  #read(): boolean {
    const bytes = this.#bytes
    let at = 0
    for (;;) {
      const end = bytes.indexOf(10, at)
      if (end < 0) return false
      const line = bytes.toString('latin1', at, end).replace(/\r$/, '')
      at = end + 1
      if (!line.startsWith('SSH-')) continue
      this.software = line.replace(/^SSH-[^-]*-/, '').slice(0, 120)
      break
    }
    if (bytes.length < at + 6) return false
    const length = bytes.readUInt32BE(at)
    const padding = bytes[at + 4] ?? 0
    if (length > CLEAR_BYTES || padding + 1 > length) return true
    if (bytes.length < at + 4 + length) return false
    const payload = bytes.subarray(at + 5, at + 4 + length - padding)
    if (payload[0] === KEXINIT) this.lists = parseLists(payload.subarray(1 + COOKIE_BYTES))
    return true
  }
}

function parseLists(bytes: Buffer): OfferedLists | undefined {
  const lists: string[][] = []
  let at = 0
  while (lists.length < 8) {
    if (at + 4 > bytes.length) return undefined
    const length = bytes.readUInt32BE(at)
    at += 4
    if (length > bytes.length - at) return undefined
    const text = bytes.toString('latin1', at, at + length).replace(/[^\x21-\x7e]/g, '?')
    lists.push(text === '' ? [] : text.split(','))
    at += length
  }
  const [kex, hostKey, cipherIn, cipherOut, macIn, macOut, compressIn] = lists
  if (!kex || !hostKey || !cipherIn || !cipherOut || !macIn || !macOut || !compressIn) return undefined
  return { kex, hostKey, cipherIn, cipherOut, macIn, macOut, compressIn }
}
