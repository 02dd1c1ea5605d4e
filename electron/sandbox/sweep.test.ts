import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runSluice, type Ended } from '#tests/kits/cli/in-process.ts'
import { tempFolder } from '../../tests/node/temp-folder.ts'
import { parseAxis, pointsOf, scenarioAt, type Axis } from './sweep-grid.ts'
import { readSweep } from './sweep-manifest.ts'
import { chunkPath } from './sweep-results.ts'
import { nameFault, ranges, shellQuoted, timeFault } from './sweep-slurm.ts'
import { HOSTILE, SMALL } from '#tests/kits/electron/sandbox/small-scenario.ts'

const sluice = (args: readonly string[], env?: NodeJS.ProcessEnv): Promise<Ended> => runSluice(args, env)

const VARIANTS = `
- { name: Baseline, controller: none }
- { name: Cap, controller: none, rules: [{ service: ost_io, line: 'start cap jobid={1.*} rate=100' }] }
`

function folder(scenario = SMALL): { scenario: string; variants: string; out: string; args: string[] } {
  const dir = tempFolder()
  const file = join(dir, "it's a scenario.yaml")
  const variants = join(dir, 'variants.yaml')
  const out = join(dir, "an 'out'")
  writeFileSync(file, scenario)
  writeFileSync(variants, VARIANTS)
  const args = [
    'sweep',
    file,
    '--set',
    'control.max_rate=300,500',
    '--set',
    'clients.count=4,5',
    '--variants',
    variants,
  ]
  return {
    scenario: file,
    variants,
    out,
    args: [...args, '--seeds', '2', '--until', '1', '--workers', '1', '--out', out],
  }
}

/** Arguments for the first point of the grid only: two chunks. */
const onePoint = (args: readonly string[]): string[] =>
  args.map((a) =>
    a.replace('control.max_rate=300,500', 'control.max_rate=300').replace('clients.count=4,5', 'clients.count=4'),
  )

const results = (out: string): string[] => readdirSync(join(out, 'results')).filter((f) => f.endsWith('.json'))
const stamps = (out: string): Map<string, number> =>
  new Map(results(out).map((f) => [f, statSync(join(out, 'results', f)).mtimeMs]))

describe('a grid', () => {
  const axes = (...texts: string[]): Axis[] =>
    texts.map((t) => {
      const axis = parseAxis(t)
      if (!axis.ok) throw new Error(axis.error.why)
      return axis.value
    })

  it('has every combination, the last place fastest, and one point without places', () => {
    const all = axes('control.max_rate=300,400', 'policy=fifo,tbf jobid', 'jobs.0.cached=true')
    expect(pointsOf(all)).toEqual({
      ok: true,
      value: [300, 400].flatMap((rate) => [
        [rate, 'fifo', true],
        [rate, 'tbf jobid', true],
      ]),
    })
    expect(pointsOf([])).toEqual({ ok: true, value: [[]] })
  })

  it.each([
    'control.max_rate',
    '=3',
    'a b=3',
    'a=',
    'a=1,,2',
    'a=1,1',
    'a=[1',
    'a.=3',
    '__proto__.x={}',
    `a=${'1,'.repeat(2000)}1`,
  ])('refuses %s', (text) => {
    expect(parseAxis(text)).toMatchObject({ ok: false, error: { code: 'SWEEP_GRID' } })
  })

  it('is bounded, and has each place once', () => {
    const many = axes(...['a', 'b', 'c'].map((p) => `${p}=${Array.from({ length: 40 }, (_, i) => i).join(',')}`))
    expect(pointsOf(many)).toMatchObject({ ok: false, error: { code: 'SWEEP_GRID' } })
    expect(pointsOf(axes('a=1', 'a=2'))).toMatchObject({ ok: false, error: { code: 'SWEEP_GRID' } })
  })

  it.each([
    ['control.max_rat=5', 'SCENARIO_INVALID', 'max_rat'],
    ['control.max_rate=-5', 'SCENARIO_INVALID', 'control.max_rate=-5'],
    ['oss.7.threads=4', 'SWEEP_PATH', 'oss has only 1 entries'],
    ['oss.first.threads=4', 'SWEEP_PATH', 'is a list'],
    ['title.x=4', 'SWEEP_PATH', 'nothing below'],
  ])('that sets %s is told with its point', (text, code, output) => {
    const [axis] = axes(text)
    const read = scenarioAt(SMALL, [axis as Axis], [(axis as Axis).values[0] ?? null])
    expect(read).toMatchObject({ ok: false, error: { code } })
    if (!read.ok) expect(`${read.error.what}: ${read.error.why}`).toContain(output)
  })

  it('sets what the file leaves out, and leaves hostile ids as they are', () => {
    const read = scenarioAt(SMALL, axes('control.period_ms=50', 'oss.0.threads=7'), [50, 7])
    if (!read.ok) throw new Error(read.error.why)
    expect([read.value.control.period_ms, read.value.oss[0]?.threads]).toEqual([50, 7])
    expect(read.value.jobs.map((j) => j.id)).toContain(HOSTILE)
  })
})

describe('sluice sweep', () => {
  it('writes the objectives of the planes, and judges them at every point', async () => {
    const { out } = folder()
    const [scenario, variants] = [join(out, '../planes.yaml'), join(out, '../planes-variants.yaml')]
    writeFileSync(
      scenario,
      `${SMALL}
haechi:
  - name: dn01
    global_iops: 4000
    local_iops: 2000
    batch: 10
    clients: [{ name: a, reservation: 1800 }, { name: b }, { name: c }, { name: d }]
`,
    )
    writeFileSync(variants, '- { name: Bare, controller: none, haechi: "off" }\n- { name: Haechi, controller: none }\n')
    const grid = ['--set', 'control.max_rate=300,500', '--seeds', '1', '--until', '3', '--workers', '1']
    const ended = await sluice(['sweep', scenario, ...grid, '--variants', variants, '--out', out, '--json'])
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    const { points } = JSON.parse(ended.stdout) as {
      points: { verdict: { best: number | null; text: string }; variants: { planes: { key: string }[] }[] }[]
    }
    for (const { verdict, variants: of } of points) {
      expect(verdict).toMatchObject({ best: 1, text: expect.stringContaining('eservations met') as string })
      expect(of[1]!.planes.map((p) => p.key)).toContain('reservationPeriods')
    }
    const [head, ...rows] = readFileSync(join(out, 'summary.csv'), 'utf8').trim().split('\r\n')
    const at = head!.split(',').indexOf('reservationsMet')
    const met = rows.map((r) => Number(r.split(',')[at]))
    expect(met[1]! - met[0]!).toBeGreaterThan(0.2)
  })

  it('runs a grid, writes a summary, and runs nothing twice', async () => {
    const { out, args } = folder()
    const first = await sluice([...args, '--json'])
    expect(first).toMatchObject({ code: 0, stderr: '' })
    const report = JSON.parse(first.stdout) as {
      chunks: number
      done: number
      points: { at: object; variants: object[] }[]
    }
    expect(report).toMatchObject({ chunks: 8, done: 8 })
    expect(report.points.map((p) => p.at)).toEqual(
      [300, 500].flatMap((rate) => [4, 5].map((n) => ({ 'control.max_rate': rate, 'clients.count': n }))),
    )
    expect(readFileSync(join(out, 'summary.csv'), 'utf8').trim().split('\r\n')).toHaveLength(1 + 4 * 2)
    const before = stamps(out)
    // One is missing, one is truncated, one is of another sweep.
    rmSync(join(out, 'results/chunk-000001.json'))
    writeFileSync(join(out, 'results/chunk-000003.json'), '{"version":1,')
    const other = JSON.parse(readFileSync(join(out, 'results/chunk-000005.json'), 'utf8')) as object
    writeFileSync(join(out, 'results/chunk-000005.json'), JSON.stringify({ ...other, key: 'f'.repeat(64) }))
    const status = await sluice(['sweep', 'status', out, '--json'])
    expect(JSON.parse(status.stdout)).toMatchObject({ chunks: 8, done: 5, damaged: 2 })
    expect((await sluice(['sweep', 'collect', out])).code).toBe(5)
    const again = await sluice([...args, '--json'])
    expect(again.code).toBe(0)
    // The same seeds yield the same results.
    expect(JSON.parse(again.stdout)).toEqual(report)
    const after = stamps(out)
    const untouched = [...before].filter(([f, ms]) => after.get(f) === ms).map(([f]) => f)
    expect(untouched).toEqual(['0', '2', '4', '6', '7'].map((n) => `chunk-00000${n}.json`))
  })

  it('refuses a folder with another sweep or other files, a newer sweep, and one that was changed', async () => {
    const { scenario, out, args } = folder()
    const small = onePoint(args)
    expect((await sluice(small)).code).toBe(0)
    expect(await sluice(args)).toMatchObject({ code: 2, stderr: expect.stringContaining('grid differs') as string })
    writeFileSync(scenario, SMALL.replace('threads: 16', 'threads: 8'))
    expect(await sluice(small)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('scenario differs') as string,
    })
    const manifest = join(out, 'sweep.json')
    const text = readFileSync(manifest, 'utf8')
    writeFileSync(manifest, text.replace('"version": 1', '"version": 2'))
    expect(readSweep(out)).toMatchObject({ ok: false, error: { code: 'SWEEP_NEWER' } })
    writeFileSync(manifest, text.replace('"first": 1', '"first": 2'))
    expect(readSweep(out)).toMatchObject({ ok: false, error: { code: 'SWEEP_CHANGED' } })
    writeFileSync(manifest, '{}')
    expect(readSweep(out)).toMatchObject({ ok: false, error: { code: 'SWEEP_DAMAGED' } })
    const foreign = tempFolder()
    writeFileSync(join(foreign, 'thesis.tex'), '')
    const refused = await sluice(small.map((a) => (a === out ? foreign : a)))
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('other files') as string })
    expect(readdirSync(foreign)).toEqual(['thesis.tex'])
  })
})

describe('a job array', () => {
  it('quotes what is quoted and passes on only what can stand there', () => {
    expect(shellQuoted(`it's $(x)`)).toBe(`'it'\\''s $(x)'`)
    expect(ranges([0, 1, 2, 5, 7, 8])).toBe('0-2,5,7-8')
    expect(['main', 'a,b', 'p-1.x'].map(nameFault)).toEqual([undefined, undefined, undefined])
    for (const bad of ['', '-p', 'a b', 'a\nb', '$(x)', 'a;b']) expect(nameFault(bad)).toBeDefined()
    expect(['30', '1:30:00', '2-00', '2-12:00:00'].map(timeFault)).toEqual([undefined, undefined, undefined, undefined])
    for (const bad of ['', 'forever', '1h', '1 0', '10\n#']) expect(timeFault(bad)).toBeDefined()
  })

  /** PATH folder with an sbatch that answers, then runs the tasks of the array one after another on this machine. */
  function fakeSlurm(): string {
    const dir = tempFolder()
    writeFileSync(
      join(dir, 'sbatch'),
      `#!/bin/sh
[ "$1" = --parsable ] || exit 1
n=$(sed -n 's/^#SBATCH --array=0-\\([0-9]*\\)%.*/\\1/p' "$2")
[ -n "$n" ] || { echo 'sbatch: error: Invalid job array specification' >&2; exit 1; }
i=0; while [ $i -le "$n" ]; do SLURM_ARRAY_TASK_ID=$i sh "./$2" || exit 1; i=$((i+1)); done </dev/null >/dev/null 2>&1 &
echo '77;cluster'
`,
    )
    writeFileSync(join(dir, 'squeue'), '#!/bin/sh\n[ -e "$0.left" ] && cat "$0.left"; exit 0\n')
    for (const f of ['sbatch', 'squeue']) chmodSync(join(dir, f), 0o755)
    return dir
  }

  it('is written, submitted and collected; a second submission waits for the first', async () => {
    const bin = fakeSlurm()
    const PATH = `${bin}${delimiter}${process.env['PATH'] ?? ''}`
    const { out, args } = folder()
    const few = onePoint(args)
    const sent = await sluice([...few, '--slurm', '--partition', 'main', '--time', '10', '--at-once', '3', '--json'], {
      PATH,
    })
    expect(sent.code).toBe(0)
    expect(JSON.parse(sent.stdout)).toMatchObject({ job: '77', array: '0-1%3', chunks: 2, done: 0 })
    const script = readFileSync(join(out, 'sweep.sbatch'), 'utf8')
    expect(script).toContain('#SBATCH --partition=main\n#SBATCH --time=10\n')
    await expect
      .poll(() => (existsSync(join(out, 'results')) ? results(out) : []), { timeout: 50_000, interval: 100 })
      .toHaveLength(2)
    const collected = await sluice(['sweep', 'collect', out, '--json'])
    expect(JSON.parse(collected.stdout)).toMatchObject({ chunks: 2, done: 2 })
    rmSync(chunkPath(out, 0))
    writeFileSync(join(bin, 'squeue.left'), '77_0 RUNNING\n')
    const status = await sluice(['sweep', 'status', out], { PATH })
    expect(status.stdout).toContain('1 of 2 chunks done')
    expect(status.stdout).toContain('77_0 RUNNING')
    const again = await sluice([...few, '--slurm'], { PATH })
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('job 77 has tasks left') as string })
  })

  it('needs sbatch, and says so', async () => {
    const { args } = folder()
    const refused = await sluice([...args, '--slurm'], { PATH: tempFolder() })
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('sbatch is not on the PATH') as string })
    const usage = await sluice([...args, '--slurm', '--partition', 'a b'])
    expect(usage.code).toBe(2)
  })
})
