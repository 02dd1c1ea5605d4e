import { mount, type VueWrapper } from '@vue/test-utils'
import { expect, it, vi } from 'vitest'
import { createMemoryHistory, createRouter } from 'vue-router'
import type { JobFrame } from '#core/api/frames.ts'
import { useConnectionStore } from '../../stores/connection.ts'
import { useProposeStore } from '../../stores/propose.ts'
import { useSelectionStore } from '../../stores/selection.ts'
import { freshPage, showSource } from '#tests/kits/renderer/view-page.ts'
import JobInspector from './JobInspector.vue'

const NOW_MS = 1_767_225_600_000
const ID = '4690.python.u1021'
let wrapper: VueWrapper = null!
freshPage(1200, () => wrapper.unmount())

const frame = {
  seq: 1,
  sample: 40,
  atMs: NOW_MS,
  windowMs: 300_000,
  jobId: ID,
  known: true,
  rules: [],
  colour: 0,
  nodes: 1,
  account: '',
  targets: { name: [], node: [], rpcs: [], tokens: [], record: [] },
} as unknown as JobFrame

it('proposes a limit for its job, by a button that names the key', async () => {
  showSource(NOW_MS, 'LIVE')
  const job = (_: unknown, { signal }: { signal: AbortSignal }) =>
    Promise.resolve(
      (async function* () {
        yield frame
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
      })(),
    )
  useConnectionStore().opened({ api: { host: { ack: async () => undefined }, views: { job } } } as never)
  useSelectionStore().select(ID, { inspect: true })
  const router = createRouter({
    history: createMemoryHistory(),
    routes: [{ path: '/', component: { render: () => null } }],
  })
  const stubs = { InspectorRecord: true, InspectorTargets: true, InspectorRules: true }
  wrapper = mount(JobInspector, { attachTo: document.body, global: { plugins: [router], stubs } })
  await vi.waitFor(() => expect(wrapper.find('[data-testid=job-propose]').exists()).toBe(true))
  const button = wrapper.find('[data-testid=job-propose]')
  expect(button.text()).toBe('Propose limitP')
  await button.trigger('click')
  expect(useProposeStore().jobId).toBe(ID)
})
