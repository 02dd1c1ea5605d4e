import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CORPUS, corpusRecords } from '../../tests/corpus.ts'
import { getParamCommand, splitParams } from './lctl.ts'
import { LDLM_PARAMETERS, parseLdlm, type LdlmCounters } from './ldlm-counters.ts'

const NS = 'ldlm.namespaces.filter-testfs-OST0000_UUID'

/** Output of a 2.17 server for one OST and other namespaces on it. */
const ANSWER = `ldlm.lock_granted_count=36
ldlm.namespaces.MGC10.0.2.15@tcp.lock_count=16
ldlm.namespaces.MGS.lock_count=16
${NS}.contended_locks=16
${NS}.lock_count=42
${NS}.lock_timeouts=0
${NS}.lock_unused_count=0
${NS}.resource_count=8
ldlm.namespaces.mdt-testfs-MDT0000_UUID.lock_count=29
ldlm.namespaces.testfs-MDT0000-lwp-MDT0000.lock_count=0
ldlm.namespaces.testfs-OST0000-osc-MDT0000.lock_count=0
ldlm.namespaces.testfs-OST0000-osc-ffff88811a870800.lock_count=8
${NS}.pool.cancel_rate=1
${NS}.pool.grant_rate=3
${NS}.pool.granted=41
${NS}.pool.limit=98749
${NS}.pool.server_lock_volume=3554964000
${NS}.pool.state=
LDLM pool state (ldlm-pool-filter-testfs-OST0000_UUID-2):
  SLV: 3554964000
  CLV: 0
  LVF: 100
  GSP: 1%
  GP:  995
  GR:  0
  CR:  0
  GS:  0
  G:   8
  L:   98749
${NS}.pool.stats=
snapshot_time                       1795215874.936529151 secs.nsecs
start_time                          1795215436.658548974 secs.nsecs
elapsed_time                        438.277980177 secs.nsecs
granted                             388 samples [locks] 1 9 638
grant                               451 samples [locks] 1 1 451
cancel                              443 samples [locks] 1 1 443
grant_rate                          388 samples [locks/s] 0 62 450
cancel_rate                         388 samples [locks/s] 0 61 443
`

const ost = (text: string): LdlmCounters | undefined =>
  parseLdlm(text).namespaces.find((n) => n.target === 'testfs-OST0000')

describe('the counters of lock namespaces', () => {
  it('are read only for the targets of the server', () => {
    const read = parseLdlm(ANSWER)
    expect(read.namespaces.map((n) => n.namespace)).toEqual(['filter-testfs-OST0000_UUID', 'mdt-testfs-MDT0000_UUID'])
    expect(read).toMatchObject({ grantedOnNode: 36, foreign: 5, skipped: 0 })
    expect(ost(ANSWER)).toEqual({
      namespace: 'filter-testfs-OST0000_UUID',
      target: 'testfs-OST0000',
      locks: 42,
      unused: 0,
      resources: 8,
      timeouts: 0,
      contendedLocks: 16,
      contentions: undefined,
      granted: 41,
      grantRate: 3,
      cancelRate: 1,
      limit: 98749,
      total: { grants: 451, cancels: 443, atS: 1795215874.936529151 },
    })
  })

  it('that a release or a user without root does not have are gaps, not zeros', () => {
    const mdt = parseLdlm(ANSWER).namespaces[1]
    expect(mdt).toMatchObject({ locks: 29, granted: undefined, limit: undefined, total: undefined })
    expect(parseLdlm('')).toEqual({ namespaces: [], grantedOnNode: undefined, foreign: 0, skipped: 0 })
  })

  it('have moved nothing yet when their table has times and no row', () => {
    const fresh = ANSWER.replace(/\n(?:grant|cancel) .*/g, '')
    expect(ost(fresh)?.total).toEqual({ grants: 0, cancels: 0, atS: 1795215874.936529151 })
    expect(ost(`${NS}.lock_count=1\n${NS}.pool.stats=\nnonsense\n`)?.total).toBeUndefined()
  })

  it('are read when 2.15 puts a long value on a line of its own', () => {
    expect(ost(`${NS}.pool.limit=\n132349\n${NS}.pool.granted=11\n`)).toMatchObject({ limit: 132349, granted: 11 })
  })

  it.each(['-1', '', 'nan', '1e9', '99999999999999999', '12 34', '0x10', '\u001b[31m7'])(
    'that are %j are skipped and counted',
    (value) => {
      const read = parseLdlm(`${NS}.lock_count=${value}\n${NS}.pool.limit=5\n`)
      expect(read.skipped).toBe(1)
      expect(read.namespaces[0]).toMatchObject({ locks: undefined, limit: 5 })
    },
  )

  it('of a file system called mdt are not taken from its connections', () => {
    const read = parseLdlm(
      'ldlm.namespaces.mdt-OST0000-osc-MDT0000.lock_count=5\nldlm.namespaces.filter-mdt-OST0000_UUID.lock_count=6\n',
    )
    expect(read).toMatchObject({ foreign: 1, namespaces: [{ target: 'mdt-OST0000', locks: 6 }] })
  })
})

describe('exploits: a server whose namespaces are named by an attacker', () => {
  const named = (name: string): ReturnType<typeof parseLdlm> =>
    parseLdlm(`ldlm.namespaces.${name}.lock_count=1\n${NS}.lock_count=2\n`)

  it.each([
    ['an escape sequence that clears a terminal', 'filter-\u001b[2J-OST0000_UUID'],
    ['an escape sequence after a good name', 'filter-testfs-OST0000_UUID\u001b]0;owned\u0007'],
    ['10 000 characters', `filter-${'a'.repeat(10_000)}-OST0000_UUID`],
    ['10 000 dashes', `mdt-${'-'.repeat(10_000)}-MDT0000_UUID`],
    ['bytes that are no text', 'filter-\u0000\u00ff\u0080\u00fe-OST0000_UUID'],
    ['markup', 'filter-<img src=x onerror=alert(1)>-OST0000_UUID'],
    ['a path', 'filter-../../etc-OST0000_UUID'],
    ['what every object inherits', '__proto__'],
  ])('%s is no namespace, and does not hide the next one', (_, name) => {
    const read = named(name)
    expect(read.namespaces.map((n) => [n.namespace, n.locks])).toEqual([['filter-testfs-OST0000_UUID', 2]])
  })

  it('attributes that every object inherits are no counters', () => {
    const read = parseLdlm(`${NS}.constructor=1\n${NS}.pool.toString=1\n${NS}.__proto__=1\n${NS}.lock_count=2\n`)
    expect(read.namespaces[0]).toMatchObject({ locks: 2, granted: undefined })
  })

  it('bytes of any kind never throw, and never make a namespace of another shape', () => {
    const byte = fc.nat(255).map((n) => String.fromCharCode(n))
    const piece = fc.oneof(
      fc.array(byte, { maxLength: 60 }).map((b) => b.join('')),
      fc.constantFrom(
        `${NS}.`,
        'lock_count=',
        'pool.stats=\n',
        'ldlm.namespaces.',
        '\n',
        'grant 1 samples [locks] 1 1 1',
      ),
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
        for (const n of parseLdlm(pieces.join('')).namespaces) {
          expect(n.namespace).toMatch(/^(?:filter|mdt)-[\w-]{1,16}-(?:OST|MDT)[0-9a-f]{4}_UUID$/)
        }
      }),
      { numRuns: 2000 },
    )
  })
})

describe.skipIf(CORPUS === '')('answers of real servers', () => {
  const printed = corpusRecords().filter((r) => /^(?:\/usr\/sbin\/)?lctl get_param (?!-)/.test(r.command))

  it('give every number that they print, and skip nothing', () => {
    const attributes = new Set<string>()
    let values = 0
    for (const r of printed) {
      const read = parseLdlm(r.stdout)
      expect(read.skipped, r.id).toBe(0)
      for (const n of read.namespaces) {
        for (const [attribute, field] of [
          ['lock_count', n.locks],
          ['lock_timeouts', n.timeouts],
          ['resource_count', n.resources],
          ['contention_events', n.contentions],
          ['pool.granted', n.granted],
          ['pool.grant_rate', n.grantRate],
          ['pool.limit', n.limit],
        ] as const) {
          const text = splitParams(r.stdout).get(`ldlm.namespaces.${n.namespace}.${attribute}`)
          expect(field === undefined ? undefined : String(field), `${r.id} ${attribute}`).toBe(text)
          if (text === undefined) continue
          attributes.add(attribute)
          values++
        }
        if (n.total) attributes.add('pool.stats')
      }
    }
    expect(values).toBeGreaterThan(20)
    expect([...attributes].sort()).toEqual([
      'contention_events',
      'lock_count',
      'lock_timeouts',
      'pool.grant_rate',
      'pool.granted',
      'pool.limit',
      'pool.stats',
      'resource_count',
    ])
  })

  it('hold contention_events on the development line alone', () => {
    const releases = new Set(
      printed.flatMap((r) => (parseLdlm(r.stdout).namespaces.some((n) => n.contentions !== undefined) ? [r.file] : [])),
    )
    expect([...releases]).toEqual(['lustre-2.17.57.jsonl'])
  })
})

it('the request is one command, quoted for the shell', () => {
  expect(getParamCommand(...LDLM_PARAMETERS)).toBe(
    "lctl get_param ldlm.lock_granted_count 'ldlm.namespaces.{filter,mdt}-*_UUID.{lock_count,lock_unused_count," +
      "resource_count,lock_timeouts,contended_locks,contention_events}' " +
      "'ldlm.namespaces.{filter,mdt}-*_UUID.pool.{granted,grant_rate,cancel_rate,limit,stats}'",
  )
})
