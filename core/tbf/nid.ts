/**
 * LNet NIDs and the items that a TBF rule matches them by: `192.168.*.[2-128/2]@tcp`, `10.1.0.0/16@o2ib1`, `*@gni`.
 *
 * Source: spec/lustre 1.2, measured A6.
 */
import { ok, type Result } from '../base/result.ts'
import { RULE_DIALECTS, type RuleDialect } from '../lustre/rule-dialect.ts'
import { cut, kernelNumber, kernelU32, piece, split, splitOnce, trimmed, type Piece } from './kernel-text.ts'
import { fault, nearest, shown, type RuleFault } from './rule-fault.ts'

/** Every stride-th number from lo to hi; a stride of 0 holds none (a server divides by it). */
interface Span {
  readonly lo: number
  readonly hi: number
  readonly stride: number
}

export interface NidRange {
  /** Network type and number: `o2ib1` is ['o2ib', 1]. */
  readonly net: readonly [name: string, number: number]
  readonly addresses:
    | { readonly kind: 'any' }
    /** One list of spans for each of four octets, or one for a plain number. */
    | { readonly kind: 'spans'; readonly spans: readonly (readonly Span[])[] }
    | { readonly kind: 'prefix'; readonly bytes: readonly number[]; readonly bits: number }
}

/** A client's NID, parsed once for comparison with many items. */
export interface Nid {
  readonly net: readonly [name: string, number: number]
  /** 4 or 16 bytes of an IP address, or one plain number. */
  readonly address: readonly number[]
}

/** Networks whose addresses are one number; all others have IP addresses. */
const NUMBERED = ['lo', 'gni', 'ptlf', 'kfi', 'bxi3f']
/** Networks whose NIDs are compared with a prefix. */
const PREFIXED = ['tcp', 'o2ib', 'efa']

function parseRange(p: Piece, max: number, isBracketed: boolean, d: RuleDialect): Result<Span, RuleFault> {
  const bad = (at: Piece, why: string): Result<Span, RuleFault> => fault(at.at, at.text.length, why)
  if (p.text === '*') return ok({ lo: 0, hi: max, stride: 1 })
  const one = kernelU32(p.text, d.readsCNumbers)
  if (one !== undefined)
    return one > max ? bad(p, `${shown(p.text)} is above ${max}`) : ok({ lo: one, hi: one, stride: 1 })
  const dash = isBracketed ? splitOnce(p, '-') : undefined
  if (!dash) return bad(p, `${shown(p.text)} is not a number${isBracketed ? ' or range' : ', * or [range]'}`)
  const number = (text: Piece): number | undefined => {
    const n = kernelU32(trimmed(text).text, d.readsCNumbers)
    return n === undefined || n > max ? undefined : n
  }
  const lo = number(dash[0])
  if (lo === undefined) return bad(p, `${shown(p.text)} does not start with a number up to ${max}`)
  const rest = trimmed(dash[1])
  let hi = number(rest)
  let stride: number | undefined = 1
  if (hi === undefined) {
    const slash = splitOnce(rest, '/')
    // Releases up to 2.15 accept a range without an end, which then contains nothing.
    if (!d.needsWholeRanges && (rest.text === '' || slash?.[0].text === '')) hi = stride = 0
    else {
      hi = slash && number(slash[0])
      stride = slash && number(slash[1])
      if (!d.needsWholeRanges) stride ??= 0
    }
  }
  if (hi === undefined || stride === undefined)
    return bad(p, `${shown(p.text)} is not LOW-HIGH or LOW-HIGH/STRIDE up to ${max}`)
  if (d.ordersRanges && lo > hi) return bad(p, `${lo}-${hi} runs backwards`)
  return ok({ lo, hi, stride })
}

function parseSpans(p: Piece, max: number, d: RuleDialect): Result<readonly Span[], RuleFault> {
  const isBracketed = p.text.startsWith('[') && p.text.endsWith(']')
  const out: Span[] = []
  for (const part of isBracketed ? split(cut(p, 1, p.text.length - 1), ',') : [p]) {
    const span = parseRange(trimmed(part), max, isBracketed, d)
    if (!span.ok) return span
    out.push(span.value)
  }
  return ok(out)
}

/** Parses an IPv4 address, `192.168.1.7`, four decimal numbers up to 255, into four bytes. */
function parseIpv4(text: string): number[] | undefined {
  const parts = text.split('.')
  if (parts.length !== 4 || !parts.every((p) => /^[0-9]{1,3}$/.test(p))) return undefined
  const bytes = parts.map(Number)
  return bytes.every((b) => b <= 255) ? bytes : undefined
}

/** Parses an IPv6 address, `2001:db8::1`, also with an IPv4 address as its last 32 bits, into 16 bytes; a scope (`%eth0`) is refused. */
export function parseIpv6(text: string): number[] | undefined {
  let groups = text
  const tail: number[] = []
  if (text.includes('.')) {
    const colon = text.lastIndexOf(':')
    const v4 = parseIpv4(text.slice(colon + 1))
    if (!v4 || colon < 0) return undefined
    tail.push(...v4)
    groups = text.slice(0, colon + (text[colon - 1] === ':' ? 1 : 0))
  }
  const halves = groups.split('::')
  if (halves.length > 2) return undefined
  const [head, rest] = halves.map((half) => (half === '' ? [] : half.split(':')))
  if (![...(head ?? []), ...(rest ?? [])].every((g) => /^[0-9a-fA-F]{1,4}$/.test(g))) return undefined
  const bytesOf = (list: readonly string[]): number[] =>
    list.flatMap((g) => [parseInt(g, 16) >> 8, parseInt(g, 16) & 255])
  const first = bytesOf(head ?? [])
  const last = [...bytesOf(rest ?? []), ...tail]
  const missing = 16 - first.length - last.length
  // `::` replaces one or more groups of zeros; without it all eight groups are present.
  if (rest === undefined ? missing !== 0 : missing < 2) return undefined
  return [...first, ...Array<number>(missing).fill(0), ...last]
}

/** True if the first `bits` of both addresses are equal; false for different address families. */
export function isInPrefix(address: readonly number[], prefix: readonly number[], bits: number): boolean {
  if (address.length !== prefix.length) return false
  for (let i = 0; i * 8 < bits; i++) {
    const mask = 0xff & (0xff << Math.max(0, 8 - (bits - i * 8)))
    if ((((address[i] as number) ^ (prefix[i] as number)) & mask) !== 0) return false
  }
  return true
}

function parsePrefix(p: Piece): Result<NidRange['addresses'], RuleFault> {
  const slash = splitOnce(p, '/')
  const address = slash?.[0] ?? p
  const bytes = address.text.includes(':') ? parseIpv6(address.text) : parseIpv4(address.text)
  if (!bytes) return fault(address.at, address.text.length, `${shown(address.text)} is not an IP address`)
  const bits = slash ? kernelNumber(slash[1].text, 10) : 128n
  const most = bytes.length * 8
  if (bits === undefined || bits < 1n || bits > BigInt(most)) {
    const at = slash?.[1] ?? p
    return fault(at.at, at.text.length, `prefix length ${shown(at.text)} is not from 1 to ${most}`)
  }
  return ok({ kind: 'prefix', bytes, bits: Number(bits) })
}

function parseAddresses(p: Piece, net: string, d: RuleDialect): Result<NidRange['addresses'], RuleFault> {
  if (p.text === '*') return ok({ kind: 'any' })
  const slash = p.text.indexOf('/')
  if (d.hasNetmasks && (p.text.includes(':') || (slash >= 0 && !p.text.includes(']', slash)))) return parsePrefix(p)
  if (NUMBERED.includes(net)) {
    const spans = parseSpans(p, 0xffff_ffff, d)
    return spans.ok ? ok({ kind: 'spans', spans: [spans.value] }) : spans
  }
  const octets = split(p, '.').map(trimmed)
  if (octets.length !== 4) return fault(p.at, p.text.length, `${shown(p.text)} has ${octets.length} octets, not 4`)
  const spans: (readonly Span[])[] = []
  for (const octet of octets) {
    const read = parseSpans(octet, 255, d)
    if (!read.ok) return read
    spans.push(read.value)
  }
  return ok({ kind: 'spans', spans })
}

/** One item of `nid={...}`. */
export function parseNidRange(item: Piece | string, d: RuleDialect = RULE_DIALECTS.dev): Result<NidRange, RuleFault> {
  const p = typeof item === 'string' ? piece(item) : item
  const sides = splitOnce(p, '@')
  if (!sides) return fault(p.at + p.text.length, 0, `${shown(p.text)} has no network, expected ADDRESS@NETWORK`)
  const [address, net] = sides.map(trimmed) as [Piece, Piece]
  const name = d.nets.find((n) => net.text.startsWith(n))
  const number =
    name === undefined ? undefined : net.text === name ? 0 : kernelU32(net.text.slice(name.length), d.readsCNumbers)
  if (name === undefined || number === undefined) {
    return fault(net.at, net.text.length, `${shown(net.text)} is not a network${nearest(net.text, d.nets)}`)
  }
  const addresses = parseAddresses(address, name, d)
  return addresses.ok ? ok({ net: [name, number], addresses: addresses.value }) : addresses
}

/** True if an item makes a server divide by zero when it compares it with a NID. */
export const hasZeroStride = (range: NidRange): boolean =>
  range.addresses.kind === 'spans' && range.addresses.spans.some((s) => s.some((x) => x.stride === 0))

/** Parses a client's NID; undefined if it is not valid. */
export function parseNid(nid: string): Nid | undefined {
  const m = /^([^@]+)@([a-z0-9]*[a-z])([0-9]*)$/.exec(nid)
  if (!m) return undefined
  const text = m[1] as string
  const address = text.includes(':')
    ? parseIpv6(text)
    : text.includes('.')
      ? parseIpv4(text)
      : /^\d+$/.test(text)
        ? [Number(text)]
        : undefined
  return address && { net: [m[2] as string, Number(m[3] || '0')], address }
}

const isIn = (spans: readonly Span[], v: number): boolean =>
  spans.some((s) => v >= s.lo && v <= s.hi && s.stride > 0 && (v - s.lo) % s.stride === 0)

/** True if a NID is in a range. Octets are compared with the first four bytes of an IPv6 address, as servers do. */
export function nidMatches(range: NidRange, nid: Nid): boolean {
  if (range.net[0] !== nid.net[0] || range.net[1] !== nid.net[1]) return false
  const { addresses } = range
  if (addresses.kind === 'any') return true
  if (addresses.kind === 'prefix')
    return PREFIXED.includes(nid.net[0]) && isInPrefix(nid.address, addresses.bytes, addresses.bits)
  if (addresses.spans.length > nid.address.length) return false
  return addresses.spans.every((spans, i) => isIn(spans, nid.address[i] as number))
}
