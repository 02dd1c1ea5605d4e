import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { RULE_DIALECTS, type RuleDialect } from '../lustre/rule-dialect.ts'
import { RELEASES } from '../lustre/release.ts'
import { nidMatches, parseNid, parseNidRange, isInPrefix, parseIpv6 } from './nid.ts'

const matches = (item: string, nid: string, d?: RuleDialect): boolean => {
  const range = parseNidRange(item, d)
  const parsed = parseNid(nid)
  if (!range.ok) throw new Error(`${item}: ${range.error.why}`)
  return parsed !== undefined && nidMatches(range.value, parsed)
}
const isTaken = (item: string, d?: RuleDialect): boolean => parseNidRange(item, d).ok

describe('an item of nid={...}', () => {
  it.each([
    ['192.168.1.1@tcp', '192.168.1.1@tcp', true],
    ['192.168.1.1@tcp', '192.168.1.1@tcp0', true],
    ['192.168.1.1@tcp', '192.168.1.2@tcp', false],
    ['192.168.1.1@tcp', '192.168.1.1@tcp1', false],
    ['192.168.1.1@tcp0x1', '192.168.1.1@tcp1', true],
    ['192.168.*.[2-128]@tcp', '192.168.77.128@tcp', true],
    ['192.168.*.[2-128]@tcp', '192.168.77.129@tcp', false],
    ['192.168.*.[2-128/2]@tcp', '192.168.0.4@tcp', true],
    ['192.168.*.[2-128/2]@tcp', '192.168.0.5@tcp', false],
    ['*.*.*.*@tcp', '1.2.3.4@tcp', true],
    ['*@o2ib1', '1.2.3.4@o2ib1', true],
    ['*@o2ib1', '1.2.3.4@o2ib', false],
    ['0@lo', '0@lo', true],
    ['*@lo', '0@lo', true],
    ['*@tcp', '0@lo', false],
    ['0@lo', '10.0.0.0@tcp', false],
    ['0x0a.010.0.[0x10-0x1f]@tcp', '10.8.0.17@tcp', true],
    ['10.0.0.[7]@tcp', '10.0.0.7@tcp', true],
    ['10.0.0.[1,3,7-9]@tcp', '10.0.0.8@tcp', true],
    ['10.0.0.[1,3,7-9]@tcp', '10.0.0.2@tcp', false],
    ['[1-5]@gni', '4@gni', true],
    ['[1-5]@gni', '6@gni', false],
    ['0xffffffff@kfi', '4294967295@kfi', true],
    ['10.1.0.0/16@tcp', '10.1.200.7@tcp', true],
    ['10.1.0.0/16@tcp', '10.2.0.7@tcp', false],
    ['10.1.0.0/16@o2ib3', '10.1.0.7@o2ib3', true],
    ['10.1.0.0/16@gip', '10.1.0.7@gip', false],
    ['2001:db8::1@tcp', '2001:db8::1@tcp', true],
    ['2001:db8::/32@tcp', '2001:db8:ffff::7@tcp', true],
    ['2001:db8::/32@tcp', '2001:db9::7@tcp', false],
    ['2001:db8::/32@tcp', '32.1.13.184@tcp', false],
    ['::ffff:1.2.3.4@tcp', '::ffff:102:304@tcp', true],
    // Octets are compared with the first four bytes of a longer address.
    ['32.1.13.184@tcp', '2001:db8::1@tcp', true],
  ])('%s on %s: %s', (item, nid, want) => {
    expect(matches(item, nid)).toBe(want)
  })

  it.each([
    ['1.2.3.4', '1.2.3.4 has no network, expected ADDRESS@NETWORK', 7, 0],
    ['1.2.3@tcp', '1.2.3 has 3 octets, not 4', 0, 5],
    ['1.2.3.4.5@tcp', '1.2.3.4.5 has 5 octets, not 4', 0, 9],
    ['1.2.3.256@tcp', '256 is above 255', 6, 3],
    ['1.2.3.4@', '"" is not a network', 8, 0],
    ['1.2.3.4@tpc', 'tpc is not a network, nearest is tcp', 8, 3],
    ['1.2.3.4@tcpx', 'tcpx is not a network, nearest is tcp', 8, 4],
    ['a@tcp@tcp', 'tcp@tcp is not a network', 2, 7],
    ['1.2.3.[9-1]@tcp', '9-1 runs backwards', 7, 3],
    ['1.2.3.-1@tcp', '-1 is not a number, * or [range]', 6, 2],
    ['1.2.3.@tcp', '"" is not a number, * or [range]', 6, 0],
    ['1.2.3.08@tcp', '08 is not a number, * or [range]', 6, 2],
    ['1.2.3.[1-]@tcp', '1- is not LOW-HIGH or LOW-HIGH/STRIDE up to 255', 7, 2],
    ['1.2.3.[1,]@tcp', '"" is not a number or range', 9, 0],
    ['5@tcp', '5 has 1 octets, not 4', 0, 1],
    ['1.2.3.4@gni', '1.2.3.4 is not a number, * or [range]', 0, 7],
    ['1.2.3.4/33@tcp', 'prefix length 33 is not from 1 to 32', 8, 2],
    ['1.2.3.4/0@tcp', 'prefix length 0 is not from 1 to 32', 8, 1],
    ['1.2.3/24@tcp', '1.2.3 is not an IP address', 0, 5],
    ['2001:db8::/129@tcp', 'prefix length 129 is not from 1 to 128', 11, 3],
    ['1::2::3@tcp', '1::2::3 is not an IP address', 0, 7],
  ])('%s is refused: %s', (item, why, at, length) => {
    expect(parseNidRange(item)).toEqual({ ok: false, error: { errno: 'EINVAL', at, length, why } })
  })

  it('is read as each release reads it', () => {
    const table: Record<string, string> = {
      '1.2.3.0/24@tcp': '2.16 2.17 dev',
      '2001:db8::1@tcp': '2.16 2.17 dev',
      '1.2.3.0x10@tcp': '2.16 2.17 dev',
      '1.2.3.[9-1]@tcp': '2.12 2.15 2.16',
      '1.2.3.[5-]@tcp': '2.12 2.15',
      '1.2.3.[1-9/x]@tcp': '2.12 2.15',
      '*@efa': '2.17 dev',
      '*@kfi': '2.15 2.16 2.17 dev',
      '1.2.3.[1,3]@tcp': '2.12 2.15 2.16 2.17 dev',
    }
    const read = Object.keys(table).map((item) => [
      item,
      RELEASES.filter((r) => isTaken(item, RULE_DIALECTS[r])).join(' '),
    ])
    expect(Object.fromEntries(read)).toEqual(table)
  })
})

/** An octet of a range with all its members, enumerated. */
const octet = fc.oneof(
  fc.nat(255).map((n) => ({ text: String(n), members: new Set([n]) })),
  fc.constant({ text: '*', members: new Set(Array.from({ length: 256 }, (_, n) => n)) }),
  fc
    .array(fc.tuple(fc.nat(255), fc.nat(255), fc.integer({ min: 1, max: 40 })), { minLength: 1, maxLength: 3 })
    .map((spans) => {
      const members = new Set<number>()
      const texts = spans.map(([a, b, stride]) => {
        const lo = Math.min(a, b)
        const hi = Math.max(a, b)
        for (let v = lo; v <= hi; v += stride) members.add(v)
        return `${lo}-${hi}/${stride}`
      })
      return { text: `[${texts.join(',')}]`, members }
    }),
)

describe('NID ranges against counting one by one', () => {
  it('of octets', () => {
    const octets = fc.tuple(octet, octet, octet, octet)
    const address = fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255))
    fc.assert(
      fc.property(octets, fc.array(address, { minLength: 5, maxLength: 20 }), (range, addresses) => {
        const item = `${range.map((o) => o.text).join('.')}@o2ib3`
        // One address in the range, whatever the others are.
        const inside = range.map((o) => [...o.members][0] as number) as [number, number, number, number]
        for (const a of [...addresses, inside]) {
          const want = a.every((n, i) => range[i]?.members.has(n))
          expect(matches(item, `${a.join('.')}@o2ib3`), `${item} ${a.join('.')}`).toBe(want)
        }
      }),
      { numRuns: 500 },
    )
  })

  it('of prefixes, as numbers of 32 and of 128 bits', () => {
    const number = (bytes: readonly number[]): bigint => bytes.reduce((n, b) => (n << 8n) | BigInt(b), 0n)
    const pair = (n: number): fc.Arbitrary<[number[], number[], number]> =>
      fc.tuple(
        fc.array(fc.nat(255), { minLength: n, maxLength: n }),
        // Mostly equal, so that the boundary is hit.
        fc.array(fc.oneof({ weight: 5, arbitrary: fc.constant(-1) }, fc.nat(255)), { minLength: n, maxLength: n }),
        fc.integer({ min: 1, max: n * 8 }),
      )
    for (const n of [4, 16]) {
      fc.assert(
        fc.property(pair(n), ([a, other, bits]) => {
          const b = other.map((x, i) => (x < 0 ? (a[i] as number) : x))
          const shift = BigInt(n * 8 - bits)
          expect(isInPrefix(a, b, bits)).toBe(number(a) >> shift === number(b) >> shift)
        }),
        { numRuns: 500 },
      )
    }
  })

  it('of IPv6 texts, however they are shortened', () => {
    const group = fc.oneof(fc.constant(0), fc.nat(0xffff))
    fc.assert(
      fc.property(fc.array(group, { minLength: 8, maxLength: 8 }), fc.nat(7), fc.nat(8), (groups, from, to) => {
        const bytes = groups.flatMap((g) => [g >> 8, g & 255])
        const hex = groups.map((g) => g.toString(16))
        expect(parseIpv6(hex.join(':'))).toEqual(bytes)
        if (to <= from || groups.slice(from, to).some((g) => g !== 0)) return
        expect(parseIpv6(`${hex.slice(0, from).join(':')}::${hex.slice(to).join(':')}`)).toEqual(bytes)
      }),
    )
    for (const bad of [
      '',
      ':',
      ':::',
      '1:2',
      '1:2:3:4:5:6:7',
      '1:2:3:4:5:6:7:8:9',
      '1::2:3:4:5:6:7:8',
      '12345::',
      '::1%eth0',
      '1.2.3.4',
    ]) {
      expect(parseIpv6(bad), bad).toBeUndefined()
    }
  })
})
