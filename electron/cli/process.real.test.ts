/** Process-level behavior of the command line: entry file, exit codes, signals, pipes, closed readers, locales, memory. */
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { killAll, sluiceProcess, startProcess } from '#tests/kits/cli/process.ts'
import { tempFolder } from '../../tests/node/temp-folder.ts'
import { version } from '#electron/files/resources.ts'

const TEXT = [
  'obdfilter.testfs-OST0000.job_stats=',
  'job_stats:',
  '- job_id:          "rank\\x200:1"',
  '  snapshot_time:   1763676486.123456789 secs.nsecs',
  '  write_bytes:     { samples:         100, unit: bytes, min:     4096, max:  1048576, sum: 9007199254740993, sumsq: 18446744073709551615, hist: { 4K: 3, 1M: 97 } }',
  'mdt.testfs-MDT0000.job_stats=',
  'job_stats:',
  '- job_id:          \u00c3\u00a9t\u00c3\u00a9.500',
  '  snapshot_time:   1763676486',
  '  open:            { samples:           7, unit:  reqs }',
  '',
].join('\n')
const BYTES = Buffer.from(TEXT, 'latin1')
const targets = (json: string): string[] =>
  (JSON.parse(json) as { targets: { target: string }[] }).targets.map((t) => t.target)

afterAll(killAll)

describe('the sluice command as a process', () => {
  it('starts from its entry file, and a shell sees how it ended', async () => {
    const folder = tempFolder()
    const [requests, done, failed, usage] = await Promise.all([
      sluiceProcess(['--version']),
      sluiceProcess(['run', 'demo', '--until', '1', '--json']),
      sluiceProcess(['run', join(folder, 'none.yaml')]),
      sluiceProcess(['run', 'demo', '--frob']),
    ])
    expect(requests).toEqual({ code: 0, stdout: `${version()}\n`, stderr: '' })
    expect(done).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(done.stdout)).toMatchObject({ simulated_s: 1 })
    expect(failed).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('cannot be read') as string })
    expect(usage).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('unknown option') as string })
  })

  it('answers a line before the next one comes, and writes while more are coming', async () => {
    const talk = startProcess(['eval', 'adaptbf'])
    const ask = async (text: string): Promise<unknown> => {
      talk.child.stdin.write(text)
      const [chunk] = (await once(talk.child.stdout, 'data')) as [Buffer]
      return JSON.parse(chunk.toString()) as unknown
    }
    expect(await ask('{"reset":true}\n')).toEqual({ reset: true })
    expect(await ask('{"max_rate":10,"dt":1,"jobs":[]}\n')).toMatchObject({ budget: 10 })
    talk.child.stdin.end()
    expect(await talk.ended).toMatchObject({ code: 0, stderr: '' })
    const parse = startProcess(['parse', 'job_stats'])
    parse.child.stdin.write(Buffer.concat([BYTES, BYTES]))
    while (!parse.said().includes('rank 0:1')) await once(parse.child.stdout, 'data')
    parse.child.stdin.end(BYTES)
    const ended = await parse.ended
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    expect(targets(ended.stdout)).toHaveLength(6)
  })

  it('reads standard input as it reads a file, in whatever locale it is started', async () => {
    const file = join(tempFolder(), 'job stats.txt')
    writeFileSync(file, BYTES)
    const bare = { LC_ALL: 'C', LANG: 'C' }
    const [piped, named, dashed, german] = await Promise.all([
      sluiceProcess(['parse', 'job_stats'], bare, BYTES),
      sluiceProcess(['parse', 'job_stats', file], bare),
      sluiceProcess(['parse', 'job_stats', '-'], { LC_ALL: 'C.UTF-8', LANG: 'C.UTF-8' }, BYTES),
      sluiceProcess(['parse', 'job_stats'], { LC_ALL: 'de_DE.ISO-8859-1', LANG: 'de_DE.ISO-8859-1' }, BYTES),
    ])
    expect(piped).toMatchObject({ code: 0, stderr: '' })
    expect(targets(piped.stdout)).toEqual(['testfs-OST0000', 'testfs-MDT0000'])
    expect(piped.stdout).toContain('\u00e9t\u00e9.500')
    expect([named, dashed, german]).toEqual([piped, piped, piped])
  })

  it('ends quietly when its reader goes away', async () => {
    const watch = startProcess(['watch', 'emulator', '--json'])
    const parse = startProcess(['parse', 'job_stats'])
    const many = Buffer.concat(Array.from({ length: 2000 }, () => BYTES))
    parse.child.stdin.write(many)
    await Promise.all(
      [watch, parse].map(async ({ child }) => {
        await once(child.stdout, 'data')
        child.stdout.destroy()
      }),
    )
    parse.child.stdin.end(many)
    const [watched, parsed] = await Promise.all([watch.ended, parse.ended])
    expect([watched.code, watched.stderr]).toEqual([0, ''])
    expect([parsed.code, parsed.stderr]).toEqual([0, ''])
  })

  it('ends with 0 on SIGINT and SIGTERM', async () => {
    const both = (['SIGINT', 'SIGTERM'] as const).map(async (signal) => {
      const { child, ended } = startProcess(['watch', 'emulator', '--json'])
      await once(child.stdout, 'data')
      child.kill(signal)
      return ended
    })
    for (const end of await Promise.all(both)) expect([end.code, end.stderr]).toEqual([0, ''])
  })

  it('streams more than its memory holds', async () => {
    const { child } = startProcess(['parse', 'job_stats'], { NODE_OPTIONS: '--max-old-space-size=40' }, 'drop')
    const times = 2500
    const block = Buffer.concat(Array.from({ length: 100 }, () => BYTES))
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
})
