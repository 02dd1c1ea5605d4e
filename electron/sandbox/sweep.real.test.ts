import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runSluice, type Ended } from '#tests/kits/cli/in-process.ts'
import { noSlurm, startSlurm } from '../../tests/lab/slurm.ts'
import { tempFolder } from '../../tests/node/temp-folder.ts'
import { chunksOf, readSweep } from './sweep-manifest.ts'
import { SMALL } from '#tests/kits/electron/sandbox/small-scenario.ts'

const LAUNCHER = join(import.meta.dirname, '../cli/sluice.mjs')

/** Runs the command as a process that is killed as soon as `isTime`. @returns its exit code, null if killed. */
async function killed(args: readonly string[], isTime: () => boolean): Promise<number | null> {
  const child = spawn(process.execPath, [LAUNCHER, ...args], { stdio: 'ignore' })
  const looking = setInterval(() => isTime() && child.kill('SIGKILL'), 5)
  const [code] = (await once(child, 'close')) as [number | null]
  clearInterval(looking)
  return code
}

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

describe('sluice sweep', () => {
  it('continues where kill -9 ended it', async () => {
    const { out, args } = folder()
    const long = args.map((a, i) => (args[i - 1] === '--until' ? '8' : a))
    expect(await killed(long, () => existsSync(join(out, 'results')) && results(out).length >= 2)).toBeNull()
    const found = readSweep(out)
    if (!found.ok) throw new Error(found.error.why)
    const before = stamps(out)
    expect(before.size).toBeGreaterThanOrEqual(2)
    expect(before.size).toBeLessThan(chunksOf(found.value.manifest).length)
    const again = await sluice([...long, '--json'])
    expect(JSON.parse(again.stdout)).toMatchObject({ chunks: 8, done: 8, damaged: 0 })
    const after = stamps(out)
    for (const [file, ms] of before) expect(after.get(file)).toBe(ms)
  })
})

describe('a job array', () => {
  it.skipIf(noSlurm !== '')('runs under a real Slurm', async () => {
    const slurm = await startSlurm()
    try {
      const { out, args } = folder()
      const few = onePoint(args)
      const sent = await sluice([...few, '--slurm', '--partition', 'main', '--time', '10', '--json'], slurm.env)
      expect(sent).toMatchObject({ code: 0 })
      const { job } = JSON.parse(sent.stdout) as { job: string }
      expect(job).toMatch(/^\d+$/)
      await expect
        .poll(() => slurm.run('squeue', '-h', '-j', job).catch(() => ''), { timeout: 50_000, interval: 300 })
        .toBe('')
      const logs = readdirSync(join(out, 'logs')).map((f) => readFileSync(join(out, 'logs', f), 'utf8'))
      expect(logs.join('')).toContain('1 of 1 chunks run')
      const collected = await sluice(['sweep', 'collect', out, '--json'])
      expect(JSON.parse(collected.stdout)).toMatchObject({ chunks: 2, done: 2 })
    } finally {
      await slurm.stop()
    }
  })
})
