import { flushPromises, mount, type VueWrapper } from '@vue/test-utils'
import { expect, it, vi } from 'vitest'
import { createMemoryHistory, createRouter, type Router } from 'vue-router'
import type { JobFrame, StatusFrame } from '#core/api/frames.ts'
import type { MetadataFrame } from '#core/api/padll.ts'
import type { RuleCheck, RuleForm } from '#core/api/rule-edits.ts'
import { useConnectionStore } from '../stores/connection.ts'
import { useMetadataStore } from '../stores/metadata.ts'
import { usePolicyDraftStore } from '../stores/policy-draft.ts'
import { useProposeStore } from '../stores/propose.ts'
import { useRuleDraftStore } from '../stores/rule-draft.ts'
import { useSourceStore } from '../stores/source.ts'
import { freshPage, showSource } from '#tests/kits/renderer/view-page.ts'
import { jobsOf, JOBS, metadataFrame, noPlane, NOW_MS, TEXT } from '#tests/kits/renderer/views/metadata-host.ts'
import { review, ruleCheck } from '#tests/kits/renderer/views/rules-frames.ts'
import ProposeDialog from './ProposeDialog.vue'

vi.setConfig({ testTimeout: 20_000 })
const ID = '4690.python.u1021'
let wrapper: VueWrapper = null!
let router: Router = null!
let sentForms: RuleForm[] = []
let calls: string[] = []
freshPage(1200, () => wrapper.unmount())

const seriesOf = (rpcs: (number | null)[]): JobFrame['series'] => ({
  t: rpcs.map((_, i) => NOW_MS - 1000 * (rpcs.length - i)),
  rpcs,
  record: [],
  allowed: [],
  demand: [],
  allocated: [],
})
const job = (patch: Partial<JobFrame> = {}): JobFrame =>
  ({
    seq: 1,
    sample: 40,
    atMs: NOW_MS,
    windowMs: 300_000,
    jobId: ID,
    known: true,
    rpcs: 5000,
    share: 0.5,
    entitled: 0.1,
    firstSeenMs: NOW_MS - 60_000,
    series: seriesOf([9000, 1000, 5000]),
    ...patch,
  }) as JobFrame
/** Two classes of the job, and three other jobs that the matcher would hit. */
const trial = { ...review().trial, classes: 2, jobCount: 4, mayCount: 0, targets: 8, servers: 4 }
const checked = (form: RuleForm): RuleCheck => ruleCheck(form, { trial: trial as unknown as RuleCheck['trial'] })

interface Options {
  readonly job?: JobFrame
  readonly plane?: MetadataFrame
  readonly kind?: string
  readonly fails?: boolean
}
async function open(id = ID, { job: frame = job({ jobId: id }), plane, kind = 'LIVE', fails }: Options = {}) {
  ;[sentForms, calls] = [[], []]
  showSource(NOW_MS, kind)
  const source = useSourceStore()
  source.apply({ ...source.frame, controller: 'none', counts: { jobs: 4 } } as unknown as StatusFrame)
  async function once<F>(one: F, { signal }: { signal: AbortSignal }): Promise<AsyncIterable<F>> {
    return (async function* () {
      yield one
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
    })()
  }
  const verb = (name: string) => async (): Promise<void> => void calls.push(name)
  const api = {
    host: { ack: async () => undefined },
    views: {
      job: (_: unknown, o: { signal: AbortSignal }) => once(frame, o),
      metadata: (_: unknown, o: { signal: AbortSignal }) => once(plane ?? metadataFrame(), o),
    },
    rules: {
      check: async ({ draft: { form } }: { draft: { form: RuleForm } }) => {
        sentForms.push(form)
        if (fails) throw new Error('the servers did not answer')
        return checked(form)
      },
      stage: verb('stage'),
      commit: verb('commit'),
    },
    padll: { check: async () => new Promise(() => undefined), apply: verb('apply') },
    source: { setMode: verb('setMode'), setController: verb('setController') },
  }
  useConnectionStore().opened({ api } as never)
  const routes = ['overview', 'rules', 'metadata'].map((name) => ({
    path: `/${name}`,
    name,
    component: { template: '<p />' },
  }))
  router = createRouter({ history: createMemoryHistory(), routes })
  await router.push('/overview')
  wrapper = mount(ProposeDialog, { global: { plugins: [router] }, attachTo: document.body })
  useProposeStore().open(id)
  await vi.waitFor(() => expect(card('propose-cap')).not.toBeNull())
  await flushPromises()
}
const card = (testid: string) => document.querySelector<HTMLElement>(`[data-testid="${testid}"]`)
const fact = (testid: string, name: string): string => {
  const head = [...(card(testid)?.querySelectorAll('dt') ?? [])].find((dt) => dt.textContent === name)
  return head?.nextElementSibling?.textContent ?? ''
}
const button = (testid: string) => card(testid)?.querySelector('button') as HTMLButtonElement

it('shows the cap at entitlement, tested against the live jobs, and opens the rule editor with it; nothing is sent', async () => {
  await open()
  await vi.waitFor(() => expect(fact('propose-cap', 'Rate')).toContain('RPC/s per class'))
  // 5000 RPC/s is half of the served rate, 10 000; a tenth of that is 1000, over two classes.
  expect(fact('propose-cap', 'Rate')).toContain('500 RPC/s per class')
  expect(fact('propose-cap', 'Limit')).toContain('1\u202F000 RPC/s, the entitlement of its nodes')
  expect(fact('propose-cap', 'Also affects')).toBe('3 other jobs in this sample; 8 targets on 4 servers')
  expect(sentForms.map((f) => [f.name, f.conditions, f.rate])).toEqual([
    ['cap_4690', `jobid={${ID}}`, '1000'],
    ['cap_4690', `jobid={${ID}}`, '500'],
  ])
  button('propose-cap').click()
  await vi.waitFor(() => expect(router.currentRoute.value.name).toBe('rules'))
  expect(useRuleDraftStore().draft).toMatchObject({
    service: 'ost_io',
    form: { name: 'cap_4690', conditions: `jobid={${ID}}`, rate: '500' },
  })
  expect([useProposeStore().isOpen, calls]).toEqual([false, []])
})

it('starts with the focus on the first way, not on Close', async () => {
  await open()
  expect(document.activeElement).toBe(button('propose-cap'))
})

it('caps at half of the mean rate if the entitlement is unknown, whatever the job does now', async () => {
  await open(ID, { job: job({ share: null, entitled: null, rpcs: 181 }) })
  await vi.waitFor(() => expect(fact('propose-cap', 'Limit')).toContain('50 % of its mean rate (entitlement unknown)'))
  expect(fact('propose-cap', 'Limit')).toContain('mean over 5 min 5\u202F000 RPC/s, now 181')
  expect(sentForms[0]?.rate).toBe('2500')
})

it('refuses to cap an idle job, or one that was not measured', async () => {
  await open(ID, { job: job({ rpcs: 0, series: seriesOf([0, 2, null]) }) })
  await vi.waitFor(() => expect(card('propose-cap')?.textContent).toContain('the job is idle: 1.0 RPC/s on average'))
  expect([button('propose-cap').disabled, fact('propose-cap', 'Rate'), sentForms]).toEqual([true, 'none', []])
  wrapper.unmount()
  await open(ID, { job: job({ rpcs: 0, series: seriesOf([null]) }) })
  await vi.waitFor(() => expect(card('propose-cap')?.textContent).toContain('was not measured in this time window'))
  expect([button('propose-cap').disabled, sentForms]).toEqual([true, []])
})

it('adds a metadata cap to the policy text, and opens the editor', async () => {
  await open('train.py', { plane: metadataFrame({ jobs: jobsOf(JOBS) }) })
  await vi.waitFor(() => expect(fact('propose-padll', 'Rate')).toContain('50 % of its mean rate over 5 min'))
  button('propose-padll').click()
  await vi.waitFor(() => expect(router.currentRoute.value.name).toBe('metadata'))
  const { draft } = usePolicyDraftStore()
  expect(draft?.text.startsWith(TEXT)).toBe(true)
  expect(draft?.text.slice(TEXT.length).trim()).toBe('6 0 job train.py meta_op 16727')
  expect([useMetadataStore().isEditorOpen, calls]).toEqual([true, []])
})

it('gives the reason why an option is unavailable: unusable id, no metadata plane, a recording', async () => {
  await open('two words', { plane: noPlane() })
  await vi.waitFor(() => expect(card('propose-padll')?.textContent).toContain('no metadata QoS'))
  expect(card('propose-cap')?.textContent).toContain('the job id cannot be used in a condition')
  expect([button('propose-cap').disabled, button('propose-padll').disabled, sentForms]).toEqual([true, true, []])
  wrapper.unmount()
  await open(ID, { kind: 'RECORDED' })
  for (const way of ['propose-cap', 'propose-adaptbf', 'propose-padll']) {
    expect([way, button(way).disabled]).toEqual([way, true])
    expect(card(way)?.textContent).toContain('a recording is open')
  }
})

it('reports a refused test of the cap, and closes by Esc', async () => {
  await open(ID, { fails: true })
  await vi.waitFor(() => expect(card('propose')?.textContent).toContain('not tested against the live jobs'))
  document.activeElement?.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }))
  await vi.waitFor(() => expect(useProposeStore().isOpen).toBe(false))
})
