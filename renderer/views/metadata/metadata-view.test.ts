import { ORPCError } from '@orpc/client'
import { flushPromises, mount, type VueWrapper } from '@vue/test-utils'
import { describe, expect, it, vi } from 'vitest'
import type { MetadataFrame } from '#core/api/padll.ts'
import { freshPage, resendFrame, showSource } from '#tests/kits/renderer/view-page.ts'
import { useMetadataStore } from '../../stores/metadata.ts'
import { useSelectionStore } from '../../stores/selection.ts'
import MetadataView from './MetadataView.vue'
import {
  JOBS,
  jobsOf,
  metadataFrame,
  NOW_MS,
  noPlane,
  openMetadataHost,
  treeOf,
  type MetadataHost,
} from '#tests/kits/renderer/views/metadata-host.ts'

let host: MetadataHost
let wrapper: VueWrapper

vi.setConfig({ testTimeout: 20_000 })
freshPage(900, () => wrapper.unmount())

async function show(frame: MetadataFrame = metadataFrame(), kind = 'EMULATED'): Promise<void> {
  showSource(NOW_MS, kind)
  host = openMetadataHost(frame)
  wrapper = mount(MetadataView, { attachTo: document.body, global: { stubs: { Sparkline: true } } })
  await vi.waitFor(() => expect(host.acks).toBeGreaterThan(0))
  await flushPromises()
}
const resend = (frame: MetadataFrame): Promise<void> => resendFrame(host, frame)
const find = (id: string) => wrapper.find(`[data-testid="${id}"]`)
const rowNames = (): string[] => wrapper.findAll('[data-testid=tree-row]').map((r) => r.find('.nm').text())
const press = (target: Element | null, key: string): void => {
  target?.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }))
}
const active = (): string | null => {
  const id = find('tree').attributes('aria-activedescendant')
  return id === undefined ? null : (document.getElementById(id)?.getAttribute('data-key') ?? null)
}

describe('the hierarchy', () => {
  it('shows measured, limit and the state in words, and counts the stages that were not sent', async () => {
    await show()
    const row = wrapper.find('[data-key="a/train.py0"]')
    expect(row.text()).toContain('at its limit')
    expect(row.find('.state .st').attributes('aria-label')).toBe('warning')
    expect(row.findAll('.num').map((n) => n.text())).toEqual(['9.3', '9.4'])
    expect(wrapper.find('[data-key=b]').text()).toContain('silent for 4 s')
    expect(rowNames().at(-1)).toContain('988 more stages')
  })

  it('moves, collapses and expands by arrow keys, and selects by Enter', async () => {
    await show()
    const tree = find('tree').element
    press(tree, 'ArrowDown')
    press(tree, 'ArrowDown')
    await flushPromises()
    expect(active()).toBe('a')
    press(tree, 'ArrowLeft')
    await flushPromises()
    expect(wrapper.find('[data-key=a]').attributes('aria-expanded')).toBe('false')
    expect(rowNames()).not.toContain('train.py \u00B7 0')
    press(tree, 'ArrowRight')
    press(tree, 'ArrowRight')
    await flushPromises()
    press(tree, 'ArrowRight')
    await flushPromises()
    expect(active()).toBe('a/train.py0')
    expect(useSelectionStore().jobId).toBeNull()
    press(tree, 'Enter')
    await vi.waitFor(() => expect(host.queries.at(-1)?.selected).toBe('a/train.py0'))
    expect(useSelectionStore().jobId).toBe('train.py')
    expect(wrapper.find('[data-key="a/train.py0"]').attributes('aria-selected')).toBe('true')
    await find('show-all').trigger('click')
    await vi.waitFor(() => expect(host.queries.at(-1)?.selected).toBe(''))
  })

  it('follows the job that was selected elsewhere, and Esc ends both', async () => {
    await show()
    useSelectionStore().select('bwa')
    await vi.waitFor(() => expect(host.queries.at(-1)?.selected).toBe('job:bwa'))
    await wrapper.find('[data-key=a]').trigger('click')
    await vi.waitFor(() => expect(host.queries.at(-1)?.selected).toBe('a'))
    useSelectionStore().clear()
    await vi.waitFor(() => expect(host.queries.at(-1)?.selected).toBe(''))
  })

  it('of ten thousand stages puts only those in view on the page', async () => {
    const stages = Array.from({ length: 10_000 }, (_, i) => ({
      key: `s${i}`,
      kind: 'stage' as const,
      name: `${i}.app \u00B7 0`,
      jobId: `${i}.app`,
    }))
    await show(metadataFrame({ tree: treeOf([{ key: 'g', kind: 'global', name: 'ctl' }, ...stages]) }))
    const rows = wrapper.findAll('[data-testid=tree-row]')
    expect(rows.length).toBeGreaterThan(10)
    expect(rows.length).toBeLessThan(60)
    expect(rows[0]?.attributes('aria-setsize')).toBe('10001')
  })
})

describe('the controller', () => {
  it('is changed by what is chosen, and shown changed as soon as the host agrees', async () => {
    await show()
    expect(find('mode-badge').text()).toContain('dynamic, unused rate reallocated')
    await find('algorithm-psharing').trigger('click')
    await flushPromises()
    expect(host.calls).toEqual([{ verb: 'change', input: { plane: 'stages', algorithm: 'psharing' } }])
    expect(find('mode-badge').text()).toContain('dynamic, unused rate stays unused')
    await find('algorithm-uniform').trigger('click')
    await flushPromises()
    expect(find('mode-badge').text()).toContain('static')
  })

  it('keeps its settings and shows the reason when the host refuses', async () => {
    await show()
    const data = { code: 'OBSERVE', what: 'Nothing is written in Observe', next: 'Choose Enforce' }
    host.refuses = new ORPCError('REFUSED', { defined: true, data })
    await find('algorithm-static').trigger('click')
    await flushPromises()
    expect(find('mode-badge').text()).toContain('dynamic, unused rate reallocated')
    expect(wrapper.text()).toContain('Nothing is written in Observe')
    expect(wrapper.text()).toContain('Next: Choose Enforce.')
  })

  it('accepts a limit in its unit, refuses invalid ones, and removes it if empty', async () => {
    await show()
    const limit = () => wrapper.find<HTMLInputElement>('[data-testid=limit]')
    expect(limit().element.value).toBe('110')
    await limit().setValue('fast')
    expect(limit().attributes('aria-invalid')).toBe('true')
    await wrapper.find('form').trigger('submit')
    expect(host.calls).toEqual([])
    await limit().setValue('90.5')
    await wrapper.find('form').trigger('submit')
    await flushPromises()
    await limit().setValue('')
    await wrapper.find('form').trigger('submit')
    await flushPromises()
    expect(host.calls.map((c) => c.input)).toEqual([
      { plane: 'stages', limit: { scope: 'meta_op', rate: 90_500 } },
      { plane: 'stages', limit: { scope: 'meta_op', rate: null } },
    ])
    expect(limit().element.value).toBe('')
  })

  it('of a recording cannot be changed', async () => {
    await show(metadataFrame(), 'RECORDED')
    expect(find('algorithm-static').element.closest('fieldset')?.disabled).toBe(true)
    expect(find('limit').element.closest('fieldset')?.disabled).toBe(true)
  })

  it('that is silent is reported with the age of its values, which stay', async () => {
    const { controller } = metadataFrame()
    await show(metadataFrame({ controller: { ...controller, seenMs: NOW_MS - 12_000 } }))
    expect(find('silent').text()).toContain('since 14:31:55')
    expect(find('silent').text()).toContain('Values are 12 s old')
    expect(find('silent').text()).toContain('hold their last rates')
    expect(find('tree').classes()).toContain('dimmed')
    expect(rowNames()).toContain('local-a')
  })

  it('keeps the time when it last answered, after the host stops reporting it', async () => {
    await show()
    expect(find('silent').exists()).toBe(false)
    const { controller } = metadataFrame()
    await resend(metadataFrame({ seq: 2, atMs: NOW_MS + 30_000, controller: { ...controller, seenMs: null } }))
    expect(find('silent').text()).toContain('since 14:32:07')
    expect(find('silent').text()).toContain('Values are 30 s old')
  })
})

describe('jobs and channels', () => {
  it('show measured of asked, and false allocation', async () => {
    await show()
    await vi.waitFor(() => expect(wrapper.findAll('[data-testid=job-small]')).toHaveLength(4))
    const train = wrapper.find('[data-job="train.py"][data-testid=job-small]')
    expect(train.text()).toContain('37.1 of 59.9 arriving')
    expect(find('false-allocation').text()).toContain('3.2')
    expect(find('jobs-sub').text()).toBe('k op/s at 14:32:07')
    await train.find('button').trigger('click')
    expect(useSelectionStore().jobId).toBe('train.py')
  })

  it('keep their places when their demands change places', async () => {
    await show()
    const names = (): (string | undefined)[] =>
      wrapper.findAll('[data-testid=job-small]').map((j) => j.attributes('data-job'))
    await vi.waitFor(() => expect(names()).toHaveLength(4))
    const before = names()
    const turned = [...JOBS].reverse().map((job, i) => ({ ...job, asked: 1000 * (9 - i) }))
    await resend(metadataFrame({ seq: 2, jobs: jobsOf([...turned, { ...JOBS[0]!, id: 'late' }]) }))
    // The last frame is throttled.
    await vi.waitFor(() => expect(names()).toEqual([...before, 'late']), { timeout: 5000 })
  })

  it('show use, back-pressure and waits of a channel; what has no limit has no meter', async () => {
    await show()
    const [open, rest] = wrapper.findAll('[data-testid=channel-row]')
    expect(open?.text()).toContain('1000')
    expect(open?.text()).toContain('34\u202F%')
    expect(open?.text()).toContain('4.5 ms')
    expect(open?.findAll('.bp .on')).toHaveLength(2)
    expect(rest?.text()).toContain('no limit')
    expect(find('channels-of').text()).toBe('train.py, 4 stages \u00B7 refill 10 ms')
  })

  it('are rules in the plane of a metadata server, without wait times', async () => {
    const channels = {
      ...metadataFrame().channels,
      channel: ['pl_1', 'pl_2'],
      waited: [null, null],
      waitMs: [null, null],
    }
    const expressions = [{ join: '' as const, field: 'jobid', items: ['train.py'] }]
    const rule = { service: 'mds.MDS.mdt', name: 'pl_1', expressions, rate: 9, job: 'train.py', scope: 'open' }
    const unexpressed = [{ line: 3, text: 'rename shares its opcode with mkdir' }]
    await show(metadataFrame({ plane: 'mds', channels, compiled: [rule], unexpressed }))
    const [first] = wrapper.findAll('[data-testid=channel-row]')
    expect(first?.text()).toContain('mds.MDS.mdt')
    expect(first?.text()).toContain('jobidtrain.py')
    expect(first?.text()).toContain('not reported by TBF')
    expect(wrapper.text()).toContain('Line 3: rename shares its opcode with mkdir')
    await find('plane-stages').trigger('click')
    await vi.waitFor(() => expect(host.queries.at(-1)).toMatchObject({ plane: 'stages', scope: '', selected: '' }))
  })
})

describe('the policy file', () => {
  it('shows the state of each step: past, in force, next, unknown job, or ignored', async () => {
    const { policies } = metadataFrame()
    const steps = [...policies.steps, { ...policies.steps[0]!, line: 7, kind: 'user', state: 'ignored' as const }]
    await show(metadataFrame({ policies: { ...policies, steps } }))
    expect(wrapper.findAll('[data-testid=policy-step] .words').map((w) => w.text())).toEqual([
      'past',
      'ignored',
      'in force',
      'in force',
      'no such job',
      'in 01:42',
    ])
    expect(find('next-step').text()).toBe('next step in 1 min 42 s')
  })
  it('may be empty', async () => {
    await show(metadataFrame({ policies: { text: '', steps: [], nextInS: null, startedMs: null } }))
    expect(find('no-policies').text()).toContain('No policies')
  })
})

it('describes metadata QoS and its setup if there is no plane', async () => {
  await show(noPlane())
  expect(find('no-plane').text()).toContain('sluice padll status')
  expect(find('tree').exists()).toBe(false)
})

it('shows hostile names as text, everywhere', async () => {
  const bad = '<img src=x onerror=alert(1)>'
  const base = metadataFrame()
  await show(
    metadataFrame({
      controller: { ...base.controller, name: bad, host: bad, lease: bad },
      tree: treeOf([{ key: bad, kind: 'global', name: bad, jobId: bad, why: bad, level: 'bad' }]),
      jobs: jobsOf([{ ...JOBS[0]!, id: bad }]),
      marks: [{ atMs: NOW_MS - 1000, kind: 'join', text: bad, level: 'ok' }],
      channels: { ...base.channels, of: bad, operations: [bad, bad], channel: [bad, 'safe\u202Egnp'] },
      policies: { ...base.policies, steps: [{ ...base.policies.steps[0]!, job: bad, scope: bad, kind: bad }] },
      unexpressed: [{ line: 1, text: bad }],
      scopes: [bad],
      notices: [{ code: 'X', what: bad }],
    }),
  )
  await vi.waitFor(() => expect(wrapper.findAll('[data-testid=job-small]')).toHaveLength(1))
  expect(wrapper.text().split(bad).length).toBeGreaterThan(6)
  expect(document.querySelector('img, script')).toBeNull()
  expect(wrapper.text()).not.toContain('\u202E')
})

it('keeps its plane and what is closed while another view is on screen', async () => {
  await show()
  const view = useMetadataStore()
  view.setOpen('a', false)
  wrapper.unmount()
  wrapper = mount(MetadataView, { attachTo: document.body, global: { stubs: { Sparkline: true } } })
  await vi.waitFor(() => expect(rowNames()).toContain('local-a'))
  expect(rowNames()).not.toContain('train.py \u00B7 0')
})

describe('the filter', () => {
  const filtered = (passing: number) => ({ filter: 'nobody', passing, of: 3 })
  it('is opened by / and applied by the host, and Esc returns to the hierarchy with its focus', async () => {
    await show()
    press(document.body, '/')
    expect(document.activeElement?.getAttribute('data-testid')).toBe('filter')
    await find('filter').setValue('job:train')
    await vi.waitFor(() => expect(host.queries.at(-1)?.filter).toBe('job:train'))
    press(find('filter').element, 'Escape')
    expect(document.activeElement?.getAttribute('data-testid')).toBe('tree')
    await vi.waitFor(() => expect(host.queries.at(-1)?.filter).toBe(''))
  })

  it('reports that no stage passes, with a button to clear it, and a parse error with its place', async () => {
    useMetadataStore().filter = 'nobody'
    await show(metadataFrame({ filtered: filtered(0) }))
    expect(find('filter-count').text()).toBe('0 of 3')
    expect(find('filtered-out').text()).toContain('None of 3 stages matches nobody.')
    await find('filtered-out-clear').trigger('click')
    expect([useMetadataStore().filter, document.activeElement?.getAttribute('data-testid')]).toEqual(['', 'tree'])
    useMetadataStore().filter = 'is:wet'
    await resend(metadataFrame({ seq: 2, filterError: { column: 1, message: '<b>is:</b> knows waiting' } }))
    expect(find('filter-error').text()).toContain('column 1: <b>is:</b> knows waiting. All stages are shown.')
    expect(rowNames().length).toBeGreaterThan(3)
  })

  it('filters a recording, which has neither algorithm nor settings to change', async () => {
    const { controller } = metadataFrame()
    useMetadataStore().filter = 'job:train'
    await show(metadataFrame({ filtered: filtered(1), controller: { ...controller, algorithm: null } }), 'RECORDED')
    expect(find('filter-count').text()).toBe('1 of 3')
    expect([find('mode-badge').exists(), find('controller-menu').exists()]).toEqual([false, false])
  })
})
