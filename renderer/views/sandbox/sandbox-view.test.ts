import { flushPromises, mount, type VueWrapper } from '@vue/test-utils'
import { describe, expect, it, vi } from 'vitest'
import { defineComponent, h } from 'vue'
import { createMemoryHistory, createRouter, type Router } from 'vue-router'
import { beforeEach } from 'vitest'
import type { RunEvent, RunResult } from '#core/api/sandbox.ts'
import RunStack from '../../charts/RunStack.vue'
import { runStackPicture } from '../../charts/run-stack.ts'
import { palette } from '../../theme/palette.ts'
import { useConnectionStore } from '../../stores/connection.ts'
import { useRulesViewStore } from '../../stores/rules-view.ts'
import { useSandboxRunStore } from '../../stores/sandbox-run.ts'
import { useSandboxStore } from '../../stores/sandbox.ts'
import { useSandboxVariantsStore } from '../../stores/sandbox-variants.ts'
import { useSelectionStore } from '../../stores/selection.ts'
import { useSourceStore } from '../../stores/source.ts'
import type { StatusFrame } from '#core/api/frames.ts'
import { freshPage } from '#tests/kits/renderer/view-page.ts'
import {
  openSandboxHost,
  progress,
  runResult,
  sampleText,
  scenarioCheck,
  type SandboxHost,
} from '#tests/kits/renderer/views/sandbox-host.ts'
import SandboxView from './SandboxView.vue'

let wrapper: VueWrapper
let host: SandboxHost
let router: Router
freshPage(1200, () => wrapper.unmount())
const find = (testid: string) => wrapper.find(`[data-testid="${testid}"]`)
const floating = (testid: string): HTMLElement | null => document.querySelector(`[data-testid="${testid}"]`)
const press = (key: string): void => {
  document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }))
}
const shown = (cluster = 'altair', more: Partial<StatusFrame> = {}): void =>
  useSourceStore().apply({
    source: { cluster, env: 'PROD', kind: 'LIVE' },
    atMs: 1_763_649_090_000,
    sample: 40,
    oldest: 1,
    staged: 0,
    mode: 'observe',
    clock: { intervalMs: 1000 },
    counts: { jobs: 412, rules: 11 },
    notices: [],
    ...more,
  } as unknown as StatusFrame)

async function openView(path = '/sandbox'): Promise<void> {
  await router.push(path)
  wrapper = mount(SandboxView, { attachTo: document.body, global: { plugins: [router] } })
  await flushPromises()
}
beforeEach(async () => {
  const nothing = defineComponent(() => () => h('p'))
  router = createRouter({
    history: createMemoryHistory(),
    routes: [
      { path: '/sandbox', name: 'sandbox', component: nothing },
      { path: '/rules', name: 'rules', component: nothing },
      { path: '/', name: 'overview', component: nothing },
    ],
  })
  host = openSandboxHost()
  shown()
})
async function send(...events: RunEvent[]): Promise<void> {
  for (const event of events) host.send(event)
  await flushPromises()
}
const result = (more: Partial<RunResult> = {}, jobs?: number, variants?: number): RunEvent => ({
  kind: 'result',
  result: runResult(more, jobs, variants),
})
async function forked(): Promise<void> {
  await openView()
  await find('fork').trigger('click')
  await flushPromises()
}
async function ran(more: Partial<RunResult> = {}, jobs?: number, variants?: number): Promise<void> {
  await forked()
  await send(result(more, jobs, variants))
}

describe('start screen', () => {
  it('offers the fork of what is on screen, the gallery, and what was saved', async () => {
    await openView()
    expect(wrapper.find('h2').text()).toBe('Current state of altair')
    expect(wrapper.text()).toContain('412 jobs')
    expect(wrapper.findAll('[data-testid=gallery-entry]').map((b) => b.text())).toEqual([
      'Monday 03:00Saved from a fork.',
      'Noisy neighborOne hog beside many small jobs on four OSTs.',
    ])
  })

  it('opens an entry of the gallery without running it, and says what the model does not know', async () => {
    await openView()
    await wrapper.find('[data-entry=noisy]').trigger('click')
    await flushPromises()
    expect(find('origin').text()).toBe('Noisy neighbor')
    expect(find('before-run').text()).toContain('4 variants, 20 seeds each')
    expect(wrapper.findAll('[data-testid=knowledge] li')).toHaveLength(4)
    expect(wrapper.findAll('[data-level=unknown]')).toHaveLength(2)
    expect(host.runs).toEqual([])
  })

  it('shows the reason why a cluster without jobs was not forked', async () => {
    await openView()
    host.refuse = { code: 'NO_JOBS', what: 'altair has no jobs', why: 'job_stats is empty', next: 'Wait for a job.' }
    await find('fork').trigger('click')
    await flushPromises()
    expect(find('start-notice').text()).toContain('altair has no jobs')
    expect(find('start-notice').text()).toContain('Wait for a job')
    expect(find('fork').attributes('disabled')).toBeUndefined()
  })

  it('plays an entry of the gallery live, and opens the overview of its cluster', async () => {
    await openView()
    host.refuse = { code: 'BUSY', what: 'The scenario was not started', why: 'a change is being sent' }
    await wrapper.findAll('[data-testid=play-live]')[1]!.trigger('click')
    await flushPromises()
    expect(find('start-notice').text()).toContain('a change is being sent')
    await wrapper.findAll('[data-testid=play-live]')[1]!.trigger('click')
    await flushPromises()
    expect([host.played, router.currentRoute.value.name]).toEqual([['noisy'], 'overview'])
  })

  it('removes a scenario of its own only after a second press', async () => {
    await openView()
    await find('remove-own').trigger('click')
    expect(host.gallery).toHaveLength(2)
    await find('remove-own').trigger('click')
    await flushPromises()
    expect(wrapper.findAll('[data-testid=gallery-entry]')).toHaveLength(1)
  })

  it('replays a range of history given in the URL, with the chosen workload', async () => {
    await openView('/sandbox?from=1763600000000&to=1763600600000')
    expect(find('span-offer').text()).toContain('10 min')
    await find('span-offer').findAll('.seg button')[1]!.trigger('click')
    expect(find('span-offer').text()).toContain('at the recorded rates')
    await find('replay').trigger('click')
    await flushPromises()
    expect(host.forks).toEqual([
      { span: { fromMs: 1_763_600_000_000, toMs: 1_763_600_600_000 }, atMs: null, workload: 'open' },
    ])
    expect(host.runs).toHaveLength(1)
    expect(find('origin').text()).toContain('replay of altair')
    expect(find('span-offer').exists()).toBe(false)
  })

  it.each(['?from=5&to=4', '?from=x&to=9', '?from=0&to=999999999'])('takes no range from %s', async (query) => {
    await openView(`/sandbox${query}`)
    expect(find('span-offer').exists()).toBe(false)
  })
})

describe('a run', () => {
  it('begins with the fork, shows how far it is, then verdict, variants and jobs', async () => {
    await forked()
    expect(host.forks).toEqual([{ span: null, atMs: null, workload: 'closed' }])
    expect(host.runs[0]).toMatchObject({ seconds: 60, seeds: 20, firstSeed: 1, sloWaitMs: 500, text: sampleText })
    expect(host.runs[0]?.variants.map((v) => v.name)).toEqual(['Baseline', 'Static cap', 'AdapTBF', 'Metadata cap'])
    await send(progress(20, 80))
    expect(find('progress').text()).toContain('20 of 80 runs')
    expect(find('progress').find('[role=progressbar]').attributes('aria-valuenow')).toBe('20')
    await send(result())
    expect(find('cost').text()).toContain('60 s simulated in 3.1 s, 20 seeds each')
    expect(find('verdict').text()).toContain('Victim 4711 p95 wait 2.1\u202Fs \u2192 0.3\u202Fs')
    expect(
      find('verdict')
        .findAll('.sentence b')
        .map((b) => b.text()),
    ).toContain('\u22123\u202F%')
    const columns = wrapper.findAll('[data-testid=variant]')
    expect(columns.map((c) => c.attributes('aria-label'))).toEqual([
      'Baseline: Baseline',
      'Variant A: Static cap',
      'Variant B: AdapTBF',
      'Variant C: Metadata cap',
    ])
    expect(columns.map((c) => c.find('[data-testid=best]').exists())).toEqual([false, false, true, false])
    const charts = columns.map((c) => c.find('[data-testid=run-stack]'))
    expect(charts.map((c) => c.attributes('data-policy-s') !== undefined)).toEqual([false, true, true, true])
  })

  it('shows whole columns only, and keeps the best variant in sight with the baseline', async () => {
    vi.stubGlobal(
      'ResizeObserver',
      class {
        readonly #changed: (entries: unknown[]) => void
        constructor(changed: (entries: unknown[]) => void) {
          this.#changed = changed
        }
        observe(): void {
          this.#changed([{ contentRect: { width: 900, height: 400 } }])
        }
        unobserve(): void {}
        disconnect(): void {}
      },
    )
    await ran({ verdict: { ...runResult().verdict, best: 3 } })
    const columns = wrapper.findAll('[data-testid=variant]')
    // Three of the four, and two gaps.
    expect(parseFloat(find('variants').attributes('style')?.split('--column:')[1] ?? '')).toBeCloseTo(
      (900 - 2 * 8) / 3,
      2,
    )
    expect(columns.map((c) => [c.classes('first'), c.classes('winner')])).toEqual([
      [true, false],
      [false, false],
      [false, false],
      [false, true],
    ])
  })

  it('sets every measure beside the baseline on one scale, green only for the best', async () => {
    await ran()
    const rows = wrapper.findAll('[data-testid=variant]').map((c) => c.find('[data-metric=victimP95Ms]'))
    expect(rows.map((r) => r.find('dd').text())).toEqual(['2\u202F100ms', '420ms', '300ms', '1\u202F840ms'])
    expect(rows.map((r) => r.find('dt').text())).toEqual(Array(4).fill('4711 wait p95'))
    expect(new Set(rows.map((r) => r.find('.tick').attributes('x1'))).size).toBe(1)
    expect(rows.map((r) => r.find('svg').classes('is-best'))).toEqual([false, false, true, false])
    const dots = rows.map((r) => parseFloat(r.find('.dot').attributes('cx') ?? ''))
    expect(dots[2]).toBeLessThan(dots[1]!)
    expect(dots[1]).toBeLessThan(dots[0]!)
    // Every chart has the same ticks.
    const pictures = wrapper.findAllComponents(RunStack).map((c) => runStackPicture(c.props(), palette.value))
    const axes = pictures.map(({ from, to, ends, divisor }) => ({ from, to, ends, divisor }))
    expect(axes).toEqual(Array(4).fill(axes[0]))
    expect(axes[0]?.ends.max).toBeGreaterThan(0)
  })

  it('tells what a measure means, with formula and unit', async () => {
    await ran()
    expect(wrapper.find('[data-metric=jain] .word').attributes('data-explain')).toBe('sandbox.jain')
    expect(wrapper.find('[data-metric=sloMisses] .word').attributes('data-explain-more')).toContain('longer than')
  })

  it('can be cancelled at any time, and keeps no result', async () => {
    await forked()
    await send(progress(7, 80))
    await find('cancel').trigger('click')
    await flushPromises()
    expect(host.cancelled).toBe(1)
    expect(find('cancelled').text()).toBe('Canceled after 7 of 80 runs. No result was kept.')
    expect(find('run').attributes('disabled')).toBeUndefined()
    press('r')
    await flushPromises()
    expect(host.runs).toHaveLength(2)
  })

  it('that fails shows what is unaffected; the previous result stays', async () => {
    await ran()
    await find('run').trigger('click')
    await flushPromises()
    await send({ kind: 'failed', notice: { code: 'RUN_KILLED', what: 'A worker ended', unaffected: 'the cluster' } })
    expect(find('run-failed').text()).toContain('A worker ended')
    expect(find('run-failed').text()).toContain('Unaffected: the cluster')
    expect(find('verdict').exists()).toBe(true)
  })

  it('that loses its connection ends as failed and can be run again', async () => {
    await forked()
    host.breakOff(new Error('the line broke'))
    await flushPromises()
    expect(find('run-failed').text()).toContain('the line broke')
    useConnectionStore().lost(1000)
    await flushPromises()
    expect(find('run').attributes('disabled')).toBeDefined()
    expect(useSandboxRunStore().fault).toBe('The Sluice host is not connected')
  })

  it('continues while another view is shown', async () => {
    await forked()
    wrapper.unmount()
    await send(result())
    await openView()
    expect(find('verdict').exists()).toBe(true)
  })

  it('is disabled for a scenario with faults, with the line of the fault', async () => {
    host.check = scenarioCheck({ faults: [{ line: 7, column: 3, code: 'BAD', message: 'no such key' }] })
    await openView()
    await find('fork').trigger('click')
    await flushPromises()
    expect(host.runs).toEqual([])
    expect(find('run').attributes('title')).toBe('The scenario has an error in line 7')
    expect(useSandboxStore().tab).toBe('scenario')
  })
})

describe('a result', () => {
  it('stages the best variant with its verdict and goes to the rules', async () => {
    await ran({ verdict: { ...runResult().verdict, best: 1 } })
    await find('stage').trigger('click')
    await flushPromises()
    expect(host.staged[0]).toMatchObject({ variant: { name: 'Static cap' }, run: 'r1' })
    expect(host.staged[0]?.verdict).toContain('2.1 s \u2192 0.3 s')
    expect(router.currentRoute.value.name).toBe('rules')
    expect(useRulesViewStore().tab).toBe('staged')
  })

  it('stays in the view if only a controller is handed over, with a message', async () => {
    await ran()
    await find('stage').trigger('click')
    await flushPromises()
    expect(router.currentRoute.value.name).toBe('sandbox')
    expect(find('staged-words').text()).toContain('The settings are AdapTBF\u2019s now.')
  })

  it('shows why the host refused', async () => {
    await ran()
    host.refuse = { code: 'ENFORCING', what: 'The cluster is in enforce mode', next: 'Switch to observe first.' }
    await find('stage').trigger('click')
    await flushPromises()
    expect(find('run-notice').text()).toContain('The cluster is in enforce mode')
  })

  it('cannot be staged for another cluster, nor while a recording is shown', async () => {
    await ran()
    shown('borealis')
    await flushPromises()
    expect(find('stage').attributes('disabled')).toBeDefined()
    expect(find('stage-fault').text()).toContain('The fork is of altair, but borealis is active')
    shown('altair', { playback: { file: null, tier: 'raw', fromMs: 0, toMs: 1 } })
    await flushPromises()
    expect(find('stage-fault').text()).toContain('recording')
    expect(find('stage').attributes('disabled')).toBeDefined()
  })

  it('cannot be staged without a fork of a cluster, and has no best variant if none is better', async () => {
    await openView()
    await wrapper.find('[data-entry=noisy]').trigger('click')
    await flushPromises()
    press('r')
    await flushPromises()
    await send(result())
    expect(find('stage-fault').text()).toContain('not a fork of a cluster')
    press('r')
    await flushPromises()
    await send(result({ verdict: { best: null, parts: [{ text: 'None is better.', strong: false }], detail: '' } }))
    expect(find('stage').exists()).toBe(false)
    expect(wrapper.find('[data-testid=best]').exists()).toBe(false)
  })

  it('exports in three formats as a file', async () => {
    const clicked: string[] = []
    vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(function (this: HTMLAnchorElement) {
      clicked.push(this.download)
    })
    vi.spyOn(URL, 'createObjectURL').mockReturnValue('blob:x')
    await ran()
    await find('export').trigger('keydown', { key: 'Enter' })
    await flushPromises()
    floating('export-md')?.click()
    await flushPromises()
    expect(clicked).toEqual(['comparison.md'])
  })
})

describe('variants', () => {
  it('are edited beside the columns; the result is marked as outdated', async () => {
    await ran()
    await wrapper.findAll('[data-testid=edit-variant]')[1]!.trigger('click')
    expect(find('variant-panel').text()).toContain('Static cap')
    await find('rule-line').setValue('start cap jobid={4690.*} rate=200')
    expect(find('outdated').exists()).toBe(true)
    expect(wrapper.findAll('[data-testid=changed]')).toHaveLength(1)
    await find('variant-name').setValue('')
    expect(find('run').attributes('title')).toBe('A variant has no name')
    await find('variant-name').setValue('Half')
    await find('run').trigger('click')
    await flushPromises()
    expect(host.runs[1]?.variants[1]).toMatchObject({
      name: 'Half',
      rules: [{ service: 'ost_io', line: 'start cap jobid={4690.*} rate=200' }],
    })
  })

  it('are duplicated, moved and removed, six at most', async () => {
    await forked()
    const variants = useSandboxVariantsStore()
    const names = (): string[] => variants.entries.map((e) => e.variant.name)
    variants.editing = variants.entries[1]!.id
    await flushPromises()
    await find('duplicate').trigger('click')
    expect(names()).toEqual(['Baseline', 'Static cap', 'AdapTBF', 'Metadata cap', 'Static cap 2'])
    await find('move-left').trigger('click')
    expect(names()[3]).toBe('Static cap 2')
    await find('duplicate').trigger('click')
    expect(find('add-variant').attributes('disabled')).toBeDefined()
    await find('remove').trigger('click')
    expect(names()).toHaveLength(5)
    expect(find('variant-panel').exists()).toBe(false)
  })

  it('refuse numbers out of range at the field', async () => {
    await forked()
    const variants = useSandboxVariantsStore()
    variants.editing = variants.entries[1]!.id
    await flushPromises()
    await find('variant-rate').setValue('-5')
    expect(find('variant-panel').text()).toContain('1 to 1000000000')
    expect(variants.edited?.variant.maxRate).toBeNull()
    await find('variant-rate').setValue('250')
    expect(variants.edited?.variant.maxRate).toBe(250)
    await find('variant-rate').setValue('')
    expect(variants.edited?.variant.maxRate).toBeNull()
  })

  it('show planes only where the scenario has them', async () => {
    await forked()
    const variants = useSandboxVariantsStore()
    variants.editing = variants.entries[1]!.id
    await flushPromises()
    expect(find('variant-panel').text()).not.toContain('Lock manager')
    const check = scenarioCheck()
    check.topology!.servers.push({ ...check.topology!.servers[0]!, name: 'cc', kind: 'ccpfs' })
    useSandboxStore().check = check
    await flushPromises()
    expect(find('variant-panel').text()).toContain('Lock manager')
  })

  it('set the system limits, reservations and options of the planes, and clear them with an empty field', async () => {
    await forked()
    const variants = useSandboxVariantsStore()
    variants.editing = variants.entries[1]!.id
    const check = scenarioCheck({
      planes: {
        metadataLimits: [{ scope: 'meta_op', rate: 500 }],
        reservations: [
          { node: 'dn01', client: 'a', reservation: 9000 },
          { node: 'dn01', client: 'b', reservation: 0 },
        ],
      },
    })
    const [first] = check.topology!.servers
    check.topology!.servers.push(
      { ...first!, name: 'cc', kind: 'ccpfs' },
      { ...first!, name: 'dn01', kind: 'data node' },
    )
    useSandboxStore().check = check
    await flushPromises()
    expect(find('plane-metadata').text()).toContain('scenario 500')
    await find('metadata-limit').setValue('300')
    expect(variants.edited?.variant.metadataLimits).toEqual([{ scope: 'meta_op', rate: 300 }])
    await find('metadata-limit').setValue('')
    expect(variants.edited?.variant.metadataLimits).toEqual([])
    await wrapper.findAll('[data-testid=reservation]')[1]!.setValue('4000')
    expect(variants.edited?.variant.tokens).toEqual({
      reservations: [{ node: 'dn01', client: 'b', reservation: 4000 }],
    })
    await wrapper.findAll('[data-testid=reservation]')[1]!.setValue('')
    expect(variants.edited?.variant.tokens).toEqual({})
    expect(wrapper.findAll('[data-testid^=lock-]')).toHaveLength(4)
  })
})

describe('jobs', () => {
  const rows = () => wrapper.findAll('[data-testid=job-row]')

  it('names roles first and folds the many into one row', async () => {
    await ran()
    expect(rows().map((r) => r.find('.named').text())).toEqual([
      '4690.python.u1021',
      '4711.cfd_solve.u884',
      '4655.vasp_std.u340',
      '4633.wrf.exe.u512',
      '4702.train.py.u1021',
      '4688.nek5000.u884',
      '406 other jobs',
    ])
    expect(rows()[0]!.text()).toContain('hog')
    expect(rows()[0]!.find('.badge').attributes('title')).toContain('the most RPCs above its fair share')
    const best = rows()[1]!.find('[data-col=variant-2]')
    expect(best.text()).toBe('\u221286\u202F%300')
    expect(best.find('.delta').classes()).toContain('better')
    expect(rows()[0]!.find('[data-col=variant-1] .delta').classes()).toContain('worse')
    await find('others').trigger('click')
    expect(wrapper.find('[role=table][aria-label="Results by job"]').attributes('aria-rowcount')).toBe('413')
  })

  it('are sorted by a variant, filtered, and selected for every view', async () => {
    await ran()
    await find('fold').trigger('click')
    await find('sort-2').trigger('click')
    expect(rows()[0]!.find('.named').text()).toBe('4690.python.u1021')
    await find('sort-2').trigger('click')
    expect(rows()[0]!.find('.named').text()).not.toBe('4690.python.u1021')
    await find('job-filter').setValue('vasp')
    expect(rows()).toHaveLength(1)
    await rows()[0]!.trigger('click')
    expect(useSelectionStore().jobId).toBe('4655.vasp_std.u340')
    await find('job-filter').setValue('nothing of that name')
    expect(find('by-job').text()).toContain('No matching jobs.')
  })

  it('are moved through and opened by keys; the row of the others unfolds', async () => {
    await ran()
    const selection = useSelectionStore()
    const table = wrapper.find('[role=table][aria-label="Results by job"]')
    press('j')
    await flushPromises()
    expect(selection.jobId).toBe('4690.python.u1021')
    await table.trigger('keydown', { key: 'Enter' })
    expect(selection.inspectorOpen).toBe(true)
    await table.trigger('keydown', { key: 'End' })
    expect(selection.jobId).toBe('4690.python.u1021')
    await table.trigger('keydown', { key: 'Enter' })
    expect(table.attributes('aria-rowcount')).toBe('413')
  })

  it('show throughput and tokens, and the absence of token balances', async () => {
    await ran()
    await find('by-throughput').trigger('click')
    expect(find('by-job').text()).toContain('MB/s')
    await find('by-tokens').trigger('click')
    expect(
      rows()[0]!
        .findAll('.num')
        .map((c) => c.text()),
    ).toEqual(['\u2013', '\u2013', '\u22121\u202F200', '\u2013'])
  })

  it.each([0, 1, 10_000])('are rendered if there are %i', async (count) => {
    await ran({}, count)
    expect(rows().length).toBeLessThan(40)
    if (count === 0) expect(find('by-job').text()).toContain('The scenario has no jobs.')
    else expect(rows().length).toBeGreaterThan(0)
  })

  it('keep hostile names as text', async () => {
    const name = `<img src=x onerror=alert(1)>\u202E${'a'.repeat(300)}`
    const hostile = runResult({}, 3)
    hostile.jobs.jobId[0] = name
    hostile.variants.forEach((v) => (v.chart.series[2]!.jobId = name))
    await forked()
    await send({ kind: 'result', result: hostile })
    expect(wrapper.find('img').exists()).toBe(false)
    expect(wrapper.text()).not.toContain('\u202E')
    expect(rows()[0]!.text()).toContain('\u2039202E\u203A')
  })
})

describe('a scenario', () => {
  it('with unsaved changes is not discarded by a dry run without a confirmation', async () => {
    await ran()
    const sandbox = useSandboxStore()
    sandbox.edit(`${sampleText}seed: 2\n`)
    await flushPromises()
    useSandboxRunStore().dryRun()
    await flushPromises()
    expect(host.forks).toHaveLength(1)
    await find('stay').trigger('click')
    expect(sandbox.text).toContain('seed: 2')
    useSandboxRunStore().dryRun()
    await flushPromises()
    await find('leave').trigger('click')
    await flushPromises()
    expect(host.forks).toHaveLength(2)
    expect(sandbox.text).toBe(sampleText)
  })

  it('is saved under a name, and a refusal is shown in the form', async () => {
    await ran()
    await find('save').trigger('click')
    await flushPromises()
    const name = floating('save-name') as HTMLInputElement
    name.value = 'Monday'
    name.dispatchEvent(new Event('input'))
    host.refuse = { code: 'DISK_FULL', what: 'The scenario was not written', why: 'the disk is full' }
    floating('save-now')?.click()
    await flushPromises()
    expect(document.querySelector('[aria-label="Save scenario"]')?.textContent).toContain('the disk is full')
    floating('save-now')?.click()
    await flushPromises()
    expect(host.saved).toEqual([{ name: 'Monday', text: sampleText, replace: false }])
  })

  it('is checked shortly after the last key, and outdated answers are ignored', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      await openView()
      const sandbox = useSandboxStore()
      await sandbox.fork(null, 'closed')
      for (const tail of ['a', 'ab', 'abc']) sandbox.edit(sampleText + tail)
      expect(sandbox.isChecked).toBe(false)
      await vi.advanceTimersByTimeAsync(400)
      expect(host.checks).toEqual([`${sampleText}abc`])
      expect(sandbox.isChecked).toBe(true)
    } finally {
      vi.useRealTimers()
    }
  })
})
