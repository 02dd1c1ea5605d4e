import { flushPromises, mount, type VueWrapper } from '@vue/test-utils'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import CurveChart from '../../charts/CurveChart.vue'
import RunChart from '../../charts/RunChart.vue'
import { usePapersStore } from '../../stores/papers.ts'
import { useConnectionStore } from '../../stores/connection.ts'
import PapersView from './PapersView.vue'
import {
  claimResult,
  claimsOfEachVerdict,
  experiment,
  fit,
  openPapersHost,
  papersResult,
  progress,
  publishedFigures,
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
/** Texts of the cells of a claim. */
const cells = (row: number): string[] =>
  wrapper
    .findAll('[data-testid=claim]')
    [row]?.findAll('td')
    .map((td) =>
      td
        .text()
        .replace(/[ \n]+/g, ' ')
        .trim(),
    ) ?? []
const claimNumbers = (): string[] => wrapper.findAll('[data-testid=claim] td:first-child').map((td) => td.text())
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
    expect(host.runs).toEqual([])
  })
})

describe('a run', () => {
  it('shows how far it is, then the figures side by side and every claim', async () => {
    await find('seeds').setValue('1-3')
    press('r')
    await flushPromises()
    expect(host.runs).toEqual([{ experiment: 'adaptbf.IV-D', seeds: [1, 2, 3] }])
    await send(progress(4, 9))
    expect(find('progress').text()).toContain('IV-D, static, seed 2')
    expect(find('progress').text()).toContain('4 of 9')
    expect(find('progress').find('[role=progressbar]').attributes('aria-valuenow')).toBe('4')
    expect(find('experiment-adaptbf.IV-D').text()).toContain('4/9')
    expect(find('run').exists()).toBe(false)
    await send(papersResult())
    await drawn()
    expect(find('progress').exists()).toBe(false)
    expect(find('outcome').text()).toContain('1 reproduced')
    expect(find('outcome').text()).toContain('medians over seeds 1\u20133')
    expect(wrapper.findAll('[data-testid=timeline] h2').map((h) => h.text())).toEqual(['No BW', 'Static BW', 'AdapTBF'])
    expect(wrapper.findAll('[data-testid=timeline]')[1]?.text()).toContain('continues to 60\u202Fs')
    expect(find('bars').find('[role=img]').attributes('aria-label')).toBe(
      'Gain of AdapTBF, %. Job1: over No BW \u221216, over Static BW +558.',
    )
    expect(cells(0)).toEqual([
      '1',
      'as fast as No BW',
      'IV-D3, Fig 4(a)',
      'highest of the three',
      '0.99890.9986 \u2026 0.999',
      '\u22120.1\u202F%',
      '\u2265 1 \u22120.02',
      '0.9986 \u2026 0.999',
      'reproduced',
      '\u2265 0.98',
    ])
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

  it('shows an exceeded regression bound apart from the verdict', async () => {
    await start()
    const note = 'Parity is the most that can be reached.'
    expect(find('outcome').exists()).toBe(false)
    await send(papersResult({ claims: [claimResult({ ok: false, failed_seeds: [2], note })] }))
    expect(find('outcome').text()).toContain('1 reproduced')
    expect(find('outcome').text()).toContain('1 regression bound exceeded')
    expect(cells(0).at(-2)).toBe('reproduced')
    expect(cells(0).at(-1)).toContain('exceeded')
    expect(find('claim-note').text()).toBe(
      `${note}Regression bound exceeded: 0.9989, required \u2265 0.98.Outside the regression bound on seed 2 alone.`,
    )
    expect(find('experiment-adaptbf.IV-D').text()).toContain('1 regression bound exceeded')
  })

  it('is cancelled by the button, and nothing of it is kept', async () => {
    await start()
    await send(progress(2, 15))
    await find('cancel').trigger('click')
    await flushPromises()
    expect(host.cancelled).toBe(1)
    expect(find('cancelled').text()).toContain('Canceled after 2 of 15. No result was kept.')
    expect(find('run').exists()).toBe(true)
  })

  it('keeps the previous result on the page when a second run is cancelled', async () => {
    await start()
    await send(papersResult())
    await start()
    await find('cancel').trigger('click')
    await flushPromises()
    expect(find('cancelled').text()).toContain('The previous result is shown below.')
    expect(find('outcome').text()).toContain('1 reproduced')
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
    expect(find('outcome').text()).toContain('1 reproduced')
    await drawn()
  })

  it('copies the document that the command line writes', async () => {
    await start()
    await send(papersResult())
    const copied = find('outcome').findComponent({ name: 'CopyButton' }).props('text') as string
    expect(JSON.parse(copied)).toMatchObject({
      seeds: [1, 2, 3],
      seconds: 1.7,
      claims: [{ id: 'adaptbf.IV-D.1' }],
      counts: { adaptbf: { reproduced: 1 } },
      fits: [],
    })
  })
})

describe('verdicts', () => {
  beforeEach(async () => {
    await start()
    await send(papersResult({ claims: claimsOfEachVerdict(), figures: [] }))
  })

  it('are counted in the outcome and in the list', () => {
    expect(
      find('outcome')
        .findAll('li')
        .map((li) => li.text()),
    ).toEqual(['1 reproduced', '1 calibrated on', '1 differs', '1 contradicts the paper', '1 not published'])
    expect(find('outcome').text()).not.toContain('bound')
    expect(find('experiment-adaptbf.IV-D').text()).toContain('1 reproduced, 1 differs, 1 contradicts the paper')
  })

  it('are on the published value, with the difference, the tolerance and the reasons below', () => {
    expect([0, 1, 2, 3, 4].map((row) => cells(row)[8])).toEqual([
      'reproduced',
      'calibrated on',
      'differs',
      'contradicts the paper',
      'not published',
    ])
    expect(cells(2).slice(3, 7)).toEqual(['20', '2523.5 \u2026 26.25', '+25\u202F%', '\u00B110\u202F%'])
    const tolerance = wrapper.findAll('[data-testid=claim]')[2]?.find('td.tol')
    expect(tolerance?.attributes('title')).toContain('without the spread of a testbed')
    expect(wrapper.findAll('[data-testid=claim-note]').map((note) => note.text())).toEqual([
      'Calibrated on: rpcUs, the time of one RPC.',
      'The model has no cache.Tolerance: A tenth, for a model without the spread of a testbed.',
      'Proof: The work of Table I takes 97 minutes at the published limit.Tolerance: Printed as whole minutes.',
    ])
  })

  it('have no green mark other than for a reproduced value', () => {
    const marks = wrapper.findAll('[data-testid=claim] td.res .st')
    expect(marks.map((mark) => mark.classes('ok'))).toEqual([true, false, false, false, false])
    expect(marks[3]?.classes('contradicts')).toBe(true)
  })

  it('filter the claims', async () => {
    await find('claims-differs').trigger('click')
    expect(find('claims-differs').attributes('aria-pressed')).toBe('true')
    expect(claimNumbers()).toEqual(['3'])
    expect(find('claims-shown').text()).toBe('1 of 5 claims')
    await find('claims-silent').trigger('click')
    expect(claimNumbers()).toEqual(['5'])
    await find('claims-silent').trigger('click')
    expect(claimNumbers()).toEqual(['1', '2', '3', '4', '5'])
    expect(find('claims-shown').exists()).toBe(false)
  })

  it('of the next run show all claims if none matches the filter', async () => {
    await find('claims-contradicts').trigger('click')
    expect(claimNumbers()).toEqual(['4'])
    await start()
    await send(papersResult({ figures: [] }))
    expect(claimNumbers()).toEqual(['1'])
    expect(find('claims-contradicts').exists()).toBe(false)
  })
})

it('declares fitted constants beside the claims, with what they predict', async () => {
  const papers = usePapersStore()
  expect(find('fits').exists()).toBe(false)
  papers.experiments = [experiment('IV-D', { fits: [fit] })]
  await flushPromises()
  expect(
    find('fit')
      .findAll('td')
      .map((td) => td.text()),
  ).toEqual(Object.values(fit))
})

describe('published values in figures', () => {
  const legendOf = (testid: string) =>
    find(testid)
      .findAll('.legend [data-series]')
      .map((item) => item.text())
  const named = (testid: string) => find(testid).find('[role=img]').attributes('aria-label')

  it('are named in the legend and in the text of bars and curves', async () => {
    await start()
    await send(papersResult({ figures: publishedFigures() }))
    await vi.waitFor(() => expect(wrapper.findAll('.plot [role=img]')).toHaveLength(2))
    expect(legendOf('bars')).toEqual(['measured here', 'another', 'published'])
    expect(named('bars')).toBe(
      'Throughput, MB/s. Job1: measured here 100 (published 120), another 50; ' +
        'Job2: measured here 200 (published 180), another 60 (published 60).',
    )
    expect(find('curve').text()).toContain('Figure 20, GB/s over write size, KB')
    expect(legendOf('curve')).toEqual(['SeqDLM', 'published'])
    expect(named('curve')).toContain('SeqDLM 1 at 16, 9 at 256 (published 1.2 at 16, 10 at 256).')
  })

  it('are beside the measured ones at the crosshair of a curve', async () => {
    await start()
    await send(papersResult({ figures: publishedFigures() }))
    await vi.waitFor(() => expect(find('curve').find('[role=img]').exists()).toBe(true))
    const chart = wrapper.findComponent(CurveChart)
    chart.vm.$emit('hover', 16)
    await flushPromises()
    expect(legendOf('curve')[0]).toBe('SeqDLM1 (1.2)')
    expect(find('curve').text()).toContain('at 16')
    chart.vm.$emit('hover', null)
    await flushPromises()
    expect(legendOf('curve')[0]).toBe('SeqDLM')
  })

  it('are dashed lines over a timeline, hidden by the legend', async () => {
    await start()
    const { figures } = papersResult()
    const published = [
      {
        name: 'Job1',
        points: [
          [0, 90],
          [20, 110],
        ] as [number, number][],
      },
    ]
    await send(
      papersResult({ figures: figures.slice(0, 1).map((figure) => ({ ...figure, published }) as typeof figure) }),
    )
    await vi.waitFor(() => expect(wrapper.findAll('.plot [role=img]')).toHaveLength(1))
    expect(legendOf('timeline')).toEqual(['Job1', 'Job2', 'published'])
    expect(named('timeline')).toContain('published Job1 dashed')
    wrapper.findComponent(RunChart).vm.$emit('hover', 10)
    await flushPromises()
    expect(legendOf('timeline').slice(0, 2)).toEqual(['Job1100 (100)', 'Job2200'])
    await find('timeline').find('[data-series=published]').trigger('click', { ctrlKey: true })
    expect(wrapper.findComponent(RunChart).props('hidden')).toEqual(new Set(['published']))
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
  const charts = wrapper.findAllComponents(RunChart)
  const crosshairs = () => charts.map((chart) => chart.props().at)
  charts[0]?.vm.$emit('hover', 10)
  await flushPromises()
  expect(crosshairs()).toEqual([10, 10, 10])
  expect(wrapper.find('.figure').text()).toContain('at 10.0\u202Fs')
  for (const panel of wrapper.findAll('[data-testid=timeline]')) expect(panel.text()).toContain('Job1100Job2200')
  charts[0]?.vm.$emit('hover', null)
  await flushPromises()
  expect(crosshairs()).toEqual([null, null, null])
})

it('groups experiments by the systems that are registered', async () => {
  const papers = usePapersStore()
  papers.experiments = [...experiments, experiment('V-A', { id: 'padll.V-A', system: 'padll' })]
  await flushPromises()
  expect(wrapper.findAll('[role=group] h3').map((h) => h.text())).toEqual(['AdapTBF', 'PADLL'])
})
