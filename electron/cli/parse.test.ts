import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runSluice, type Ended } from '#tests/kits/cli/in-process.ts'
import { tempFolder } from '../../tests/node/temp-folder.ts'

const folder = tempFolder()

/** Runs the command on a file of these bytes. */
function parse(input: string): Promise<Ended> {
  const file = join(folder, 'job stats.txt')
  writeFileSync(file, input, 'latin1')
  return runSluice(['parse', 'job_stats', file])
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
const documentOf = (e: Ended): Document => JSON.parse(e.stdout) as Document

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
    expect(e.stdout).toContain('"sum":9007199254740993,"sumsq":18446744073709551615,')
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
    expect(e.stdout).not.toMatch(/[\0-\x09\x0b-\x1f\x7f-\x9f]/)
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
      const e = await runSluice(['parse', 'job_stats', name])
      expect(e.code).toBe(1)
      expect(e.stdout).toBe('')
      expect(e.stderr).toContain(why)
    }
  })

  it('ends with 2 when it is not used as it can be', async () => {
    for (const [args, why] of [
      [['md_stats'], 'Allowed choices are job_stats'],
      [[], 'missing required argument'],
      [['job_stats', 'a', 'b'], 'too many arguments'],
    ] as const) {
      const e = await runSluice(['parse', ...args])
      expect(e).toMatchObject({ code: 2, stdout: '' })
      expect(e.stderr).toContain(why)
    }
  })
})
