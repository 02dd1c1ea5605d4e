import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { tempFolder } from '../../tests/node/temp-folder.ts'

const LAUNCHER = join(import.meta.dirname, 'sluice.mjs')
const { env } = process

const start = (args: readonly string[], options = ''): ChildProcessWithoutNullStreams =>
  spawn(process.execPath, [LAUNCHER, 'parse', ...args], {
    stdio: 'pipe',
    cwd: tempFolder(),
    env: { ...env, NODE_OPTIONS: options },
  })

interface Ended {
  readonly code: number | null
  readonly stdout: Buffer
  readonly stderr: string
}

async function ended(child: ChildProcessWithoutNullStreams): Promise<Ended> {
  const out: Buffer[] = []
  let stderr = ''
  child.stdout.on('data', (b: Buffer) => out.push(b))
  child.stderr.setEncoding('utf8').on('data', (t: string) => (stderr += t))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, stdout: Buffer.concat(out), stderr }
}

/** Runs the command on bytes at its standard input. */
function parse(input: string, args: readonly string[] = ['job_stats']): Promise<Ended> {
  const child = start(args)
  child.stdin.on('error', () => undefined)
  child.stdin.end(Buffer.from(input, 'latin1'))
  return ended(child)
}

interface Document {
  readonly targets: readonly {
    readonly target: string | null
    readonly param?: string
    readonly jobs: readonly {
      readonly job_id: string
      readonly job_id_bytes?: string
      readonly snapshot_time: string | null
      readonly start_time?: string
      readonly elapsed_time?: string
      readonly ops: Record<string, object>
    }[]
  }[]
  readonly skipped: readonly { line: number; reason: string }[]
  readonly skipped_more: number
}
const documentOf = (e: Ended): Document => JSON.parse(e.stdout.toString('utf8')) as Document

const TEXT = [
  'obdfilter.testfs-OST0000.job_stats=',
  'job_stats:',
  '- job_id:          "rank\\x200:1"',
  '  snapshot_time:   1763676486.123456789 secs.nsecs',
  '  start_time:      1763676476.012345678 secs.nsecs',
  '  elapsed_time:    10.111111111 secs.nsecs',
  '  read_bytes:      { samples:           0, unit: bytes, min:        0, max:        0, sum:                0, sumsq:                  0, hist: {  } }',
  '  write_bytes:     { samples:         100, unit: bytes, min:     4096, max:  1048576, sum: 9007199254740993, sumsq: 18446744073709551615, hist: { 4K: 3, 1M: 97 } }',
  'junk',
  'obdfilter.testfs-OST0001.job_stats=',
  'mdt.testfs-MDT0000.job_stats=',
  'job_stats:',
  '- job_id:          dd.500',
  '  snapshot_time:   1763676486',
  '  open:            { samples:           7, unit:  reqs }',
  '',
].join('\n')

describe('sluice parse job_stats', () => {
  it('gives every target, job and counter of what lctl printed, and names what it could not read', async () => {
    const e = await parse(TEXT)
    expect(e).toMatchObject({ code: 0, stderr: '' })
    const bytes = { samples: 0, unit: 'bytes', min: 0, max: 0, sum: 0, sumsq: 0, hist: {} }
    expect(documentOf(e)).toMatchObject({
      targets: [
        {
          target: 'testfs-OST0000',
          param: 'obdfilter.testfs-OST0000.job_stats',
          jobs: [
            {
              job_id: 'rank 0:1',
              snapshot_time: '1763676486.123456789',
              start_time: '1763676476.012345678',
              elapsed_time: '10.111111111',
              ops: { read_bytes: bytes, write_bytes: { samples: 100, min: 4096, hist: { '4K': 3, '1M': 97 } } },
            },
          ],
        },
        { target: 'testfs-OST0001', jobs: [] },
        {
          target: 'testfs-MDT0000',
          jobs: [{ job_id: 'dd.500', snapshot_time: '1763676486', ops: { open: { samples: 7, unit: 'reqs' } } }],
        },
      ],
      skipped: [{ line: 9, reason: 'neither a job nor a field of one' }],
      skipped_more: 0,
    })
    expect(Object.keys(documentOf(e).targets[2]?.jobs[0]?.ops.open ?? {})).toEqual(['samples', 'unit'])
    // Beyond 2^53 to the last digit.
    expect(e.stdout.toString()).toContain('"sum":9007199254740993,"sumsq":18446744073709551615,')
  })

  it('reads a file as it reads standard input', async () => {
    const file = join(tempFolder(), 'job stats.txt')
    writeFileSync(file, TEXT, 'latin1')
    const [a, b, c] = await Promise.all([parse(TEXT), parse('', ['job_stats', file]), parse(TEXT, ['job_stats', '-'])])
    expect(b).toEqual(a)
    expect(c).toEqual(a)
  })

  it('names no target where the text does not', async () => {
    expect(documentOf(await parse('job_stats:\n- job_id:          a\njob_stats:\n')).targets).toEqual([
      { target: null, jobs: [{ job_id: 'a', snapshot_time: null, ops: {} }] },
      { target: null, jobs: [] },
    ])
    expect(documentOf(await parse(''))).toEqual({ targets: [], skipped: [], skipped_more: 0 })
  })

  it('gives ids that are UTF-8 as text, others byte by byte, and nothing that a terminal obeys', async () => {
    const ids = [
      '"\u00c3\\xA9t\u00c3\\xA9"',
      '\u00ff\u00fe',
      '"\\x1B[2J"',
      '"\\xC2\\x9B2J"',
      '"\\x22,\\x22x"',
      '__proto__',
    ]
    const e = await parse(ids.map((id) => `- job_id:          ${id}\n`).join(''))
    expect(documentOf(e).targets[0]?.jobs.map((j) => [j.job_id, j.job_id_bytes])).toEqual([
      ['\u00e9t\u00e9', undefined],
      ['\u00ff\u00fe', 'fffe'],
      ['\u001b[2J', undefined],
      ['\u009b2J', undefined],
      ['","x', undefined],
      ['__proto__', undefined],
    ])
    expect(e.stdout.toString('utf8')).not.toMatch(/[\0-\x09\x0b-\x1f\x7f-\x9f]/)
  })

  it('writes entries while more are coming', async () => {
    const child = start(['job_stats'])
    child.stdin.write(TEXT.repeat(2))
    const [first] = (await once(child.stdout, 'data')) as [Buffer]
    expect(first.toString()).toContain('rank 0:1')
    child.stdin.end(TEXT)
    const e = await ended(child)
    expect(e.code).toBe(0)
    expect(documentOf({ ...e, stdout: Buffer.concat([first, e.stdout]) }).targets).toHaveLength(9)
  })

  it('streams more than its memory holds', async () => {
    const child = start(['job_stats'], '--max-old-space-size=40')
    const times = 2500
    const block = Buffer.from(TEXT.replace('junk\n', '').repeat(50), 'latin1')
    let bytes = 0
    let tail = ''
    child.stdout.on('data', (b: Buffer) => {
      bytes += b.length
      tail = (tail + b.toString('latin1')).slice(-100)
    })
    const closed = once(child, 'close')
    for (let i = 0; i < times; i++) if (!child.stdin.write(block)) await once(child.stdin, 'drain')
    child.stdin.end()
    expect(await closed).toEqual([0, null])
    expect(block.length * times).toBeGreaterThan(80e6)
    expect(bytes).toBeGreaterThan(40e6)
    expect(tail).toMatch(/"skipped":\[\],"skipped_more":0\}\n$/)
  })

  it('survives what is no text at all', async () => {
    const bytes = Array.from({ length: 300_000 }, (_, i) => String.fromCharCode((i * i * 7919 + i * 31) & 255)).join('')
    const e = await parse(`${bytes}\n${TEXT}`)
    expect(e.code).toBe(0)
    expect(documentOf(e).targets.at(-1)).toMatchObject({ target: 'testfs-MDT0000', jobs: [{ job_id: 'dd.500' }] })
    expect(documentOf(e).skipped.length).toBeGreaterThan(0)
  })

  it('ends with 1 and the reason when it cannot read, and prints nothing', async () => {
    const folder = tempFolder()
    for (const [name, why] of [
      [join(folder, 'none'), 'no such file'],
      [folder, 'directory'],
    ] as const) {
      const e = await parse('', ['job_stats', name])
      expect(e.code).toBe(1)
      expect(e.stdout.toString()).toBe('')
      expect(e.stderr).toContain(why)
    }
  })

  it('ends with 2 when it is not used as it can be', async () => {
    for (const [args, why] of [
      [['md_stats'], 'Allowed choices are job_stats'],
      [[], 'missing required argument'],
      [['job_stats', 'a', 'b'], 'too many arguments'],
    ] as const) {
      const e = await parse('', args)
      expect(e).toMatchObject({ code: 2, stdout: Buffer.alloc(0) })
      expect(e.stderr).toContain(why)
    }
  })

  it('ends quietly when its reader goes away', async () => {
    const child = start(['job_stats'])
    let stderr = ''
    child.stderr.setEncoding('utf8').on('data', (t: string) => (stderr += t))
    child.stdin.on('error', () => undefined)
    child.stdin.write(TEXT.repeat(2000))
    await once(child.stdout, 'data')
    child.stdout.destroy()
    const exit = once(child, 'exit')
    child.stdin.write(TEXT.repeat(2000))
    child.stdin.end()
    expect(await exit).toEqual([0, null])
    expect(stderr).toBe('')
  })
})
