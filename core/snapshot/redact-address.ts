/**
 * Pseudonyms for client addresses: NIDs, IP addresses, and the patterns that rules match them by. An IPv4 address is mapped
 * into 240.0.0.0/4, which is unassigned; two addresses of one network stay in one network, so `10.3.*.*` still matches the same
 * clients.
 *
 * Deviations: number ranges inside an octet (`[2-128/2]`), stars in the first two octets, and networks that do not end at an
 * octet have no exact equivalent; they are counted.
 */
import type { PseudonymTable } from './pseudonym-table.ts'

const NID = /^([^@\s]+)@([a-z][a-z0-9]*)$/
const NETS = /^(?:lo|tcp|o2ib|gni|kfi|ptlf|efa|bxi3f|elan|ra|mx|viblnd|openib|iib)\d*$/
const IPV4 = /^\d{1,3}(?:\.\d{1,3}){3}$/
const IPV6 = /^[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7}$/i
/** Number of /16 networks of 240.0.0.0/4 used for pseudonyms. */
const PREFIXES_MAX = 4_095

export const isIpv4 = (text: string): boolean => IPV4.test(text) && text.split('.').every((o) => Number(o) <= 255)

/** True for an address, with or without its network, or a pattern of addresses. */
export function isAddress(text: string): boolean {
  const nid = NID.exec(text)
  if (nid) return NETS.test(nid[2] as string)
  return isIpv4(text) || (IPV6.test(text) && text.includes('::')) || (IPV6.test(text) && text.split(':').length === 8)
}

const isPseudonym = (first: string): boolean => Number(first) >= 240

export class Addresses {
  readonly #pseudonyms: PseudonymTable
  /** Pseudonyms of the first two octets. */
  readonly #prefixes = new Map<string, string>()
  readonly #taken = new Set<string>()
  /** Tables of the Feistel rounds, by preceding octets. */
  readonly #rounds = new Map<string, readonly number[][]>()
  /** Patterns that may match other addresses than before. */
  inexact = 0

  constructor(pseudonyms: PseudonymTable) {
    this.#pseudonyms = pseudonyms
    for (const text of [...pseudonyms.names.of('address')].sort()) this.of(text)
  }

  /** Returns the pseudonym of an address or pattern; its network type (`@tcp`) is kept. */
  of(text: string): string {
    const nid = NID.exec(text)
    if (!nid) return this.#host(text)
    return `${this.#host(nid[1] as string)}@${nid[2] as string}`
  }

  #host(text: string): string {
    if (text === '*') return text
    const slash = text.indexOf('/')
    const [address, bits] = slash > 0 && !text.includes('[') ? [text.slice(0, slash), text.slice(slash)] : [text, '']
    if (address.includes(':')) {
      if (bits !== '') this.inexact++
      const code = this.#pseudonyms.code('host', address.toLowerCase())
      const groups = [0, 4, 8, 12].map((at) => hex4(code.slice(at, at + 4)))
      return address.toLowerCase().startsWith('2001:db8::') ? text : `2001:db8::${groups.join(':')}${bits}`
    }
    if (/^\d+$/.test(address)) return this.#pseudonyms.of('id', address)
    const octets = address.split(/\.(?![^[]*\])/)
    if (octets.length !== 4) {
      if (!/^[\d.*[\]/,-]+$/.test(address)) return this.#pseudonyms.of('host', address) + bits
      this.inexact++
      return `240.${this.#octet(address, 0)}.0.0${bits}`
    }
    const [a, b, c, d] = octets as [string, string, string, string]
    if (octets.every((o) => o === '*') || isPseudonym(a)) return text
    if (bits !== '' && !['/16', '/24', '/32'].includes(bits)) this.inexact++
    if (!isPlain(a) || !isPlain(b)) this.inexact++
    const prefix = `${a}.${b}`
    return `${this.#prefix(prefix)}.${this.#octetAt(prefix, c)}.${this.#octetAt(`${prefix}.${c}`, d)}${bits}`
  }

  #prefix(octets: string): string {
    const known = this.#prefixes.get(octets)
    if (known !== undefined) return known
    const code = this.#pseudonyms.code('host', `network ${octets}`)
    let value = [...code.slice(0, 8)].reduce((n, c) => (n * 36 + parseInt(c, 36)) % PREFIXES_MAX, 0)
    // If there are more networks than prefixes, the excess ones share the last prefix; they are indistinguishable then, and
    // counted.
    for (let i = 0; i < PREFIXES_MAX && this.#taken.has(String(value)); i++) value = (value + 1) % PREFIXES_MAX
    if (this.#taken.has(String(value))) this.inexact++
    this.#taken.add(String(value))
    const made = `${240 + (value >> 8)}.${value & 255}`
    this.#prefixes.set(octets, made)
    return made
  }

  #octetAt(prefix: string, octet: string): string {
    if (isPlain(octet)) return String(this.#octet(prefix, Number(octet)))
    if (octet !== '*' && octet !== '[0-255]') this.inexact++
    return octet
  }

  /** Permutes 0..255 by the key and the preceding octets: a four-round Feistel network over the halves. */
  #octet(prefix: string, value: number): number {
    let rounds = this.#rounds.get(prefix)
    if (!rounds) {
      rounds = [0, 1, 2, 3].map((r) => {
        const code = this.#pseudonyms.code('host', `octet ${r} ${prefix}`)
        return Array.from({ length: 16 }, (_, i) => parseInt(code[i] as string, 36) & 15)
      })
      this.#rounds.set(prefix, rounds)
    }
    let left = value >> 4
    let right = value & 15
    for (const table of rounds) [left, right] = [right, left ^ (table[right] as number)]
    return (left << 4) | right
  }
}

const isPlain = (octet: string): boolean => /^\d{1,3}$/.test(octet) && Number(octet) <= 255
const hex4 = (code: string): string =>
  [...code]
    .map((c) => (parseInt(c, 36) & 15).toString(16))
    .join('')
    .replace(/^0+(?=.)/, '')
