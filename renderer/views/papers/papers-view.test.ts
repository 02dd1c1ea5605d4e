import { flushPromises, mount, type VueWrapper } from '@vue/test-utils'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { usePapersStore } from '../../stores/papers.ts'
import { useConnectionStore } from '../../stores/connection.ts'
import PapersView from './PapersView.vue'
import {
  claimResult,
  experiment,
  openPapersHost,
  papersResult,
  progress,
  type PapersHost,
} from '#tests/kits/renderer/views/papers-host.ts'

let wrapper: VueWrapper
let host: PapersHost
const find = (testid: string) => wrapper.find(`[data-testid="${testid}"]`)
const press = (key: string): void => {
  document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }))
}
const experiments = [experiment('IV-D'), experiment('IV-E', { setup: ['The model of all.', 'Bursts.'] })]

beforeEach(async () => {
  vi.stubGlobal('matchMedia', () => Object.assign(new EventTarget(), { matches: false }))
  setActivePinia(createPinia())
  host = openPapersHost(experiments)
  wrapper = mount(PapersView, { attachTo: document.body })
  await flushPromises()
})
afterEach(() => {
  wrapper.unmount()
  document.body.replaceChildren()
  vi.unstubAllGlobals()
})

async function start(): Promise<void> {
  await find('run').trigger('click')
  await flushPromises()
}
async function send(...events: Parameters<PapersHost['send']>[0][]): Promise<void> {
  for (const event of events) host.send(event)
  await flushPromises()
}
/** Waits until all rows of figures and their charts are rendered. */
const drawn = () => vi.waitFor(() => expect(wrapper.findAll('.plot [role=img]')).toHaveLength(4))

describe('before the first run', () => {
  it('shows the setup, what was published and the bounds, and whose paper it is', () => {
    expect(find('model-note').text()).toBe('emulator model, not production')
    expect(find('not-run').text()).toContain('Not run yet')
    expect(find('not-run').text()).toContain('15 runs of the model')
    expect(wrapper.find('.head').text()).toContain('The jobs of IV-D.')
    expect(wrapper.find('details').text()).toContain('The model of all.')
    expect(find('claim').text()).toContain('highest of the three')
    expect(find('claim').text()).toContain('not run')
    expect(wrapper.findAll('[role=group] h3').map((h) => h.text())).toEqual(['AdapTBF'])
  })

  it('refuses seeds that cannot be read, by the button and by the key', async () => {
    await find('seeds').setValue('1-99')
    expect(find('seeds-fault').text()).toContain('at most 20 seeds')
    expect(find('seeds').attributes('aria-invalid')).toBe('true')
    expect(find('run').attributes('disabled')).toBeDefined()
    press('r')
    await flushPromises()
    expect(host.asked).toEqual([])
  })
})

describe('a run', () => {
  it('shows how far it is, then the figures side by side and every claim', async () => {
    await find('seeds').setValue('1-3')
    press('r')
    await flushPromises()
    expect(host.asked).toEqual([{ experiment: 'adaptbf.IV-D', seeds: [1, 2, 3] }])
    await send(progress(4, 9))
    expect(find('progress').text()).toContain('IV-D, static, seed 2')
    expect(find('progress').text()).toContain('4 of 9')
    expect(find('progress').find('[role=progressbar]').attributes('aria-valuenow')).toBe('4')
    expect(find('experiment-adaptbf.IV-D').text()).toContain('4/9')
    expect(find('run').exists()).toBe(false)
    await send(papersResult())
    await drawn()
    expect(find('progress').exists()).toBe(false)
    expect(find('outcome').text()).toContain('1 of 1 claims hold')
    expect(find('outcome').text()).toContain('medians over seeds 1\u20133')
    expect(wrapper.findAll('[data-testid=timeline] h2').map((h) => h.text())).toEqual(['No BW', 'Static BW', 'AdapTBF'])
    expect(wrapper.findAll('[data-testid=timeline]')[1]?.text()).toContain('continues to 60\u202Fs')
    expect(find('bars').find('[role=img]').attributes('aria-label')).toBe(
      'Gain of AdapTBF, %. Job1: over No BW \u221216, over Static BW +558.',
    )
    expect(find('claim').text()).toContain('0.9989')
    expect(find('claim').text()).toContain('holds')
  })

  it('shows five setups in two rows with the limit, and minutes where seconds would be long', async () => {
    await start()
    const one = papersResult().figures[0]
    if (one?.kind !== 'timeline') throw new Error('the sample begins with a timeline')
    const { whole: _, ...line } = one
    const setups = ['Baseline', 'Uniform', 'Priority', 'PSharing', 'PSFA']
    const figures = setups.map((title, i) => ({
      ...line,
      id: `fig7.${title}`,
      title,
      unit: 'op/s',
      binS: 135,
      endS: i === 2 ? 3241 : 2700,
      limit: { name: 'Max_R', value: 250 },
    }))
    await send(papersResult({ figures }))
    await vi.waitFor(() => expect(wrapper.findAll('.plot [role=img]')).toHaveLength(5))
    expect(wrapper.find('.charts').attributes('style')).toContain('repeat(3,')
    expect(wrapper.findAll('[data-testid=timeline]')[0]?.text()).toContain('ends at 45\u202Fmin')
    expect(wrapper.findAll('[data-testid=timeline]')[2]?.text()).toContain('continues to 54.0\u202Fmin')
    const label = wrapper.findAll('.plot [role=img]')[0]?.attributes('aria-label')
    expect(label).toContain('limit Max_R at 250')
  })

  it('counts claims that have names instead of numbers', async () => {
    await start()
    const named = claimResult({ id: 'padll.V-C-1.never-over-max' })
    await send(papersResult({ claims: [claimResult(), named] }))
    expect(wrapper.findAll('[data-testid=claim] td:first-child').map((td) => td.text())).toEqual(['1', '2'])
    expect(wrapper.findAll('[data-testid=claim] td:first-child')[1]?.attributes('title')).toBe(named.id)
  })

  it('says what is not reached, and why', async () => {
    await start()
    const note = 'Parity is the most that can be reached.'
    await send(papersResult({ claims: [claimResult({ ok: false, measured: null, failed_seeds: [2], note })] }))
    expect(find('outcome').text()).toContain('0 of 1 claims hold')
    expect(find('claim').text()).toContain('not reached')
    expect(find('claim-note').text()).toBe(`${note}Not reached on seed 2 alone.`)
    expect(find('experiment-adaptbf.IV-D').text()).toContain('0/1')
  })

  it('is cancelled by the button, and nothing of it is kept', async () => {
    await start()
    await send(progress(2, 15))
    await find('cancel').trigger('click')
    await flushPromises()
    expect(host.cancelled).toBe(1)
    expect(find('cancelled').text()).toContain('Cancelled after 2 of 15. No result was kept.')
    expect(find('run').exists()).toBe(true)
  })

  it('keeps the previous result on the page when a second run is cancelled', async () => {
    await start()
    await send(papersResult())
    await start()
    await find('cancel').trigger('click')
    await flushPromises()
    expect(find('cancelled').text()).toContain('The previous result is shown below.')
    expect(find('outcome').text()).toContain('1 of 1 claims hold')
  })

  it('continues while another view or experiment is shown, and keeps its result for this session', async () => {
    await start()
    press('j')
    await flushPromises()
    expect(wrapper.find('h2').exists() && wrapper.text()).toContain('Bursts.')
    expect(find('progress').text()).toContain('IV-D is running')
    wrapper.unmount()
    await send(papersResult())
    wrapper = mount(PapersView, { attachTo: document.body })
    await flushPromises()
    expect(find('not-run').exists()).toBe(true)
    press('k')
    await flushPromises()
    expect(find('outcome').text()).toContain('1 of 1 claims hold')
    await drawn()
  })

  it('copies the document that the command line writes', async () => {
    await start()
    await send(papersResult())
    const copied = find('outcome').findComponent({ name: 'CopyButton' }).props('text') as string
    expect(JSON.parse(copied)).toMatchObject({ seeds: [1, 2, 3], seconds: 1.7, claims: [{ id: 'adaptbf.IV-D.1' }] })
  })
})

describe('a run that fails', () => {
  it('shows the reason why its thread ended', async () => {
    await start()
    const notice = { code: 'PAPERS_CRASHED', what: 'The experiment ended without a result', why: 'no memory left' }
    await send(progress(1, 15), { kind: 'failed', notice })
    expect(find('papers-failed').text()).toContain('no memory left')
    expect(find('experiment-adaptbf.IV-D').text()).toContain('failed')
    expect(find('run').exists()).toBe(true)
  })

  it('shows the reason for a refusal', async () => {
    host.refuse = { code: 'PAPERS_BUSY', what: 'The experiment was not started', why: 'another one is running' }
    await start()
    expect(find('papers-failed').text()).toContain('another one is running')
    expect(find('experiment-adaptbf.IV-D').text()).toContain('not run')
  })

  it('reports a lost connection', async () => {
    await start()
    host.breakOff(new Error('the connection was closed'))
    await flushPromises()
    expect(find('papers-failed').text()).toContain('the connection was closed')
    useConnectionStore().lost(null)
    await start()
    expect(find('papers-failed').text()).toContain('NO_HOST')
  })
})

it('shows the whole of a run that is much longer than the others, on demand', async () => {
  await start()
  await send(papersResult())
  await drawn()
  const fixed = () => wrapper.findAll('[data-testid=timeline]')[1]?.text()
  expect(fixed()).toContain('continues to 60\u202Fs')
  await find('span-whole').trigger('click')
  expect(fixed()).toContain('ends at 60\u202Fs')
  expect(wrapper.find('.figure').text()).toContain('means of 3.0\u202Fs')
})

it('shows the values of all charts of a row at the crosshair of one', async () => {
  await start()
  await send(papersResult())
  await drawn()
  const chart = wrapper.find('.plot .box')
  const box = { left: 0, width: 250, top: 0, height: 160, right: 250, bottom: 160, x: 0, y: 0, toJSON: () => '' }
  chart.element.getBoundingClientRect = () => box
  await chart.trigger('mousemove', { clientX: 138 })
  expect(wrapper.findAll('.cross')).toHaveLength(3)
  expect(wrapper.find('.figure').text()).toContain('at 10.0\u202Fs')
  for (const panel of wrapper.findAll('[data-testid=timeline]')) expect(panel.text()).toContain('Job1100Job2200')
  await chart.trigger('mouseleave')
  expect(wrapper.findAll('.cross')).toHaveLength(0)
})

it('groups experiments by the systems that are registered', async () => {
  const papers = usePapersStore()
  papers.experiments = [...experiments, experiment('V-A', { id: 'padll.V-A', system: 'padll' })]
  await flushPromises()
  expect(wrapper.findAll('[role=group] h3').map((h) => h.text())).toEqual(['AdapTBF', 'PADLL'])
})
