/** CLI of the sandbox and the history: `compare`, `fork`, `history`. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { recordPlanes } from '#tests/kits/electron/incidents/plane-rows.ts'
import { parseScenario, type Scenario } from '#core/emulator/scenario.ts'
import { tempFolder } from '../../tests/node/temp-folder.ts'
import { facts, job, newFile, NOW, openAt, target } from '#tests/kits/electron/history/samples.ts'
import { HOSTILE, SMALL } from '#tests/kits/electron/sandbox/small-scenario.ts'
import { runSluice, startSluice, type Ended } from '#tests/kits/cli/in-process.ts'

const sluice = (...args: string[]): Promise<Ended> => runSluice(args)
const lines = (e: Ended): string[] => e.stdout.split(/\r?\n/).slice(0, -1)

describe('sluice compare', () => {
  interface Report {
    readonly runs: { controller: string; seeds: number[]; simulated_s: number; jobs: Record<string, object> }[]
    readonly differences: { controller: string; against: string; mean_rate: number; jobs: Record<string, object> }[]
    readonly verdict: { best: number | null; text: string }
  }
  const file = join(tempFolder(), 'small.yaml')
  beforeAll(() => writeFileSync(file, SMALL))

  it('reports every controller, and what differs from the first run by run', async () => {
    const flags = ['--controllers', 'none,static', '--seeds', '2', '--first-seed', '5', '--until', '2', '--json']
    const ended = await sluice('compare', file, ...flags, '--workers', '1')
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    const { runs, differences, verdict } = JSON.parse(ended.stdout) as Report
    expect(runs).toMatchObject([
      { controller: 'none', seeds: [5, 6], simulated_s: 2 },
      { controller: 'static', seeds: [5, 6], simulated_s: 2 },
    ])
    for (const r of [...runs, ...differences])
      expect(Object.keys(r.jobs).toSorted()).toEqual([HOSTILE, '1.hog.u1', '2.victim.u2'].toSorted())
    const rate = (of: object | undefined): number => (of as { served_rpcs: number }).served_rpcs
    const [none, fixed] = runs.map((r) => rate(r.jobs['1.hog.u1']))
    // The hog is the only job that demands more than its share.
    expect(fixed).toBeLessThan(none as number)
    expect(differences).toMatchObject([{ controller: 'static', against: 'none' }])
    expect(rate(differences[0]?.jobs['1.hog.u1'])).toBe((fixed as number) - (none as number))
    expect(verdict.text).not.toBe('')
  })

  it('names what a variant gains on a plane, in the verdict, the runs and the differences', async () => {
    const scenario = join(import.meta.dirname, '../../resources/scenarios/paper-haechi-zipf.yaml')
    const variants = join(tempFolder(), 'haechi.yaml')
    writeFileSync(variants, '- { name: Bare, controller: none, haechi: "off" }\n- { name: Haechi, controller: none }\n')
    const flags = ['--variants', variants, '--until', '4', '--workers', '1']
    const report = JSON.parse((await sluice('compare', scenario, ...flags, '--json')).stdout) as {
      readonly runs: readonly { readonly planes: readonly object[] }[]
      readonly differences: readonly { readonly planes: Record<string, number> }[]
      readonly verdict: { readonly best: number | null; readonly text: string }
    }
    expect(report.verdict).toMatchObject({
      best: 1,
      text: expect.stringMatching(/^Reservations met 92 % → 100 %/) as string,
    })
    expect(report.runs[1]!.planes).toContainEqual({
      key: 'reservationsMet',
      plane: 'tokens',
      what: 'reservations met',
      unit: 'part',
      better: 'higher',
      value: 1,
    })
    expect(report.differences[0]!.planes['reservationsMet']).toBeCloseTo(0.08, 2)
    const { stdout } = await sluice('compare', scenario, ...flags)
    expect(stdout).toContain('tokens: reservations met, part: Bare 0.9')
  })

  it('prints a table of variants from a file, and nothing of a name that a terminal would obey', async () => {
    const variants = join(tempFolder(), 'variants.yaml')
    const cap = { service: 'ost_io', line: 'start cap jobid={1.*} rate=100' }
    const list = [
      { name: 'Baseline', controller: 'none' },
      { name: 'Cap \u001b[2J', controller: 'none', rules: [cap] },
    ]
    writeFileSync(variants, JSON.stringify(list))
    const ended = await sluice('compare', file, '--variants', variants, '--until', '1', '--workers', '1')
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    expect(ended.stdout).not.toMatch(/[^\n\x20-\x7e]/)
    const [, head, base, cap2] = lines(ended)
    expect(head).toMatch(/^variant +MB\/s +RPC\/s/)
    expect([base, cap2]).toEqual([expect.stringMatching(/^Baseline /), expect.stringMatching(/^Cap \?\[2J /)])
  })

  it.each([
    [['--controllers', 'none,magic'], ', separated by commas'],
    [['--seeds', '0'], 'From 1 to'],
    [['--variants', join(tempFolder(), 'none.yaml')], 'cannot be read'],
  ])('%j ends with 2 and says why', async (flags, why) => {
    const ended = await sluice('compare', file, ...flags)
    expect(ended).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(why) as string })
  })
})

describe('of a history', () => {
  const SECONDS = 90
  const EVIL = '=1+1.cfd.u3'
  const file = newFile()
  beforeAll(() => {
    const history = openAt(file)
    history.beginSource('LIVE', 'altair', '', NOW)
    for (let s = 0; s < SECONDS; s++) {
      const jobs = [job('1.hog.u1', 120), job('2.calm.u2', 30), job(EVIL, 10)]
      history.record(NOW + s * 1000, jobs, [target('altair-OST0000', 160)], facts, { rpcs: 160 })
    }
    history.close()
  })
  const iso = (s: number): string => new Date(NOW + s * 1000).toISOString()

  it('sluice history info names clusters, targets and how far each resolution reaches', async () => {
    const ended = await sluice('history', 'info', file, '--json')
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    const { clusters, recording } = JSON.parse(ended.stdout) as {
      recording: unknown
      clusters: { kind: string; name: string; targets: number; tiers: { tier: string; kept: object | null }[] }[]
    }
    expect(recording).toBeNull()
    expect(clusters).toMatchObject([{ kind: 'LIVE', name: 'altair', targets: 1 }])
    const raw = clusters[0]?.tiers.find((t) => t.tier === 'raw')?.kept
    expect(raw).toEqual({ fromMs: NOW, toMs: NOW + (SECONDS - 1) * 1000 })
    const people = await sluice('history', 'info', file)
    expect(people.stdout).toContain(`  raw  ${iso(0)} to ${iso(SECONDS - 1)}`)
  })

  it('sluice history csv writes every sample of a range, and no formula', async () => {
    const jobs = await sluice('history', 'csv', file, '--from', iso(10), '--to', iso(20), '--tier', 'raw')
    expect(jobs).toMatchObject({ code: 0, stderr: '' })
    expect(lines(jobs)).toHaveLength(1 + 10 * 3)
    expect(jobs.stdout).not.toMatch(/(?:^|,)"?=/m)
    // Without a resolution: the finest one that covers the whole range, with each of its samples.
    const all = await sluice('history', 'csv', file, '--what', 'targets')
    expect(lines(all)).toHaveLength(1 + SECONDS)
    const users = await sluice('history', 'csv', file, '--by', 'user', '--from', iso(0), '--to', iso(1))
    expect(lines(users)).toHaveLength(1 + 3)
  })

  it('attack: escapes in job ids reach a pipe as they are, and a terminal never', async () => {
    const hostile = newFile()
    const history = openAt(hostile)
    history.beginSource('LIVE', 'altair', '', NOW)
    const id = '\u001b]0;owned\u0007\u009b2J.u1'
    for (let s = 0; s < 5; s++) history.record(NOW + s * 1000, [job(id, 5)], [target('OST0', 5)], facts)
    history.close()
    const fork = ['fork', '--history', hostile, '--max-rate', '900']
    for (const args of [['history', 'csv', hostile], fork]) {
      const piped = await startSluice(args).ended
      const shown = await startSluice(args, { isTerminal: true }).ended
      expect(shown).toMatchObject({ code: 0, stderr: '' })
      expect(shown.stdout).not.toMatch(/[^\n\x20-\x7e]/)
      expect(shown.stdout).toContain('owned')
      expect(lines(shown)).toHaveLength(lines(piped).length)
    }
    expect((await startSluice(['history', 'csv', hostile]).ended).stdout).toContain(id)
  })

  it('sluice history record writes a range as a recording, once', async () => {
    const to = join(tempFolder(), 'storm.qosrec')
    const written = await sluice('history', 'record', file, to, '--from', iso(20), '--to', iso(80))
    expect(written).toMatchObject({ code: 0, stderr: '' })
    expect(written.stdout).toContain(`bytes, ${iso(20)} to ${iso(80)}`)
    const info = await sluice('history', 'info', to, '--json')
    expect(JSON.parse(info.stdout)).toMatchObject({
      recording: { cluster: 'altair', kind: 'LIVE', fromMs: NOW + 20_000, toMs: NOW + 80_000 },
    })
    const span = ['--from', iso(20), '--to', iso(80)]
    const there = await sluice('history', 'csv', to)
    const here = await sluice('history', 'csv', file, ...span)
    expect(lines(there)).toHaveLength(1 + 60 * 3)
    expect(there.stdout).toBe(here.stdout)
    const again = await sluice('history', 'record', file, to)
    expect(again).toMatchObject({ code: 1, stdout: '' })
  })

  it('sluice fork --json lists the planes that a file carries', async () => {
    const none = await sluice('fork', '--history', file, '--json')
    expect(JSON.parse(none.stdout)).toMatchObject({ cluster: 'altair', jobs: 3, planes: [] })
    const withPlanes = newFile()
    const history = openAt(withPlanes)
    history.beginSource('LIVE', 'altair', '', NOW)
    for (let s = 0; s < 20; s++) history.record(NOW + s * 1000, [job('7.cfd.u1', 5)], [target('OST0', 5)], facts)
    recordPlanes(history, NOW, 20)
    history.close()
    const ended = await sluice('fork', '--history', withPlanes, '--json')
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    const found = JSON.parse(ended.stdout) as { planes: string[]; scenario: string }
    expect(found.planes).toEqual(['metadata', 'locks', 'tokens'])
    const read = parseScenario(found.scenario)
    if (!read.ok) throw new Error(read.error.why)
    expect(read.value.fork?.planes).toEqual(found.planes)
    expect(read.value.padll?.system_limits).toEqual({ meta_op: 150 })
    const out = join(tempFolder(), 'fork.yaml')
    const written = await sluice('fork', '--history', withPlanes, '--json', '--out', out)
    expect(JSON.parse(written.stdout)).toMatchObject({ planes: found.planes, file: out })
  })

  it('sluice fork makes a scenario of it that runs, and says what is not known', async () => {
    const ended = await sluice('fork', '--history', file, '--from', iso(10), '--to', iso(70), '--max-rate', '300')
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    const read = parseScenario(ended.stdout)
    if (!read.ok) throw new Error(read.error.why)
    const s: Scenario = read.value
    expect(s.jobs.map((j) => j.id)).toEqual(['1.hog.u1', '2.calm.u2', EVIL])
    expect(s.oss.flatMap((o) => o.osts.map((t) => t.name))).toEqual(['altair-OST0000'])
    expect(s.control.max_rate).toBe(300)
    expect(s.fork).toMatchObject({ cluster: 'altair', span_s: 60, workload: 'closed' })
    expect(s.fork?.unknown.join(' ')).toContain('T is that of the command line')
    const out = join(tempFolder(), 'fork.yaml')
    const reported = await sluice('fork', '--history', file, '--workload', 'open', '--out', out)
    expect(lines(reported)[0]).toMatch(/: 3 jobs, every RPC is simulated$/)
    expect(
      lines(reported)
        .slice(1)
        .every((l) => l.startsWith('? ')),
    ).toBe(true)
    const before = readFileSync(out, 'utf8')
    const kept = await sluice('fork', '--history', file, '--out', out)
    expect(kept).toMatchObject({ code: 1, stderr: expect.stringContaining('--force') as string })
    expect(readFileSync(out, 'utf8')).toBe(before)
    expect((await sluice('fork', '--history', file, '--out', out, '--force')).code).toBe(0)
    expect(readFileSync(out, 'utf8')).not.toBe(before)
    const ran = await sluice('run', out, '--until', '1', '--json')
    expect(JSON.parse(ran.stdout)).toMatchObject({ simulated_s: 1 })
  })

  it('refuses files that are not a history and invalid ranges, and changes nothing', async () => {
    const foreign = join(tempFolder(), 'thesis.sqlite')
    writeFileSync(foreign, 'not a database')
    for (const args of [
      ['history', 'info', foreign],
      ['history', 'csv', foreign],
      ['history', 'sql', foreign, 'SELECT 1'],
      ['fork', '--history', foreign],
      ['fork', '--history', join(tempFolder(), 'none.sqlite')],
      ['fork', '--history', file, '--from', iso(7200), '--to', iso(7260)],
    ]) {
      const ended = await sluice(...args)
      expect(ended, args.join(' ')).toMatchObject({ code: 1, stdout: '' })
      expect(ended.stderr).toMatch(/^sluice: [^\n]+\n$/)
    }
    expect(readFileSync(foreign, 'utf8')).toBe('not a database')
    const span = ['--from', iso(20), '--to', iso(10)]
    expect((await sluice('history', 'csv', file, ...span)).code).toBe(2)
    expect((await sluice('fork', '--history', file, ...span)).code).toBe(2)
    expect((await sluice('fork', '--history', file, '--from', 'yesterday')).code).toBe(2)
    const to = join(tempFolder(), 'none.qosrec')
    expect((await sluice('history', 'record', file, to, '--from', iso(7200), '--to', iso(7260))).code).toBe(1)
    expect(existsSync(to)).toBe(false)
  })
})
