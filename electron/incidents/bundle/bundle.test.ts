import { randomBytes } from 'node:crypto'
import { cpSync, readdirSync, readFileSync, writeFileSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { HISTORY, MANIFEST, type Manifest } from '#core/snapshot/manifest.ts'
import type { Incident } from '#core/snapshot/notebook.ts'
import type { Result } from '#core/base/result.ts'
import Database from 'better-sqlite3'
import { FileReader } from '../../history/file-reader.ts'
import { APPLICATION_ID, MIGRATIONS } from '../../history/schema.ts'
import { tempFolder } from '../../../tests/node/temp-folder.ts'
import type { BundleSource } from './bundle-source.ts'
import { openBundle } from './open-bundle.ts'
import { unpackHistory } from './unpack-history.ts'
import { privateFolder, sweep } from '../shelf/private-folder.ts'
import { codeOf } from '../redaction/pseudonym-key.ts'
import { EPOCH, inputOf, smallSource } from '#tests/kits/electron/incidents/small-source.ts'
import { ARCHIVE } from './verify.ts'
import { verifyHere } from '#tests/kits/electron/foreign/in-process.ts'
import { writeBundle, type WriteOptions } from './write-bundle.ts'
import { openZip } from '../zip/zip-in.ts'
import { writeZip, type ZipMember } from '../zip/zip-out.ts'

const folder = tempFolder()
const work = join(folder, 'work')
const must = <T>(r: Result<T>): T => {
  if (!r.ok) throw new Error(`${r.error.what}: ${r.error.why}`)
  return r.value
}
const incident: Incident = {
  format: 1,
  id: 'INC-0007',
  title: 'hog.u1 took small',
  status: 'open',
  author: 'ann@login1',
  alert: null,
  source: { kind: 'EMULATED', cluster: 'small', env: 'DEMO', scenario: null, seed: null },
  createdMs: EPOCH,
  changedMs: EPOCH,
  resolvedMs: null,
  fromMs: EPOCH + 1_000,
  toMs: EPOCH + 5_000,
  cells: [{ id: 'a', atMs: EPOCH + 2_000, kind: 'note', text: '1.hog.u1 on oss01 held small-OST0001' }],
}
const options = (file: string, more: Partial<WriteOptions> = {}): WriteOptions => ({
  incident,
  file,
  code: codeOf(Buffer.alloc(32, 7)),
  version: '1.0.0',
  nowMs: 1,
  work,
  ...more,
})

async function members(file: string): Promise<Map<string, Buffer>> {
  const zip = must(await openZip(file))
  const out = new Map<string, Buffer>()
  for (const name of zip.entries.keys()) out.set(name, must(await zip.read(name, 2 ** 30)))
  zip.close()
  return out
}

let source: BundleSource
const plain = join(folder, 'plain.zip')
const redacted = join(folder, 'redacted.zip')
beforeAll(async () => {
  source = await smallSource(6)
  must(await writeBundle(source, inputOf({ redact: false }), options(plain)))
  must(await writeBundle(source, inputOf(), options(redacted)))
})

describe('a bundle', () => {
  it('holds what it says, and is as it was written', async () => {
    const of = await members(plain)
    const manifest = JSON.parse(of.get(MANIFEST)?.toString() ?? '') as Manifest
    expect([...of.keys()].filter((n) => !n.startsWith('charts/'))).toEqual([
      'audit.jsonl',
      'csv/cluster.csv',
      'csv/events.csv',
      'csv/jobs.csv',
      'csv/rules.csv',
      'csv/targets.csv',
      'history.qosrec',
      'notebook.json',
      'readings/oss01-obdfilter-job-stats.txt',
      'rules/after.txt',
      'rules/before.txt',
      'rules/changes.diff',
      'report.md',
      'README.html',
      'manifest.json',
    ])
    expect(manifest).toMatchObject({
      redaction: 'none',
      range: inputOf().span,
      incident: { id: 'INC-0007' },
      source: { seed: 1 },
    })
    expect(manifest.audit).toMatchObject({ chain: 'original', verified: true })
    expect(manifest.audit?.records).toBeGreaterThan(0)
    expect(of.get('rules/after.txt')?.toString()).toMatch(
      /^# 2026-01-01T00:00:04\.999Z\. .*\n\n# oss01\nost\.OSS\.ost_io\.nrs_tbf_rule=\nregular_requests:\nCPT 0:\n\S+ .* \d+\n/,
    )
    expect(of.get('csv/jobs.csv')?.toString()).toContain(',1.hog.u1,')
    expect(of.get('README.html')?.toString()).toContain('<!')
    const svg = [...of.keys()].filter((n) => n.endsWith('.svg'))
    expect(svg.length).toBeGreaterThan(0)
    for (const n of svg) expect(of.get(n.replace('.svg', '.png'))?.subarray(1, 4).toString()).toBe('PNG')
    expect(await verifyHere(plain)).toMatchObject({ ok: true, value: { ok: true, changed: [] } })
    expect(readdirSync(work)).toEqual([])
  })

  it('of a range that begins before the first sample and ends after the newest says so, and makes up no rule', async () => {
    const file = join(folder, 'wide.zip')
    const span = { fromMs: EPOCH - 60_000, toMs: EPOCH + 60_000 }
    const diff: Incident['cells'][number] = {
      id: 'd',
      atMs: EPOCH + 2_000,
      kind: 'diff',
      title: 'Rules',
      service: 'ost_io',
      servers: 2,
      more: 0,
      of: { kind: 'EMULATED', cluster: 'small', ...span, tier: 'raw', frozenMs: EPOCH },
      lines: [{ kind: 'same', name: 'cap', conditions: 'jobid={*.h*g.*}', before: 10, after: 10 }],
    }
    const written = must(
      await writeBundle(
        source,
        inputOf({ span }),
        options(file, { incident: { ...incident, cells: [...incident.cells, diff] } }),
      ),
    )
    const of = await members(file)
    const before = of.get('rules/before.txt')?.toString() ?? ''
    expect(before).toMatch(/^# 2026-01-01T00:00:0\d\.\d{3}Z\. Lines end before "ref": it is not kept\.\n\n# oss-/)
    for (const name of ['rules/before.txt', 'rules/after.txt', 'rules/changes.diff', 'report.md', 'README.html'])
      expect([name, / ref -?\d/.test(of.get(name)?.toString() ?? '')]).toEqual([name, false])
    const { missing } = JSON.parse(of.get(MANIFEST)?.toString() ?? '') as Manifest
    expect(missing.filter((text) => text.startsWith('The newest sample is of 2026-01-01 00:00:0'))).toHaveLength(1)
    expect(missing.filter((text) => text.startsWith('Redacted rule patterns'))).toHaveLength(1)
    expect(missing.filter((text) => !text.endsWith('.'))).toEqual([])
    expect(written.missing).toEqual(missing)
    for (const [name, bytes] of of)
      if (name.endsWith('.svg')) expect([name, bytes.includes('Sluice 1.0.0')]).toEqual([name, true])
  })

  it('of the same is the same but for when it was written', async () => {
    const again = join(folder, 'again.zip')
    const a = must(await writeBundle(source, inputOf({ redact: false }), options(again)))
    expect(readFileSync(again).equals(readFileSync(plain))).toBe(true)
    const later = join(folder, 'later.zip')
    const b = must(await writeBundle(source, inputOf({ redact: false }), options(later, { nowMs: 2 })))
    expect([b.content, b.sha256 === a.sha256]).toEqual([a.content, false])
  })

  it.each([
    ['plain', plain, false],
    ['redacted', redacted, true],
  ] as const)('%s, opened and exported again, has the same content and members', async (_, file, redact) => {
    const opened = must(await openBundle(file, work, unpackHistory))
    expect(readdirSync(work)).toHaveLength(1)
    const again = join(folder, `again-${redact}.zip`)
    const written = must(
      await writeBundle(opened, inputOf({ redact }), options(again, { incident: opened.notebook, nowMs: 5 })),
    )
    opened.close()
    expect(readdirSync(work)).toEqual([])
    const a = await members(file)
    const b = await members(again)
    expect([...b.keys()]).toEqual([...a.keys()])
    for (const [name, bytes] of a)
      if (name !== MANIFEST) expect([name, b.get(name)?.equals(bytes)]).toEqual([name, true])
    const of = (m: Map<string, Buffer>) => JSON.parse(m.get(MANIFEST)?.toString() ?? '') as Manifest
    expect({ ...of(b), createdMs: 1 }).toEqual(of(a))
    expect(written.content).toBe(of(a).content)
  })

  it('with pseudonyms has none of the names of its source, in no member', async () => {
    const of = await members(redacted)
    for (const [name, bytes] of of) {
      if (name.endsWith('.png')) continue
      const text = bytes.toString('latin1')
      for (const word of ['1.hog', '2.calm', 'hog', 'calm', 'oss01', 'oss02', 'small-OST', 'ann@', 'login1'])
        expect([name, word, text.includes(word)]).toEqual([name, word, false])
    }
    expect(JSON.parse(of.get(MANIFEST)?.toString() ?? '')).toMatchObject({
      redaction: 'pseudonyms',
      audit: { chain: 'rehashed', verified: true },
    })
  })

  it('leaves out what is to be left out, and says so', async () => {
    const file = join(folder, 'less.zip')
    const leaveOut = ['notebook', 'audit', 'readings', 'charts', 'csv', 'rules'] as const
    const written = must(await writeBundle(source, inputOf({ leaveOut: [...leaveOut] }), options(file)))
    expect([...(await members(file)).keys()]).toEqual(['history.qosrec', 'report.md', 'README.html', 'manifest.json'])
    expect(written.missing).toEqual(expect.arrayContaining(leaveOut.map((g) => `Excluded on request: ${g}.`)))
    expect(await verifyHere(file)).toMatchObject({ value: { ok: true } })
  })

  it('of an empty stretch, of a name that exists, or canceled, is none, and nothing is left', async () => {
    const file = join(folder, 'none.zip')
    const empty = await writeBundle(source, inputOf({ span: { fromMs: 0, toMs: 5 } }), options(file))
    expect(empty).toMatchObject({
      ok: false,
      error: { why: expect.stringContaining('the range has no data') as string },
    })
    expect(await writeBundle(source, inputOf(), options(plain))).toMatchObject({
      ok: false,
      error: { code: 'BUNDLE_EXISTS' },
    })
    for (const at of [0.1, 0.5, 0.8]) {
      const stop = new AbortController()
      const progress = (_: string, done: number): void => void (done >= at && stop.abort())
      expect(await writeBundle(source, inputOf(), options(file, { signal: stop.signal, progress }))).toMatchObject({
        ok: false,
        error: { code: 'BUNDLE_CANCELLED' },
      })
    }
    expect(readdirSync(folder).filter((n) => n.startsWith('none'))).toEqual([])
    expect(readdirSync(work)).toEqual([])
  })
})

/** Positions of the packed bytes of each member. */
function places(bytes: Buffer, of: Map<string, Buffer>): { name: string; from: number; to: number }[] {
  let at = 0
  const heads = [...of.keys()].map((name) => {
    const head = bytes.indexOf(Buffer.concat([Buffer.from([name.length, 0, 0, 0]), Buffer.from(name)]), at) - 26
    at = head + 30 + name.length
    return { name, head, from: at }
  })
  const end = bytes.indexOf('PK\x01\x02', at, 'latin1')
  return heads.map(({ name, from }, i) => ({ name, from, to: (heads[i + 1]?.head ?? end) - 16 }))
}

describe('verification', () => {
  const bad = join(folder, 'bad.zip')
  const small = join(folder, 'small.zip')
  let bytes: Buffer
  let lies: { name: string; from: number; to: number }[]
  beforeAll(async () => {
    must(await writeBundle(source, inputOf({ leaveOut: ['charts'] }), options(small)))
    bytes = readFileSync(small)
    lies = places(bytes, await members(small))
  })

  it('names the member in which any byte was changed, or the archive', async () => {
    // Equally likely in small and large members, and between them.
    const place = fc.oneof(
      fc.nat(bytes.length - 1),
      ...lies.map(({ from, to }) => fc.integer({ min: from, max: to - 1 })),
      fc.integer({ min: lies.at(-1)?.to ?? 0, max: bytes.length - 1 }),
    )
    await fc.assert(
      fc.asyncProperty(place, fc.integer({ min: 1, max: 255 }), async (at, mask) => {
        const changed = Buffer.from(bytes)
        changed[at] = (changed[at] ?? 0) ^ mask
        writeFileSync(bad, changed)
        const verdict = must(await verifyHere(bad))
        expect(verdict.ok).toBe(false)
        const name = lies.find((l) => at >= l.from && at < l.to)?.name
        const named = verdict.changed.map((c) => c.member)
        // A changed bit that affects no content belongs to the archive.
        if (name === undefined) expect(named).toEqual([ARCHIVE])
        else expect([[name], [ARCHIVE]]).toContainEqual(named)
      }),
      { numRuns: 50 },
    )
  })

  it('notices what was cut off or put in anywhere', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat(bytes.length - 1),
        fc.uint8Array({ minLength: 0, maxLength: 40 }),
        fc.nat(40),
        async (at, put, gone) => {
          const changed = Buffer.concat([bytes.subarray(0, at), put, bytes.subarray(at + gone)])
          if (changed.equals(bytes)) return
          writeFileSync(bad, changed)
          const verdict = await verifyHere(bad)
          expect(verdict.ok ? verdict.value.ok : false).toBe(false)
        },
      ),
      { numRuns: 25 },
    )
  })

  const repacked = async (change: (of: Map<string, Buffer>) => void): Promise<string[]> => {
    const of = await members(small)
    change(of)
    const manifest = of.get(MANIFEST) ?? Buffer.alloc(0)
    const list = [...of]
      .filter(([name]) => name !== MANIFEST)
      .map(([name, data]): ZipMember => ({ name, content: () => data }))
    rmSync(bad, { force: true })
    must(await writeZip(bad, list, [() => ({ name: MANIFEST, content: () => manifest })]))
    const verdict = await verifyHere(bad)
    return verdict.ok ? verdict.value.changed.map((c) => c.member).sort() : [verdict.error.code]
  }
  const edit = (of: Map<string, Buffer>, name: string, change: (text: string) => string): void =>
    void of.set(name, Buffer.from(change(of.get(name)?.toString() ?? '')))
  const manifestOf = (of: Map<string, Buffer>, change: (m: Record<string, unknown>) => void): void =>
    edit(of, MANIFEST, (text) => {
      const m = JSON.parse(text) as Record<string, unknown>
      change(m)
      return JSON.stringify(m)
    })

  it.each([
    ['nothing', () => undefined, []],
    [
      'two members that changed places',
      (of) => {
        const [a, b] = ['rules/before.txt', 'csv/events.csv'].map((n) => of.get(n) as Buffer) as [Buffer, Buffer]
        of.set('rules/before.txt', b)
        of.set('csv/events.csv', a)
      },
      ['csv/events.csv', 'rules/before.txt'],
    ],
    ['a member that is gone', (of) => void of.delete('csv/jobs.csv'), ['csv/jobs.csv']],
    ['a member that came', (of) => void of.set('csv/more.csv', Buffer.from('x')), ['csv/more.csv']],
    [
      'a size in the manifest',
      (of) => manifestOf(of, (m) => ((m.members as { bytes: number }[])[0]!.bytes += 1)),
      [MANIFEST],
    ],
    [
      'a hash in the manifest',
      (of) => manifestOf(of, (m) => ((m.members as { sha256: string }[])[0]!.sha256 = 'a'.repeat(64))),
      ['README.html', MANIFEST],
    ],
    ['the hash of the content', (of) => manifestOf(of, (m) => (m.content = 'a'.repeat(64))), [MANIFEST]],
    [
      'an audit of fewer records',
      (of) => manifestOf(of, (m) => ((m.audit as { records: number }).records -= 1)),
      ['audit.jsonl'],
    ],
    ['a manifest of wrong types', (of) => manifestOf(of, (m) => (m.range = 'all')), [MANIFEST]],
    [
      'a manifest with a name of no member',
      (of) => manifestOf(of, (m) => ((m.members as { name: string }[])[0]!.name = '../x')),
      [MANIFEST],
    ],
    ['a manifest that is deep', (of) => void of.set(MANIFEST, Buffer.from('['.repeat(200_000))), [MANIFEST]],
    ['a manifest that is no JSON', (of) => void of.set(MANIFEST, Buffer.from('{')), [MANIFEST]],
    ['a manifest that is no text', (of) => void of.set(MANIFEST, Buffer.from([0xff, 0xfe])), [MANIFEST]],
    ['a manifest of a newer Sluice', (of) => manifestOf(of, (m) => (m.format = 2)), ['BUNDLE_NEWER']],
  ] as [string, (of: Map<string, Buffer>) => void, string[]][])(
    'of %s, the archive sealed again',
    async (_, change, named) => {
      expect(await repacked(change)).toEqual(named)
    },
  )

  it('of a newer Sluice says which one opens it, and opens nothing', async () => {
    await repacked((of) => manifestOf(of, (m) => ((m.format = 2), (m.version = '9.1.0'))))
    expect(await openBundle(bad, work, unpackHistory)).toMatchObject({
      ok: false,
      error: { code: 'BUNDLE_NEWER', why: expect.stringContaining('9.1.0') as string },
    })
    expect(readdirSync(work)).toEqual([])
  })

  it('of a recording of an older Sluice opens: it is brought up to date in the copy', async () => {
    const old = join(folder, 'old.qosrec')
    const db = new Database(old)
    for (const step of MIGRATIONS.slice(0, 3)) db.exec(step)
    db.exec(`PRAGMA user_version = 3; PRAGMA application_id = ${APPLICATION_ID};
      INSERT INTO source VALUES (1, 'EMULATED', 'small', '', ${EPOCH});
      INSERT INTO job VALUES (1, 1, '7.cfd.u1', 'ana', 'aero', 4, ${EPOCH});
      INSERT INTO target VALUES (1, 1, 'OST0', 'oss1');
      INSERT INTO job_sample VALUES (0, 1, ${EPOCH}, 10, 20, 30, 0.5, 0), (1, 1, ${EPOCH}, 10, 20, 30, 0.5, 0);
      INSERT INTO target_sample VALUES (0, 1, ${EPOCH}, 10, 4, 1), (1, 1, ${EPOCH}, 10, 4, 1);`)
    db.close()
    // Contents that differ from the manifest are still opened; verification reports them.
    expect(await repacked((of) => void of.set(HISTORY, readFileSync(old)))).toEqual([HISTORY])
    // Bundles written before locks, metadata and tokens were kept as rows do not count them.
    await repacked((of) => {
      of.set(HISTORY, readFileSync(old))
      manifestOf(of, (m) => {
        const { planes: _, convoys: __, ...samples } = m['samples'] as Record<string, unknown>
        m['samples'] = samples
      })
    })
    const opened = must(await openBundle(bad, work, unpackHistory))
    expect(opened.manifest.samples).not.toHaveProperty('planes')
    const reader = new FileReader(opened.db, opened.cluster, { name: 'small', isOwner: false })
    expect(reader.jobByName('7.cfd.u1')?.user).toBe('ana')
    expect([...(reader.jobs('raw', EPOCH)?.columns[0] ?? [])]).toEqual([10])
    expect([reader.allPlaneSeries('lock_resources'), reader.convoys(0, EPOCH * 2, 9)]).toEqual([[], []])
    opened.close()
    expect(readdirSync(work)).toEqual([])
  })

  it('of a recording that is none, or of another program, opens nothing and leaves nothing', async () => {
    for (const data of [Buffer.from('hello'), randomBytes(8192), Buffer.from('SQLite format 3\0')]) {
      expect(await repacked((of) => void of.set(HISTORY, data))).toEqual([HISTORY])
      expect((await openBundle(bad, work, unpackHistory)).ok).toBe(false)
      expect(readdirSync(work)).toEqual([])
    }
  })
})

it('what a killed process unpacked is removed, and what a running one has is not', () => {
  const within = join(folder, 'left')
  const mine = privateFolder(within)
  const dead = 'sluice-bundle-2147483646-abcdef'
  const other = 'sluice-bundle-1-abcdef'
  for (const name of [dead, other, 'sluice-bundle-x', 'notes']) mkdirSync(join(within, name))
  cpSync(plain, join(within, dead, 'history.qosrec'))
  expect(sweep(within)).toBe(1)
  expect(readdirSync(within).sort()).toEqual([mine.split('/').at(-1), other, 'notes', 'sluice-bundle-x'].sort())
})
