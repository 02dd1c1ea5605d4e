/**
 * LNet NIDs and the ranges that a TBF rule matches them by: `192.168.*.[2-128/2]@tcp`.
 *
 * Source: spec/lustre 1.2, table of items. IPv6 and CIDR items belong to the complete grammar and are refused here.
 */
import { fail, ok, type Result } from '../base/result.ts'
import type { Errno } from '../lustre/errno.ts'

interface Span {
  readonly lo: number
  readonly hi: number
  readonly stride: number
}

export interface NidRange {
  /** One entry per octet: the spans it may lie in; empty list of octets = any address. */
  readonly octets: readonly (readonly Span[])[]
  /** For example `tcp` or `o2ib1`; network number 0 is printed without it. */
  readonly net: string
}

const NET = /^(lo|tcp|o2ib|gni|gip|ptlf|kfi|efa|bxi3f)(\d*)$/
const ANY: readonly Span[] = [{ lo: 0, hi: 255, stride: 1 }]

const normalNet = (net: string): string | undefined => {
  const m = NET.exec(net)
  if (!m) return undefined
  return Number(m[2] ?? 0) === 0 ? m[1] : `${m[1]}${Number(m[2])}`
}

/** A number as C reads it: `0x1f`, octal behind a leading 0, else decimal; NaN for anything else. */
function parseNumber(text: string): number {
  if (/^0[0-7]+$/.test(text)) return parseInt(text, 8)
  return /^(?:0|[1-9]\d*|0[xX][0-9a-fA-F]+)$/.test(text) ? Number(text) : NaN
}

function parseOctet(text: string): readonly Span[] | undefined {
  if (text === '*') return ANY
  const m = /^(?:(\w+)|\[(\w+)(?:-(\w+)(?:\/(\w+))?)?\])$/.exec(text)
  if (!m) return undefined
  const lo = parseNumber(m[1] ?? m[2] ?? '')
  const hi = m[3] === undefined ? lo : parseNumber(m[3])
  const stride = m[4] === undefined ? 1 : parseNumber(m[4])
  if (!(lo <= hi && hi <= 255 && stride >= 1)) return undefined
  return [{ lo, hi, stride }]
}

/** One item of `nid={...}`. */
export function parseNidRange(item: string): Result<NidRange, Errno> {
  const [address, network, more] = item.split('@')
  const net = network === undefined ? undefined : normalNet(network)
  if (address === undefined || net === undefined || more !== undefined) return fail('EINVAL')
  if (address === '*') return ok({ octets: [], net })
  const parts = address.split('.')
  // `0@lo` is the loopback NID, the only address of one number.
  if (parts.length !== 4 && !(net === 'lo' && parts.length === 1)) return fail('EINVAL')
  const octets = parts.map(parseOctet)
  if (octets.some((o) => o === undefined)) return fail('EINVAL')
  return ok({ octets: octets as (readonly Span[])[], net })
}

/** Whether a client NID such as `192.168.1.7@tcp` lies in the range. */
export function nidMatches(range: NidRange, nid: string): boolean {
  const at = nid.lastIndexOf('@')
  if (at < 0 || normalNet(nid.slice(at + 1)) !== range.net) return false
  if (range.octets.length === 0) return true
  const parts = nid.slice(0, at).split('.')
  if (parts.length !== range.octets.length) return false
  return range.octets.every((spans, i) => {
    const v = Number(parts[i])
    return spans.some((s) => v >= s.lo && v <= s.hi && (v - s.lo) % s.stride === 0)
  })
}
