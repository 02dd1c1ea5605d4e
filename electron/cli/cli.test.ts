import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runSluice, startSluice, type Ended } from '#tests/kits/cli/in-process.ts'
import { tempFolder } from '../../tests/node/temp-folder.ts'

const sluice = (args: readonly string[], input = ''): Promise<Ended> => runSluice(args, {}, input)

const lines = (text: string): string[] => text.split('\n').slice(0, -1)
const parsed = <T>(text: string): T[] => lines(text).map((l) => JSON.parse(l) as T)

interface Case {
  readonly name: string
  readonly input: object[]
  readonly expected: { alloc: unknown; record: unknown; budget: unknown }[]
}
interface Answer {
  readonly alloc?: unknown
  readonly record?: unknown
  readonly budget?: unknown
  readonly reset?: true
  readonly error?: { code: string; message: string }
}

describe('sluice eval', () => {
  it('answers the golden cases in one process, state kept within a case and forgotten between two', async () => {
    const text = readFileSync(new URL('../../tests/cases/adaptbf.jsonl', import.meta.url), 'utf8')
    const cases = text
      .trim()
      .split('\n')
      .map((l) => JSON.parse(l) as Case)
    const input = cases.flatMap((c) => [{ reset: true }, ...c.input]).map((i) => `${JSON.stringify(i)}\n`)
    const ended = await sluice(['eval', 'adaptbf'], input.join(''))
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    const answers = parsed<Answer>(ended.stdout)
    expect(answers).toHaveLength(input.length)
    for (const c of cases) {
      expect(answers.shift()).toEqual({ reset: true })
      for (const e of c.expected) {
        const { alloc, record, budget } = answers.shift() ?? {}
        expect({ alloc, record, budget }, c.name).toEqual({ alloc: e.alloc, record: e.record, budget: e.budget })
      }
    }
  })

  it('answers every line, a bad one with an error, and serves the next', async () => {
    const period = (id: string): string => JSON.stringify({ max_rate: 100, dt: 1, jobs: [{ id, demand: 5 }] })
    const input = [period('a'), '{"t":', '', '[]', `${period('b')}\r`, period('c')].join('\n')
    const ended = await sluice(['eval', 'adaptbf'], input)
    expect(ended.code).toBe(0)
    const answers = parsed<Answer>(ended.stdout)
    expect(answers.map((a) => a.error?.code)).toEqual([
      undefined,
      'NOT_JSON',
      'NOT_JSON',
      'NOT_AN_OBJECT',
      undefined,
      undefined,
    ])
    expect(answers[5]?.alloc).toEqual({ c: 100 })
  })

  it('splits lines at newlines only, whatever a job id contains', async () => {
    const id = 'a\u2028b\u2029c\u0085d\u{1f680}'
    const ended = await sluice(['eval', 'adaptbf'], `{"max_rate":10,"dt":1,"jobs":[{"id":"${id}","demand":1}]}\n`)
    expect(parsed<Answer>(ended.stdout)).toMatchObject([{ alloc: { [id]: 10 } }])
  })

  it('answers a line before the next one comes, so that a caller may talk to it as to a server', async () => {
    let heard: (text: string) => void = () => undefined
    const run = startSluice(['eval', 'adaptbf'], { input: 'open', onSaid: (text) => heard(text) })
    const ask = async (text: string): Promise<unknown> => {
      const answer = new Promise<string>((resolve) => (heard = resolve))
      run.type(text)
      return JSON.parse(await answer) as unknown
    }
    expect(await ask('{"reset":true}\n')).toEqual({ reset: true })
    expect(await ask('{"max_rate":10,"dt":1,"jobs":[]}\n')).toMatchObject({ budget: 10 })
    run.close()
    expect(await run.ended).toMatchObject({ code: 0, stderr: '' })
  })

  it('answers 10,000 lines in seconds', async () => {
    const line = `${JSON.stringify({ max_rate: 1000, dt: 0.1, jobs: [1, 2, 3].map((n) => ({ id: `j${n}`, demand: 40 * n })) })}\n`
    const began = performance.now()
    const ended = await sluice(['eval', 'adaptbf'], line.repeat(10_000))
    expect(lines(ended.stdout)).toHaveLength(10_000)
    expect(performance.now() - began).toBeLessThan(10_000)
  })

  it('names its systems', async () => {
    const ended = await sluice(['eval', '--list'])
    expect(ended.code).toBe(0)
    expect(lines(ended.stdout).map((l) => l.split('\t')[0])).toContain('adaptbf')
  })
})

describe('sluice run', () => {
  interface Report {
    wall_s?: number
    seed: number
    simulated_s: number
    controller: string
    jobs: Record<string, { served_rpcs: number }>
    aggregate: { served_rpcs: number }
    records: Record<string, number>
  }
  const report = async (...args: string[]): Promise<Report> => {
    const ended = await sluice(['run', 'demo', '--json', ...args])
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    return JSON.parse(ended.stdout) as Report
  }

  it('reports the same twice but for the time it took', async () => {
    const a = await report('--until', '5')
    const b = await report('--until', '5')
    expect(a.wall_s).toBeGreaterThan(0)
    delete a.wall_s
    delete b.wall_s
    expect(JSON.stringify(a)).toBe(JSON.stringify(b))
    expect(a).toMatchObject({ seed: 1, simulated_s: 5, controller: 'adaptbf' })
    const served = Object.values(a.jobs).reduce((n, j) => n + j.served_rpcs, 0)
    expect(served).toBeGreaterThan(1000)
    expect(a.aggregate.served_rpcs).toBe(served)
    expect(Object.values(a.records).reduce((n, r) => n + r, 0)).toBe(0)
  })

  it('prints nothing of a job id that a terminal would obey, and loses no job whatever its name', async () => {
    const file = join(tempFolder(), 'odd.yaml')
    const job = (id: string): string =>
      `  - { id: ${JSON.stringify(id)}, clients: [1], op: write, size_kib: 64, pattern: { kind: continuous } }`
    writeFileSync(
      file,
      [
        'title: "odd \\u001b]0;x\\u0007"',
        'clients: { count: 1 }',
        'oss: [{ name: oss01, osts: [{ name: t-OST0000, disk: { bandwidth_mb_s: 100 } }] }]',
        'control: { max_rate: 100 }',
        'jobs:',
        job('\u001b[2Jboo'),
        job('__proto__'),
      ].join('\n'),
    )
    const table = await sluice(['run', file, '--until', '1'])
    expect(table).toMatchObject({ code: 0, stderr: '' })

    expect(table.stdout).not.toMatch(/[\x00-\x09\x0b-\x1f]/)
    const ended = await sluice(['run', file, '--until', '1', '--json'])
    const { jobs } = JSON.parse(ended.stdout) as { jobs: object }
    expect(Object.keys(jobs)).toEqual(['\u001b[2Jboo', '__proto__'])
  })

  it('takes a controller and a seed; without a ledger there are no records', async () => {
    const r = await report('--until', '3', '--controller', 'static', '--seed', '9')
    expect(r).toMatchObject({ controller: 'static', seed: 9 })
    expect(r).not.toHaveProperty('records')
  })

  it('says where a scenario is wrong, and fails', async () => {
    const folder = tempFolder()
    const file = join(folder, 'bad.yaml')
    writeFileSync(file, 'title: Bad\nclients: { count: 2 }\ncontrol: { max_rate: 5 }\nclusters: 3\n')
    const invalid = await sluice(['run', file])
    expect(invalid).toMatchObject({ code: 1, stdout: '' })
    expect(invalid.stderr).toMatch(/^sluice: bad\.yaml, line \d+, column \d+: the scenario cannot be used: /)
    const missing = await sluice(['run', join(folder, 'none.yaml')])
    expect(missing.code).toBe(1)
    expect(missing.stderr).toContain('cannot be read')
  })

  it('prints a table for people', async () => {
    const ended = await sluice(['run', 'demo', '--until', '1'])
    expect(ended.code).toBe(0)
    expect(lines(ended.stdout)[0]).toMatch(/^Four OSTs, one heavy job, seed 1, controller adaptbf: 1 s emulated in /)
    expect(ended.stdout).toContain('4655.vasp_std.u340')
  })
})

describe('sluice watch', () => {
  it('prints one JSON line a sample, in order, and ends by itself', async () => {
    const file = join(tempFolder(), 'four.yaml')
    const numbers = [1, 2, 3, 4]
    const scenario = {
      title: 'Four targets',
      clients: { count: 4 },
      oss: [{ name: 'oss01', osts: numbers.map((n) => ({ name: `OST${n}`, disk: { bandwidth_mb_s: 100 } })) }],
      control: { max_rate: 100, period_ms: 100 },
      jobs: numbers.map((n) => ({
        id: `${n}.job.u${n}`,
        clients: [n],
        op: 'write',
        size_kib: 64,
        pattern: { kind: 'continuous' },
      })),
    }
    writeFileSync(file, JSON.stringify(scenario))
    const ended = await sluice(['watch', 'emulator', '--json', '--for', '2', '--scenario', file])
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    const samples = parsed<{ t: number; source: string; targets: object; jobs: { job_id: string; rate: number }[] }>(
      ended.stdout,
    )
    // As many as the machine manages in two seconds, at most twenty.
    expect(samples.length).toBeGreaterThan(1)
    expect(samples.length).toBeLessThan(25)
    for (const [i, s] of samples.entries()) {
      if (i > 0) expect(s.t).toBeGreaterThan(samples[i - 1]?.t ?? NaN)
      expect(s.source).toBe('EMULATED')
      // A sample taken before the first readings has no targets.
      expect([0, 4]).toContain(Object.keys(s.targets).length)
    }
    expect(samples.some((s) => Object.keys(s.targets).length === 4 && s.jobs.length > 2)).toBe(true)
  })

  it('prints nothing that a terminal would obey', async () => {
    const file = join(tempFolder(), 'hostile.yaml')
    const scenario = {
      title: 'Hostile',
      clients: { count: 1 },
      oss: [{ name: 'oss01', osts: [{ name: 'OST0', disk: { bandwidth_mb_s: 100 } }] }],
      control: { max_rate: 100 },
      jobs: [{ id: '\x1b[2J\x07evil\n', clients: [1], op: 'read', size_kib: 4, pattern: { kind: 'continuous' } }],
    }
    writeFileSync(file, JSON.stringify(scenario))
    const ended = await sluice(['watch', 'emulator', '--for', '0.7', '--scenario', file])
    expect(ended.code).toBe(0)
    expect(ended.stdout).toContain('?[2J?evil?')
    expect(ended.stdout).not.toMatch(/[\x00-\x09\x0b-\x1f]/)
  })

  it('ends quietly when it is interrupted', async () => {
    let heard: () => void = () => undefined
    const first = new Promise<void>((resolve) => (heard = resolve))
    const run = startSluice(['watch', 'emulator', '--json'], { onSaid: () => heard() })
    await first
    run.signal('SIGINT')
    expect(await run.ended).toMatchObject({ code: 0, stderr: '' })
  })
})

describe('usage', () => {
  it.each([
    [['frobnicate'], 'unknown command'],
    [['run', 'demo', '--frob'], 'unknown option'],
    [['run', 'demo', '--controller', 'magic'], 'Allowed choices are'],
    [['run', 'demo', '--until', '0'], 'Seconds above 0'],
    [['eval', 'padl'], 'There is no system called padl'],
    [['eval', '__proto__'], 'There is no system called __proto__'],
    [['watch', 'nope'], 'There is no cluster called nope'],
  ])('%j ends with 2 and says why', async (args, why) => {
    const ended = await sluice(args)
    expect(ended.code).toBe(2)
    expect(ended.stdout).toBe('')
    expect(ended.stderr).toContain(why)
  })

  it.each([[[]], [['serve']], [['eval']], [['run']], [['watch']]])('%j --help ends with 0', async (args: string[]) => {
    const ended = await sluice([...args, '--help'])
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    expect(ended.stdout).toMatch(/^Usage: /)
  })
})
