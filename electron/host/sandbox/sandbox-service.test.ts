import { join } from 'node:path'
import { writeFileSync } from 'node:fs'
import { createRouterClient } from '@orpc/server'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import {
  runEvent,
  runInput,
  variant,
  type RunEvent,
  type RunInput,
  type RunResult,
  type VariantInput,
} from '#core/api/sandbox.ts'
import { NS_PER_S } from '#core/base/units.ts'
import { tempFolder } from '../../../tests/node/temp-folder.ts'
import { HOSTILE, SMALL } from '#tests/kits/electron/sandbox/small-scenario.ts'
import { openHost, type Host } from '../host.ts'
import { SandboxService } from './sandbox-service.ts'
import { csvText, mdText } from './export.ts'

const CAP = { service: 'ost_io' as const, line: 'start cap jobid={1.*} rate=100' }
const VARIANTS: VariantInput[] = [
  { name: 'Baseline', controller: 'none' },
  { name: '=1+1', controller: 'none', rules: [CAP] },
  { name: 'AdapTBF', controller: 'adaptbf' },
]
const input = (more: Partial<RunInput> = {}): RunInput => ({
  ...runInput.parse({ text: SMALL, seconds: 3, seeds: 2, variants: VARIANTS }),
  ...more,
})

let hosts: Host[] = []
let desks: SandboxService[] = []
afterEach(async () => {
  for (const d of desks) d.close()
  desks = []
  for (const h of hosts) await h.close()
  hosts = []
})

/** Host that has sampled its source for a second. */
async function sampled(scenario = SMALL): Promise<Host> {
  const file = join(tempFolder(), 'scenario.yaml')
  writeFileSync(file, scenario)
  const opened = await openHost({
    shell: 'terminal',
    historyFile: ':memory:',
    paced: false,
    scenarioFile: file,
    epochSeconds: 1_767_225_600,
  })
  if (!opened.ok) throw new Error(opened.error.why)
  const { source, monitor } = opened.value
  await source.runTo(NS_PER_S, (atNs) => monitor.tick(atNs))
  return opened.value
}
async function open(): Promise<Host> {
  const host = await sampled()
  hosts.push(host)
  return host
}

const serviceOf = (host: Host, program?: string): SandboxService => {
  const service = new SandboxService({ onScreen: host.onScreen, dataDir: undefined, program })
  desks.push(service)
  return service
}

async function resultOf(service: SandboxService, of: RunInput): Promise<RunResult> {
  const run = service.run(of)
  if (!run.ok) throw new Error(run.error.why)
  for await (const event of run.value) if (event.kind === 'result') return event.result
  throw new Error('no result')
}

describe('a run', () => {
  let result: RunResult
  let service: SandboxService
  beforeAll(async () => {
    const host = await sampled()
    service = new SandboxService({ onScreen: host.onScreen, dataDir: undefined })
    const events: RunEvent[] = []
    const run = service.run(input())
    if (!run.ok) throw new Error(run.error.why)
    for await (const event of run.value) events.push(event)
    await host.close()
    // Events match the contract's schema, and JSON loses nothing.
    for (const event of events) {
      expect(runEvent.parse(event)).toEqual(event)
      expect(JSON.parse(JSON.stringify(event))).toEqual(event)
    }
    const last = events.at(-1)
    if (last?.kind !== 'result') throw new Error('no result')
    result = last.result
  })

  it('has every variant, job and seed, with the hostile id as it is', () => {
    expect(result).toMatchObject({
      title: 'Two jobs and a hostile one',
      seconds: 3,
      seeds: [1, 2],
      cost: { runs: 6, thinning: 1 },
    })
    expect(result.jobs.jobId.toSorted()).toEqual([HOSTILE, '1.hog.u1', '2.victim.u2'].toSorted())
    expect(result.variants.map((v) => v.jobs.bps.length)).toEqual([3, 3, 3])
    expect(result.cost.ratio).toBeGreaterThan(0)
    expect(result.knowledge.map((k) => k.text).join()).toContain('2 seeds')
  })

  it('exports CSV that no spreadsheet runs, with every figure', () => {
    const csv = service.export(result.id, 'csv')
    if (!csv.ok) throw new Error(csv.error.what)
    const lines = csv.value.text.trim().split('\r\n')
    expect(lines).toHaveLength(1 + 3 * (8 + result.variants[0]!.planes.length + 3 * 6))
    // A formula would be at the beginning of a cell.
    expect(csv.value.text).not.toMatch(/(?:^|,)"?[=+@]/m)
    expect(csv.value.text).toContain(`"'=1+1"`)
    expect(csv.value.name).toMatch(/^sluice-two-jobs-and-a-hostile-one-[0-9a-f]{12}\.csv$/)
  })

  it('exports JSON whole, and Markdown without foreign text', () => {
    const json = service.export(result.id, 'json')
    const md = service.export(result.id, 'md')
    if (!json.ok || !md.ok) throw new Error('not exported')
    expect(JSON.parse(json.value.text)).toEqual(result)
    expect(md.value.text).toContain('## Model limitations')
    expect(md.value.text).not.toContain('<img')
    const rows = md.value.text.split('\n').filter((l) => l.startsWith('| '))
    expect(new Set(rows.map((r) => r.split(' | ').length))).toEqual(new Set([4]))
  })

  it('is known by its id until ten others have come', () => {
    expect(service.export('0'.repeat(12), 'csv')).toMatchObject({ ok: false, error: { code: 'NO_RESULT' } })
  })
})

it.each([
  ['=1+1', `"'=1+1"`],
  ['\t=1', `"'\t=1"`],
  ['\u00a0@SUM(A1)', `"'\u00a0@SUM(A1)"`],
  ['-2', `"'-2"`],
  ['4711.cfd', '"4711.cfd"'],
  ['a"b', '"a""b"'],
  ['＝cmd', `"'＝cmd"`],
])('a cell of %j is text', (text, cell) => {
  expect(csvText(text)).toBe(cell)
})

it('Markdown of a job id is its characters', () => {
  expect(mdText('a|b\n# c `d` [e](javascript:f) <g>')).not.toMatch(/[|\n`[\]()<>#:](?!\d+;)/)
})

describe('one run at a time', () => {
  let host: Host
  beforeAll(async () => {
    host = await sampled()
  })
  afterAll(() => host.close())
  const endless = (): string => {
    const file = join(tempFolder(), 'endless.mjs')
    writeFileSync(
      file,
      `import { parentPort } from 'node:worker_threads'\nparentPort.on('message', () => { for (;;) {} })\n`,
    )
    return file
  }

  it('refuses a second one, and lets the next in when the first was canceled', async () => {
    const service = serviceOf(host, endless())
    const first = service.run(input())
    if (!first.ok) throw new Error(first.error.what)
    expect((await first.value.next()).value).toMatchObject({ kind: 'progress', done: 0, of: 6 })
    expect(service.run(input())).toMatchObject({ ok: false, error: { code: 'SANDBOX_BUSY' } })
    const waiting = first.value.next()
    await first.value.return()
    expect(await waiting).toMatchObject({ done: true })
    const cancel = new AbortController()
    const second = service.run(input(), cancel.signal)
    if (!second.ok) throw new Error(second.error.what)
    cancel.abort()
    for await (const event of second.value) expect(event.kind).toBe('progress')
    expect(service.run(input(), AbortSignal.abort()).ok).toBe(true)
    expect(service.run(input()).ok).toBe(true)
  })

  it('is a notice when its thread dies twice, and the next one runs', async () => {
    const file = join(tempFolder(), 'dies.mjs')
    writeFileSync(file, 'process.exit(9)\n')
    const service = serviceOf(host, file)
    const run = service.run(input())
    if (!run.ok) throw new Error(run.error.what)
    const events: RunEvent[] = []
    for await (const event of run.value) events.push(event)
    expect(events.at(-1)).toMatchObject({ kind: 'failed', notice: { code: 'SANDBOX_CRASHED' } })
    expect(service.run(input()).ok).toBe(true)
  })

  it('refuses a scenario that cannot be read, with line and column, before any thread starts', async () => {
    const service = serviceOf(host, endless())
    const refused = service.run(input({ text: SMALL.replace('max_rate: 500', 'max_rate: -5') }))
    expect(refused).toMatchObject({ ok: false, error: { code: 'SCENARIO_INVALID', line: 8, column: 22 } })
    expect(service.run(input({ text: '{' }))).toMatchObject({ ok: false, error: { code: 'SCENARIO_SYNTAX' } })
    // Nothing was running.
    expect(service.run(input()).ok).toBe(true)
  })

  it('runs over the contract', async () => {
    const client = createRouterClient(host.router, { context: { peer: 'test' } })
    const kinds: string[] = []
    for await (const event of await client.sandbox.run({
      text: SMALL,
      seconds: 1,
      seeds: 1,
      variants: VARIANTS.slice(0, 1),
    }))
      kinds.push(event.kind)
    expect(kinds.at(-1)).toBe('result')
    await expect(client.sandbox.run({ text: 'jobs: 5', variants: VARIANTS })).rejects.toMatchObject({ code: 'REFUSED' })
  })
})

describe('a variant is staged', () => {
  const staged = (host: Host) => host.onScreen.console.ruleService.staged.of('ost_io')
  const of = (more: VariantInput) => variant.parse(more)

  it('as rules of the active source, with the verdict as their reason and an expiry', async () => {
    const host = await open()
    const rules = [
      CAP,
      {
        service: 'ost_io' as const,
        line: "lctl set_param ost.OSS.ost_io.nrs_tbf_rule='start two jobid={2.*} rate=300 rank=cap'",
      },
    ]
    const done = serviceOf(host).stage(of({ name: 'Cap', controller: 'none', rules }), 'Victim 2 waits less', 45)
    expect(done).toMatchObject({ ok: true, value: { staged: 2 } })
    expect(staged(host).map((s) => [s.edit.name, s.terms])).toEqual([
      ['cap', { expiresS: 2700, reason: 'Victim 2 waits less' }],
      ['two', { expiresS: 2700, reason: 'Victim 2 waits less' }],
    ])
    expect(host.monitor.loop.controller).toBe('adaptbf')
    // The result has no controller.
    expect(done).toMatchObject({
      value: { text: expect.stringContaining('Controller adaptbf keeps writing') as string },
    })
    expect(host.monitor.setMode('advise').ok).toBe(true)
    const again = serviceOf(host).stage(of({ name: 'Cap', controller: 'none', rules }), 'Victim 2 waits less', 45)
    expect(again).toMatchObject({ value: { text: expect.not.stringContaining('keeps writing') as string } })
  })

  it('leaves the settings of the controller as they were when its choice cannot be put on record', async () => {
    const host = await open()
    expect(host.monitor.setMode('advise').ok).toBe(true)
    expect(host.monitor.setController('none').ok).toBe(true)
    const before = host.monitor.loop.controllers.options
    const full = vi.spyOn(host.monitor, 'setController').mockReturnValue({
      ok: false,
      error: { code: 'HISTORY_FULL', what: 'The choice was not put on record' },
    })
    const tuned = of({ name: 'T', controller: 'adaptbf', adaptbf: { deadbandPercent: 7 }, rules: [CAP] })
    expect(serviceOf(host).stage(tuned, 'why', 30)).toMatchObject({ ok: false, error: { code: 'HISTORY_FULL' } })
    full.mockRestore()
    expect([staged(host), host.monitor.loop.controllers.options]).toEqual([[], before])
  })

  it('whole or not at all: a line that is refused is named, and what was staged before stays', async () => {
    const host = await open()
    const service = serviceOf(host)
    const had = host.onScreen.console.ruleService.stage(
      'ost_io',
      { verb: 'start', name: 'cap', conditions: 'jobid={9.*}', rate: '7', rank: '', realtime: false, queue: 'both' },
      { expiresS: null, reason: 'mine' },
    )
    expect(had.ok).toBe(true)
    const before = staged(host)
    for (const [line, code] of [
      ['start bad jobid={x} rate=0', 'DRAFT_FAULTY'],
      ['start ab_0123456789 jobid={x} rate=5', 'DRAFT_FAULTY'],
      ['rm -rf /', 'LINE_FAULTY'],
      ['lctl set_param mds.MDS.mdt.nrs_tbf_rule="start a jobid={x} rate=5"', 'LINE_FAULTY'],
    ] as const) {
      const rules = [CAP, { service: 'ost_io' as const, line }]
      const refused = service.stage(of({ name: 'Bad', controller: 'none', rules }), 'why', 30)
      expect(refused).toMatchObject({ ok: false, error: { code, why: expect.stringContaining('line 2') as string } })
      expect(staged(host)).toEqual(before)
    }
  })

  it('as the choice of a controller, but not where it would begin to write', async () => {
    const host = await open()
    const service = serviceOf(host)
    const fixed = of({ name: 'Static', controller: 'static', rules: [CAP] })
    expect(service.stage(fixed, 'why', 30)).toMatchObject({ ok: false, error: { code: 'ENFORCING' } })
    expect([staged(host), host.monitor.loop.controller]).toEqual([[], 'adaptbf'])
    expect(host.monitor.setMode('advise').ok).toBe(true)
    expect(service.stage(fixed, 'why', 30)).toMatchObject({ ok: true, value: { staged: 1 } })
    expect(host.monitor.loop.controller).toBe('static')
    const tuned = of({ name: 'AdapTBF', controller: 'adaptbf', adaptbf: { demand: 'served', deadbandPercent: 5 } })
    const done = service.stage(tuned, 'why', 30)
    expect(done).toMatchObject({
      ok: true,
      value: { staged: 0, text: expect.stringContaining('writes nothing') as string },
    })
    expect(host.monitor.loop.controllers.options).toMatchObject({ demand: 'served', deadbandPercent: 5 })
  })

  it('not of a recording, not onto another cluster than its own, and not when there is nothing to stage', async () => {
    const host = await open()
    const service = serviceOf(host)
    const cap = of({ name: 'Cap', controller: 'none', rules: [CAP] })
    const fork = (cluster: string) =>
      SMALL.replace(
        'clients:',
        `fork: { cluster: ${cluster}, at: '2026-01-01T00:00:00Z', span_s: 60, workload: closed }\nclients:`,
      )
    const short = { seconds: 1, seeds: 1, variants: input().variants.slice(0, 1) }
    const other = await resultOf(service, input({ ...short, text: fork('elsewhere') }))
    expect(service.stage(cap, 'why', 30, other.id)).toMatchObject({ ok: false, error: { code: 'OTHER_CLUSTER' } })
    const own = await resultOf(service, input({ ...short, text: fork('demo') }))
    // A refused variant was not staged: only a staged one belongs to an incident.
    expect(service.stagedRun()).toMatchObject({ ok: false, error: { code: 'NO_RESULT' } })
    expect(service.stage(cap, 'why', 30, own.id)).toMatchObject({ ok: true })
    const atMs = host.monitor.nowMs()
    expect(service.stagedRun()).toMatchObject({ value: { result: { id: own.id }, staged: { cluster: 'demo', atMs } } })
    expect(service.stage(cap, 'why', 30, 'ffff')).toMatchObject({ ok: false, error: { code: 'NO_RESULT' } })
    for (const empty of [{}, { locks: 'lustre' as const }, { metadata: 'psfa' as const }, { haechi: 'off' as const }]) {
      const refused = service.stage(of({ name: 'Nothing', controller: 'none', ...empty }), 'why', 30)
      expect(refused).toMatchObject({ ok: false, error: { code: 'NOTHING_TO_STAGE' } })
    }
    host.onScreen.play({ views: host.onScreen.views, end: () => undefined })
    expect(service.stage(cap, 'why', 30)).toMatchObject({ ok: false, error: { code: 'RECORDED' } })
  })
})
