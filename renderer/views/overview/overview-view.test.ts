import { flushPromises, mount, type VueWrapper } from '@vue/test-utils'
import { expect, it, vi } from 'vitest'
import { createMemoryHistory, createRouter } from 'vue-router'
import type { OverviewFrame, StatusFrame } from '#core/api/frames.ts'
import { useConnectionStore } from '../../stores/connection.ts'
import { useSourceStore } from '../../stores/source.ts'
import { freshPage, showSource } from '#tests/kits/renderer/view-page.ts'
import OverviewView from './OverviewView.vue'

const NOW_MS = 1_767_225_600_000
let wrapper: VueWrapper
freshPage(1200, () => wrapper.unmount())

const frame = {
  seq: 1,
  sample: 40,
  atMs: NOW_MS,
  tiles: [],
  targets: { name: ['OST0', 'OST1'], rpcs: [5, 7] },
  movers: { jobId: [], colour: [], rpcs: [] },
  events: [],
  timers: [],
} as unknown as OverviewFrame

it('counts no target as reporting while the host is lost', async () => {
  showSource(NOW_MS, 'LIVE')
  const source = useSourceStore()
  source.apply({ ...source.frame, counts: { jobs: 1 } } as unknown as StatusFrame)
  const overview = (_: unknown, { signal }: { signal: AbortSignal }) =>
    Promise.resolve(
      (async function* () {
        yield frame
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
      })(),
    )
  const connection = useConnectionStore()
  connection.opened({ api: { host: { ack: async () => undefined }, views: { overview } } } as never)
  const routes = [{ path: '/', component: { render: () => null } }]
  const router = createRouter({ history: createMemoryHistory(), routes })
  wrapper = mount(OverviewView, {
    attachTo: document.body,
    shallow: true,
    global: { plugins: [router], stubs: { Chip: false } },
  })
  const chip = () => wrapper.find('[data-testid=targets-reporting]')
  await vi.waitFor(() => expect(chip().exists()).toBe(true))
  expect([chip().text(), chip().classes('ok')]).toEqual(['2/2 targets reporting', true])
  connection.lost(1000)
  await flushPromises()
  expect([chip().text(), chip().classes('ok')]).toEqual(['2/2 targets at last contact', false])
})
