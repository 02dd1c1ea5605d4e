import { createHash } from 'node:crypto'
import fs, { readdirSync, readFileSync, statSync, writeFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { LIMITS, MANIFEST } from '#core/snapshot/manifest.ts'
import { tempFolder } from '../../../tests/node/temp-folder.ts'
import { rawZip, type RawEnd, type RawMember } from '#tests/kits/electron/incidents/raw-zip.ts'
import { openZip } from './zip-in.ts'
import { SEAL, SEAL_BYTES, writeZip, type ZipMember } from './zip-out.ts'

let folder: string
let file: string
beforeEach(() => {
  folder = tempFolder()
  file = join(folder, 'x.zip')
})

const member = (name: string, text: string, level?: number): ZipMember => ({
  name,
  content: () => text,
  ...(level === undefined ? {} : { level }),
})
const manifest = () => member(MANIFEST, '{}')

describe('a bundle is written', () => {
  it('byte for byte the same of the same members, sealed, for its owner only', async () => {
    const members = [
      member('csv/a.csv', 'x,y\r\n'.repeat(50_000), 1),
      member('notebook.json', 'é'),
      member('rules/before.txt', ''),
    ]
    const other = join(folder, 'y.zip')
    const a = await writeZip(file, members, [manifest])
    const b = await writeZip(other, members, [manifest])
    expect(a).toEqual(b)
    const bytes = readFileSync(file)
    expect(bytes.equals(readFileSync(other))).toBe(true)
    const sha = (of: Buffer): string => createHash('sha256').update(of).digest('hex')
    expect(a).toMatchObject({ ok: true, value: { bytes: bytes.length, sha256: sha(bytes) } })
    expect(bytes.toString('latin1', bytes.length - SEAL_BYTES)).toBe(
      SEAL + sha(bytes.subarray(0, bytes.length - SEAL_BYTES)),
    )
    expect((statSync(file).mode & 0o777).toString(8)).toBe('600')
  })

  it('never over another one', async () => {
    writeFileSync(file, 'mine')
    expect(await writeZip(file, [], [manifest])).toMatchObject({ ok: false, error: { code: 'BUNDLE_EXISTS' } })
    rmSync(file)
    const late = { ...manifest(), content: () => (writeFileSync(file, 'mine'), '{}') }
    expect(await writeZip(file, [], [() => late])).toMatchObject({ ok: false, error: { code: 'BUNDLE_EXISTS' } })
    expect([readFileSync(file, 'utf8'), readdirSync(folder)]).toEqual(['mine', ['x.zip']])
  })

  let n = 0
  const noise = (): string => createHash('sha512').update(String(n++)).digest('hex')
  it.each([
    [
      'whose content fails',
      [
        {
          name: 'csv/a.csv',
          content: () => {
            throw new Error('gone')
          },
        },
      ],
      undefined,
    ],
    [
      'whose content fails halfway',
      [
        {
          name: 'csv/a.csv',
          *content(): Generator<string> {
            yield 'x'
            throw new Error('gone')
          },
        },
      ],
      undefined,
    ],
    ['whose file is gone', [{ name: 'csv/a.csv', content: () => ({ file: '/nowhere/x' }) }], undefined],
    [
      'on a disk that takes no more',
      [{ name: 'csv/a.csv', level: 0, content: () => Array.from({ length: 50_000 }, noise) }],
      () => {
        let n = 0
        return new Writable({
          write: (c: Buffer, _, done) =>
            done((n += c.length) > 100_000 ? new Error('ENOSPC: no space left on device') : null),
        })
      },
    ],
  ] as [string, ZipMember[], (() => Writable) | undefined][])('one %s leaves nothing', async (_, members, sink) => {
    const r = await writeZip(file, members, [manifest], { sink })
    expect(r).toMatchObject({ ok: false, error: { code: 'BUNDLE_FAILED' } })
    expect(readdirSync(folder)).toEqual([])
  })

  it('one that is canceled leaves nothing, and its content is not asked for any more', async () => {
    const stop = new AbortController()
    let isEnded = false
    const endless: ZipMember = {
      name: 'csv/a.csv',
      content: function* () {
        try {
          for (let i = 0; ; i++) {
            if (i === 20) stop.abort()
            yield 'x'.repeat(1000)
          }
        } finally {
          isEnded = true
        }
      },
    }
    const r = await writeZip(file, [endless], [manifest], { signal: stop.signal })
    expect(r).toMatchObject({ ok: false, error: { code: 'BUNDLE_CANCELLED' } })
    expect(readdirSync(folder)).toEqual([])
    await expect.poll(() => isEnded).toBe(true)
  })

  it('one that is canceled while its file is still being opened leaves nothing', async () => {
    const stop = new AbortController()
    const open = (path: string, flags: string, mode: number, done: (e: Error | null, fd: number) => void): void =>
      void setTimeout(() => fs.open(path, flags, mode, done), 200)
    const r = await writeZip(file, [member('csv/a.csv', 'x')], [manifest], {
      signal: stop.signal,
      sink: (part) => fs.createWriteStream(part, { flags: 'wx', fs: { ...fs, open } }),
      member: () => stop.abort(),
    })
    expect(r).toMatchObject({ ok: false, error: { code: 'BUNDLE_CANCELLED' } })
    await new Promise((later) => setTimeout(later, 300))
    expect(fs.readdirSync(folder)).toEqual([])
  })
})

async function refusal(bytes: Buffer): Promise<string> {
  writeFileSync(file, bytes)
  const r = await openZip(file)
  if (r.ok) {
    r.value.close()
    return 'opened'
  }
  return `${r.error.code}: ${r.error.why}`
}

const OK: RawMember = { name: MANIFEST, data: '{}' }
const csv = (more: Partial<RawMember> = {}): RawMember => ({ name: 'csv/jobs.csv', data: 'time\r\n', ...more })

describe('a hostile bundle', () => {
  it('is none where nothing in it is hostile', async () => {
    expect(await refusal(rawZip([csv(), OK]))).toBe('opened')
  })

  const names = [
    '../../etc/cron.d/x',
    '/etc/passwd',
    'C:\\x.csv',
    'C:/x.csv',
    'csv/../../x.csv',
    'csv\\x.csv',
    'csv/x.csv/',
    'csv//x.csv',
    './csv/x.csv',
    'csv/x.exe',
    'run.sh',
    'csv/a/b.csv',
    'csv/.x.csv',
    'charts/inner.zip',
    'CSV/x.csv',
    'csv/x.csv\0.txt',
    'csv/\u00e9.csv',
    '',
    'manifest.json ',
    '\\\\host\\share',
    'csv/CON',
    '__proto__',
  ]
  it.each(names)('with a member named %j is refused by that name', async (name) => {
    const why = await refusal(rawZip([{ ...csv(), name }, OK]))
    expect(why).toMatch(/^BUNDLE_REFUSED: ".*" is not a member name of a bundle$/)
  })

  const of = (m: readonly RawMember[], end?: RawEnd): Buffer => rawZip(m, end)
  const inner = rawZip([csv(), OK])
  const cases: readonly (readonly [string, () => Buffer, string])[] = [
    ['a link', () => of([csv({ attributes: 0xa1ff0000 }), OK]), 'is not a regular file'],
    ['a program', () => of([csv({ attributes: 0x81ed0000 }), OK]), 'is not a regular file'],
    ['a folder', () => of([csv({ attributes: 0x41ed0010 }), OK]), 'is not a regular file'],
    ['attributes of DOS', () => of([csv({ madeBy: 0x0014 }), OK]), 'is not a regular file'],
    ['a name twice', () => of([csv(), csv(), OK]), 'is in it twice'],
    ['encryption', () => of([csv({ flags: 0x801 }), OK]), 'is encrypted'],
    ['another packing', () => of([csv({ method: 12 as 8 }), OK]), 'another compression'],
    [
      'too many members',
      () => of(Array.from({ length: LIMITS.members + 2 }, (_, i) => csv({ name: `csv/c${i}.csv` }))),
      'the limit is',
    ],
    ['a size beyond all bounds', () => of([csv({ bytes: 2 ** 31 + 1 }), OK]), 'the limit is'],
    ['a manifest beyond its bound', () => of([csv(), { ...OK, bytes: LIMITS.manifestBytes + 1 }]), 'the limit is'],
    [
      'sizes beyond all bounds together',
      () =>
        of(
          [1, 2].map((i) =>
            csv({ name: `csv/c${i}.csv`, bytes: 2 ** 31 - 1, packed: 2 ** 22, stored: Buffer.alloc(2 ** 22) }),
          ),
        ),
      'more than',
    ],
    ['a bomb that tells its size', () => of([csv({ bytes: 2 ** 30, packed: 1000 }), OK]), 'compression ratio'],
    ['two sizes of one that is not packed', () => of([csv({ method: 0, bytes: 3 }), OK]), 'size mismatch'],
    ['fields of its own', () => of([csv({ extra: Buffer.from([1, 0, 0, 0]) }), OK]), 'unexpected fields'],
    [
      'zip64 sizes in a field',
      () => of([csv({ bytes: 0xffffffff, extra: Buffer.alloc(28) }), OK]),
      'unexpected fields',
    ],
    [
      'a zip64 end',
      () =>
        of([csv(), OK], {
          zip64: Buffer.concat([
            Buffer.from('PK\x06\x06'),
            Buffer.alloc(52),
            Buffer.from('PK\x06\x07'),
            Buffer.alloc(16, 255),
          ]),
        }),
      'zip64',
    ],
    ['another name before the data', () => of([csv({ localName: 'csv/JOBS.csv' }), OK]), 'contradict'],
    ['another size before the data', () => of([csv({ localBytes: 1 }), OK]), 'contradict'],
    ['members that overlap', () => of([csv(), csv({ name: 'csv/x.csv', at: 0 }), OK]), 'does not begin where'],
    ['a quoted member', () => of([csv({ method: 0, data: inner }), { ...OK, at: 40 }]), 'does not begin where'],
    ['something before it', () => of([csv(), OK], { before: Buffer.from('#!/bin/sh\n') }), 'does not begin where'],
    ['another zip before it', () => of([csv(), OK], { before: inner }), 'does not begin where'],
    ['something behind it', () => of([csv(), OK], { behind: Buffer.from('x') }), 'its end is not valid'],
    ['another zip behind it', () => of([csv(), OK], { behind: inner }), 'does not begin where|offset of its directory'],
    ['something between', () => of([csv(), OK], { between: Buffer.from('hidden') }), 'between its members'],
    ['fewer in its directory', () => of([csv(), OK], { entries: 1 }), 'between its members|size of its directory'],
    ['more in its directory', () => of([csv(), OK], { entries: 3 }), 'signature|end|size of its directory'],
    ['a directory elsewhere', () => of([csv(), OK], { directoryAt: 4 }), 'offset of its directory'],
    ['a directory beyond the file', () => of([csv(), OK], { directoryAt: 0xfffffff0 }), 'offset of its directory'],
    ['another comment', () => of([csv(), OK], { comment: Buffer.from('x') }), 'end is not valid'],
    ['data beyond the file', () => of([csv({ packed: 10_000 }), OK]), 'does not begin|within the file|contradict'],
  ]
  it.each(cases)('with %s is refused', async (_, bytes, why) => {
    expect(await refusal(bytes())).toMatch(new RegExp(`^BUNDLE_(?:REFUSED|FOREIGN): .*(?:${why})`, 's'))
  })

  const late: readonly (readonly [string, RawMember, string])[] = [
    [
      'a bomb that lies about its size',
      csv({ data: Buffer.alloc(40 * 2 ** 20), bytes: 6 }),
      'cannot be unpacked|longer',
    ],
    ['one that is shorter than it says', csv({ bytes: 60 }), 'cannot be unpacked|shorter'],
    ['a wrong checksum', csv({ crc: 7 }), 'checksum does not match'],
    ['bytes that are no deflate', csv({ stored: Buffer.alloc(20, 0xff) }), 'cannot be unpacked'],
  ]
  it.each(late)('with %s is damaged in that member', async (_, m, why) => {
    writeFileSync(file, rawZip([m, OK]))
    const r = await openZip(file)
    if (!r.ok) throw new Error(r.error.why)
    const before = readdirSync(folder)
    const read = await r.value.read(m.name, 2 ** 20)
    expect(read).toMatchObject({
      ok: false,
      error: {
        code: 'BUNDLE_DAMAGED',
        what: expect.stringContaining(m.name) as string,
        why: expect.stringMatching(why) as string,
      },
    })
    r.value.close()
    expect(readdirSync(folder)).toEqual(before)
  })

  it('that is no archive at all is named so', async () => {
    expect(await refusal(Buffer.alloc(0))).toBe('BUNDLE_FOREIGN: it is empty')
    expect(await refusal(Buffer.from('hello'))).toBe('BUNDLE_FOREIGN: it is not a zip')
    expect(await refusal(Buffer.alloc(4096, 7))).toBe('BUNDLE_FOREIGN: it is not a zip')
    expect(await refusal(rawZip([csv()]))).toBe('BUNDLE_FOREIGN: it has no manifest')
    const gone = await openZip(join(folder, 'gone.zip'))
    expect(gone).toMatchObject({ ok: false, error: { code: 'BUNDLE_GONE' } })
    expect(await openZip(folder)).toMatchObject({ ok: false, error: { code: 'BUNDLE_UNREADABLE' } })
  })

  it('with any bytes at any place never ends the program, and is told in words', async () => {
    const good = rawZip([csv({ data: 'time\r\n'.repeat(30) }), OK])
    const cut = fc.record({
      at: fc.nat(good.length - 1),
      bytes: fc.uint8Array({ minLength: 1, maxLength: 8 }),
      keep: fc.nat(good.length),
    })
    await fc.assert(
      fc.asyncProperty(cut, async ({ at, bytes, keep }) => {
        const bad = Buffer.from(good)
        bad.set(bytes.subarray(0, good.length - at), at)
        writeFileSync(file, bad.subarray(0, Math.max(keep, at)))
        const r = await openZip(file)
        if (!r.ok) return void expect(r.error.why).not.toBe('')
        for (const { name } of r.value.entries.values()) await r.value.read(name, 2 ** 20)
        r.value.close()
      }),
      { numRuns: 150 },
    )
  })
})
